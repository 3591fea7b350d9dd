import { expect } from 'chai'
import { randomUUID } from 'node:crypto'
import { v5 as uuid } from 'uuid'
import { RevisionChanged } from '../../src/commands/decider.ts'
import { handler } from '../../src/commands/handle.ts'
import { link } from '../../src/commands/links/link.ts'
import { type EventStore, StoreUnavailable } from '../../src/events/store.ts'
import { ChangedByNewer } from '../../src/events/unknown.ts'
import { at, fresh } from '../support/events.ts'
import { interrupted, refused } from '../support/interrupt.ts'
import { appendNewer } from '../support/newer.ts'
import { countingIds, eventsOf, newMemoryStore, oneByOne, story, writer } from '../support/writer.ts'

describe('handling a command', () => {
  let store: EventStore
  beforeEach(async () => (store = await newMemoryStore()))

  it('appends the events with the context of the command and ids that a retry reproduces', async () => {
    const command = randomUUID()
    const idOf = (type: string, stream: string) => uuid(`${type} ${stream}@0 for link-1@no_stream`, command)
    await writer(store).createLink(1, {}, { command, seconds: 5, token: 't' })
    const [claim, created] = (await eventsOf(store)).slice(1)
    expect(created).to.deep.include({
      stream: 'link-1',
      type: 'LinkCreated',
      id: idOf('LinkCreated', 'link-1'),
      revision: 0n,
    })
    expect(claim).to.deep.include({
      stream: 'claim-alias-0-hello',
      type: 'NameClaimed',
      id: idOf('NameClaimed', 'claim-alias-0-hello'),
      data: { token: 't', holder: 'link-1', account: 1 },
    })
    const metadata = { v: 1, at: at(5), account: 1, actor: { kind: 'key', key: 'k' }, request: 'r', command }
    expect([claim?.metadata, created?.metadata]).to.deep.equal([metadata, metadata])
  })

  it('returns the state, the events and the position of the last one', async () => {
    const { createLink, updateLink } = writer(store)
    expect(await createLink(1)).to.deep.include({ id: 1, position: 3n })
    const updated = await updateLink(1, 1, { title: 'Press' })
    expect(updated).to.deep.include({ position: 4n })
    expect(updated).to.have.nested.property('state.fields.title', 'Press')
    expect(updated).to.have.nested.property('events[0].type', 'LinkUpdated')
  })

  it('appends nothing when nothing changes, and returns the position of the last event read', async () => {
    const { createLink, updateLink } = writer(store)
    await createLink(1)
    await createLink(1, { alias: 'other' })
    expect(await updateLink(1, 1, { url: 'https://example.com/' })).to.deep.include({ events: [], position: 3n })
    expect(await store.head('all')).to.equal(5n)
  })

  it('decides again on the newer state after a conflict', async () => {
    const other = writer(store)
    await other.createLink(1)
    const meanwhile = () => other.updateLink(1, 1, { title: 'theirs', description: 'theirs' })
    const done = await writer(interrupted(store, 1, meanwhile)).updateLink(1, 1, { title: 'ours' })
    expect(done).to.have.nested.property('state.fields.description', 'theirs')
    expect((await other.link(1)).state.fields).to.include({ title: 'ours', description: 'theirs' })
    expect(await story(store, 'link-1')).to.have.length(3)
  })

  it('decides commands on one stream one after another, so that none is decided twice', async () => {
    await writer(store).createLink(1)
    let appends = 0
    const counted: EventStore = { ...store, append: (...args) => (appends++, store.append(...args)) }
    const one = writer(counted)
    await Promise.all(Array.from({ length: 20 }, (_, n) => one.updateLink(1, 1, { title: `title ${n}` })))
    expect(appends).to.equal(20)
  })

  it('reads a stream once for commands that wait for each other on it', async () => {
    await writer(store).createLink(1)
    let reads = 0
    const counted: EventStore = {
      ...store,
      read: (...args) => {
        if (args[0] === 'link-1') reads++
        return store.read(...args)
      },
    }
    const one = writer(counted)
    const all = Array.from({ length: 20 }, (_, n) => one.updateLink(1, 1, { title: `title ${n}` }))
    const revisions = (await Promise.all(all)).map((done) => 'revision' in done && done.revision)
    expect(revisions).to.deep.equal(all.map((_, n) => n + 1))
    expect(reads).to.equal(1)
    expect((await one.link(1)).state.fields.title).to.equal('title 19')
  })

  it('neither refuses a command nor skips it as unchanged because of the state that another command has loaded', async () => {
    const other = writer(store)
    await other.createLink(1)
    let appends = 0
    // after the first append, another process changes the link, which the next command does not know of
    const meanwhile: EventStore = {
      ...store,
      append: async (...args) => {
        const done = await store.append(...args)
        if (appends++ === 0) await other.updateLink(1, 1, { title: 'theirs' })
        return done
      },
    }
    const one = writer(meanwhile)
    const [, second] = await Promise.all([
      one.updateLink(1, 1, { title: 'ours' }),
      one.updateLink(1, 1, { title: 'ours' }),
    ])
    expect(second).to.have.property('events').of.length(1)
    expect((await other.link(1)).state.fields.title).to.equal('ours')
  })

  it('never gives two events the same id, also when it decides again after a conflict', async () => {
    const other = writer(store)
    await other.createLink(1, { alias: 'mine' })
    let n = 0
    // the claim is stored; the link has changed before its own event is
    const steps = oneByOne(store, async () => n++ === 0 && other.updateLink(1, 1, { title: 'theirs' }))
    await writer(steps).updateLink(1, 1, { alias: 'hello' })
    expect((await story(store)).slice(3)).to.deep.equal([
      'claim-alias-0-hello NameClaimed',
      'link-1 LinkUpdated',
      'link-1 LinkUpdated',
    ])
    const ids = (await eventsOf(store)).map(({ id }) => id)
    expect(new Set(ids).size).to.equal(ids.length)
  })

  it('gives its events the same ids when the same command is sent again after an unknown outcome', async () => {
    const other = writer(store)
    await other.createLink(1, { alias: 'mine' })
    const sent: (readonly string[])[] = []
    const away: EventStore = {
      ...store,
      append: (writes) => {
        sent.push(writes.flatMap(({ events }) => events.map(({ id }) => id)))
        return Promise.reject(new StoreUnavailable('away'))
      },
    }
    const wish = { command: randomUUID(), token: 't' }
    for (let n = 0; n < 2; n++)
      await writer(away)
        .updateLink(1, 1, { alias: 'hello' }, wish)
        .catch(() => {})
    expect(sent[0]).to.have.length(2)
    expect(sent[1]).to.deep.equal(sent[0])
  })

  it('emits no event when another writer has made the same change', async () => {
    const other = writer(store)
    await other.createLink(1)
    const meanwhile = () => other.updateLink(1, 1, { title: 'same' })
    const done = await writer(interrupted(store, 1, meanwhile)).updateLink(1, 1, { title: 'same' })
    expect(done).to.deep.include({ events: [], position: 4n })
  })

  it('is refused when the newer state no longer allows the command', async () => {
    const other = writer(store)
    await other.createLink(1)
    const late = writer(interrupted(store, 1, () => other.deleteLink(1, 1)))
    expect(refused(await late.updateLink(1, 1, { title: 'x' }))).to.equal('not_found')
  })

  it('gives up after too many conflicts', async () => {
    const other = writer(store)
    await other.createLink(1)
    const always = interrupted(store, Infinity, (n) => other.updateLink(1, 1, { title: String(n) }))
    expect(refused(await writer(always).updateLink(1, 1, { title: 'x' }))).to.equal('busy')
    expect((await other.link(1)).state.fields.title).not.to.equal('x')
  })

  it('changes only the revisions that a client knows, and says which one there is', async () => {
    const { createLink, updateLink } = writer(store)
    await createLink(1)
    await updateLink(1, 1, { title: 'one' })
    const change = (revisions: readonly number[], title: string, account = 1) =>
      handler(store).handle(
        link,
        { type: 'UpdateLink', id: 1, account, changes: { title }, token: 't', now: at(0) },
        { account, actor: { kind: 'key', key: 'k' }, request: 'r', command: randomUUID(), at: at(0) },
        { revisions },
      )
    const stale = await change([0], 'two').catch((error: unknown) => error)
    expect(stale).to.be.instanceOf(RevisionChanged)
    expect(stale).to.include({ revision: 1, code: 'changed' })
    expect(await change([0, 1], 'two')).to.include({ revision: 2 })
    // who may not change it must not learn its revision
    expect(refused(await change([0], 'x', 2).catch((error: unknown) => error))).to.equal('not_found')
  })

  it('passes on an outage of the event store, because the outcome is unknown', async () => {
    const away: EventStore = { ...store, append: () => Promise.reject(new StoreUnavailable('away')) }
    const ended = await writer(away)
      .createLink(1)
      .catch((error: unknown) => error)
    expect(ended).to.be.instanceOf(StoreUnavailable)
  })

  it('loads the state of a stream, when it was created, and by which command', async () => {
    const { createLink, updateLink, link } = writer(store)
    expect(await link(1)).to.include({ revision: 'no_stream', position: 0n, since: '', createdBy: '' })
    const command = randomUUID()
    await createLink(1, {}, { command, seconds: 3 })
    await updateLink(1, 1, { title: 'x' }, { seconds: 4 })
    expect(await link(1)).to.include({ revision: 1n, position: 4n, since: at(3), createdBy: command })
  })

  describe('on a resource that a newer release has changed', () => {
    const newer = (work: Promise<unknown>) =>
      work.then(
        () => expect.fail('it did not fail'),
        (error: unknown) => {
          expect(error).to.be.instanceOf(ChangedByNewer)
          return (error as Error).message
        },
      )

    it('refuses at once, wherever the event is in the stream, and appends nothing', async () => {
      const { createLink, updateLink, deleteLink } = writer(store)
      await createLink(1)
      await appendNewer(store, 'link-1')
      const message = 'The link 1 was changed by a newer version of Linkledger.'
      expect(await newer(updateLink(1, 1, { title: 'x' }))).to.equal(message)
      const { length } = await story(store)
      const deleted = fresh({ type: 'LinkDeleted', data: { id: 1 } } as const)
      await store.append([{ stream: 'link-1', expected: 1n, events: [deleted] }])
      expect(await newer(deleteLink(1, 1))).to.equal(message)
      expect(await story(store)).to.have.length(length + 1)
    })

    it('refuses a name that such a resource has, without disclosing which one it is', async () => {
      const { createLink } = writer(store)
      await createLink(1)
      await appendNewer(store, 'link-1')
      const message = 'The resource with this alias was changed by a newer version of Linkledger.'
      expect(await newer(createLink(2))).to.equal(message)
      await appendNewer(store, 'claim-alias-0-other')
      expect(await newer(createLink(2, { alias: 'other' }))).to.equal(message)
    })

    it('passes over an id that a newer release uses in a way that this one does not know', async () => {
      await appendNewer(store, 'link-1')
      expect(await writer(store, countingIds().next).createLink(1)).to.deep.include({ id: 3 })
    })
  })
})
