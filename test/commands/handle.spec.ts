import { expect } from 'chai'
import { randomUUID } from 'node:crypto'
import { v5 as uuid } from 'uuid'
import { Refused } from '../../src/commands/decider.ts'
import { type EventStore, StoreUnavailable, type Write } from '../../src/events/store.ts'
import { at, fresh } from '../support/events.ts'
import { countingIds, eventsOf, Killed, newMemoryStore, oneByOne, story, writer } from '../support/writer.ts'

const refused = (outcome: unknown) => {
  expect(outcome).to.be.instanceOf(Refused)
  const { code, what } = outcome as Refused
  return what === undefined ? code : `${code} ${what}`
}
const made = <T>(outcome: T) =>
  (outcome instanceof Refused ? expect.fail(outcome.message) : outcome) as Exclude<T, Refused>
/** A store where something else happens just before an append, the first `times`. */
const interrupted = (store: EventStore, times: number, meanwhile: (n: number) => Promise<unknown>): EventStore => {
  let n = 0
  return {
    ...store,
    append: async (writes) => {
      if (n < times) await meanwhile(++n)
      return store.append(writes)
    },
  }
}
/** The writes of each append that was asked for. */
const watched = (store: EventStore) => {
  const appends: (readonly Write[])[] = []
  return {
    appends,
    store: { ...store, append: (writes: readonly Write[]) => (appends.push(writes), store.append(writes)) },
  }
}
/** A process that is killed after its first write of the next append, the claim or the fence. */
const killedBetween = (store: EventStore) => writer(oneByOne(store, () => Promise.reject(new Killed())))
const untilKilled = async (wish: Promise<unknown>) => {
  const ended = await wish.catch((error: unknown) => error)
  expect(ended).to.be.instanceOf(Killed)
}

describe('handling a command', () => {
  let store: EventStore
  beforeEach(async () => (store = await newMemoryStore()))

  it('appends what was decided, with who wished it and ids that a repeated wish makes again', async () => {
    const command = randomUUID()
    await writer(store).createLink(1, {}, { command, seconds: 5, token: 't' })
    const [claim, created] = (await eventsOf(store)).slice(1)
    expect(created).to.deep.include({ stream: 'link-1', type: 'LinkCreated', id: uuid('1', command), revision: 0n })
    expect(claim).to.deep.include({
      stream: 'claim-alias-0-hello',
      type: 'NameClaimed',
      id: uuid('0', command),
      data: { token: 't', holder: 'link-1', account: 1 },
    })
    const metadata = { v: 1, at: at(5), account: 1, actor: { kind: 'key', key: 'k' }, request: 'r', command }
    expect([claim?.metadata, created?.metadata]).to.deep.equal([metadata, metadata])
  })

  it('gives the state, the events and the position of the last of them', async () => {
    const { createLink, updateLink } = writer(store)
    expect(await createLink(1)).to.deep.include({ id: 1, position: 3n })
    const updated = await updateLink(1, 1, { title: 'Press' })
    expect(updated).to.deep.include({ position: 4n })
    expect(updated).to.have.nested.property('state.fields.title', 'Press')
    expect(updated).to.have.nested.property('events[0].type', 'LinkUpdated')
  })

  it('appends nothing for a wish that already holds, and gives the position of the last event read', async () => {
    const { createLink, updateLink } = writer(store)
    await createLink(1)
    await createLink(1, { alias: 'other' })
    expect(await updateLink(1, 1, { url: 'https://example.com/' })).to.deep.include({ events: [], position: 3n })
    expect(await store.head('all')).to.equal(5n)
  })

  it('decides again on the newer state when somebody else was first', async () => {
    const other = writer(store)
    await other.createLink(1)
    const meanwhile = () => other.updateLink(1, 1, { title: 'theirs', description: 'theirs' })
    const done = await writer(interrupted(store, 1, meanwhile)).updateLink(1, 1, { title: 'ours' })
    expect(done).to.have.nested.property('state.fields.description', 'theirs')
    expect((await other.link(1)).state.fields).to.include({ title: 'ours', description: 'theirs' })
    expect(await story(store, 'link-1')).to.have.length(3)
  })

  it('says nothing when somebody else was first with the same wish', async () => {
    const other = writer(store)
    await other.createLink(1)
    const meanwhile = () => other.updateLink(1, 1, { title: 'same' })
    const done = await writer(interrupted(store, 1, meanwhile)).updateLink(1, 1, { title: 'same' })
    expect(done).to.deep.include({ events: [], position: 4n })
  })

  it('refuses what no longer may be done when it decides again', async () => {
    const other = writer(store)
    await other.createLink(1)
    const late = writer(interrupted(store, 1, () => other.deleteLink(1, 1)))
    expect(refused(await late.updateLink(1, 1, { title: 'x' }))).to.equal('not_found')
  })

  it('gives up when somebody else is always first', async () => {
    const other = writer(store)
    await other.createLink(1)
    const always = interrupted(store, Infinity, (n) => other.updateLink(1, 1, { title: String(n) }))
    expect(refused(await writer(always).updateLink(1, 1, { title: 'x' }))).to.equal('busy')
    expect((await other.link(1)).state.fields.title).not.to.equal('x')
  })

  it('lets an outage of the log through, for the outcome is not known', async () => {
    const away: EventStore = { ...store, append: () => Promise.reject(new StoreUnavailable('away')) }
    const ended = await writer(away)
      .createLink(1)
      .catch((error: unknown) => error)
    expect(ended).to.be.instanceOf(StoreUnavailable)
  })

  it('loads what a stream comes to, since when it is, and whose wish founded it', async () => {
    const { createLink, updateLink, link } = writer(store)
    expect(await link(1)).to.include({ revision: 'no_stream', position: 0n, since: '', createdBy: '' })
    const command = randomUUID()
    await createLink(1, {}, { command, seconds: 3 })
    await updateLink(1, 1, { title: 'x' }, { seconds: 4 })
    expect(await link(1)).to.include({ revision: 1n, position: 4n, since: at(3), createdBy: command })
  })
})

describe('creating a resource', () => {
  let store: EventStore
  beforeEach(async () => (store = await newMemoryStore()))

  it('allocates the id by appending to a stream that is not there', async () => {
    const { appends, store: seen } = watched(store)
    expect(await writer(seen, countingIds(7).next).createLink(1)).to.include({ id: 7 })
    expect(appends.flat().map(({ stream, expected }) => [stream, expected])).to.deep.equal([
      ['claim-alias-0-hello', 'no_stream'],
      ['link-7', 'no_stream'],
    ])
  })

  it('takes the next id when it is somebody’s, jumping further each time', async () => {
    const others = writer(store)
    for (let n = 1; n <= 20; n++) await others.createLink(2, { alias: `other-${n}` })
    const { next, asked } = countingIds()
    expect(await writer(store, next).createLink(1)).to.include({ id: 37 })
    // 1, 3, 6, 11 and 20 are taken: past 1 + 1, 3 + 2, 6 + 4, 11 + 8, 20 + 16
    expect(asked).to.deep.equal([undefined, 2, 5, 10, 19, 36])
    expect((await others.link(1)).state.account).to.equal(2)
  })

  it('recognises its own earlier try by the id of its command', async () => {
    const wish = { command: randomUUID(), token: 't' }
    const first = await writer(store, countingIds().next).createLink(1, {}, wish)
    const again = await writer(store, countingIds().next).createLink(1, {}, wish)
    expect(first).to.include({ id: 1 })
    expect(again).to.deep.equal(first)
    expect(await story(store)).to.have.length(3)
  })

  it('answers it as it did then, also where its own later events stand already', async () => {
    const wish = { command: randomUUID(), token: 't' }
    const { createLink, updateLink } = writer(store)
    const first = await createLink(1, {}, wish)
    await updateLink(1, 1, { title: 'x' })
    expect(await writer(store, countingIds().next).createLink(1, {}, wish)).to.deep.equal(first)
    expect(await story(store)).to.have.length(4)
  })

  it('does not take a fence for its own earlier try, though it set the fence itself', async () => {
    await untilKilled(killedBetween(store).createLink(1, {}, { seconds: 0 }))
    const { next, asked } = countingIds()
    expect(await writer(store, next).createLink(1, {}, { seconds: 31 })).to.include({ id: 3 })
    expect(asked).to.deep.equal([undefined, 2])
    expect(await story(store, 'link-1')).to.deep.equal(['link-1 ClaimFenced'])
  })

  it('keeps its id when only its name was contended', async () => {
    const other = writer(store, countingIds(100).next)
    const meanwhile = async () => {
      const { id } = made(await other.createLink(1))
      await other.updateLink(1, id, { alias: 'elsewhere' })
    }
    const { next, asked } = countingIds()
    expect(await writer(interrupted(store, 1, meanwhile), next).createLink(1)).to.include({ id: 1 })
    expect(asked).to.have.length(1)
  })
})

describe('claiming a unique name', () => {
  let store: EventStore
  beforeEach(async () => (store = await newMemoryStore()))
  const claims = 'claim-alias-0-hello'
  const holderNow = async () => {
    const last = await store.last(claims)
    return last?.type === 'NameClaimed' ? last.data.holder : undefined
  }

  it('takes a free one', async () => {
    await writer(store).createLink(1)
    expect(await story(store)).to.deep.equal([`log LogOpened`, `${claims} NameClaimed`, 'link-1 LinkCreated'])
  })

  it('refuses one that is taken, also to its own account', async () => {
    const { createLink, updateLink } = writer(store)
    await createLink(1)
    expect(refused(await createLink(2, { alias: 'HELLO' }, { seconds: 3600 }))).to.equal('taken alias')
    expect(refused(await createLink(1, {}, { seconds: 3600 }))).to.equal('taken alias')
    const { id } = made(await createLink(2, { alias: 'other' }))
    expect(refused(await updateLink(2, id, { alias: 'hello' }, { seconds: 3600 }))).to.equal('taken alias')
    expect(await story(store, claims)).to.have.length(1)
  })

  it('takes the same name on another domain', async () => {
    const { createLink } = writer(store)
    await createLink(1)
    expect(await createLink(2, { domain: 5 })).to.include({ id: 2 })
  })

  it('gives a name that was given up to the same account only', async () => {
    const { createLink, updateLink, deleteLink } = writer(store)
    await createLink(1)
    await deleteLink(1, 1)
    expect(refused(await createLink(2, {}, { seconds: 3600 }))).to.equal('taken alias')
    const { id } = made(await createLink(1))
    await updateLink(1, id, { alias: 'elsewhere' })
    expect(refused(await createLink(2, {}, { seconds: 3600 }))).to.equal('taken alias')
    expect(await updateLink(1, id, { alias: 'Hello' })).to.have.nested.property('state.fields.alias', 'Hello')
  })

  it('gives an e-mail that was given up to anyone, a username to nobody', async () => {
    const { register, changeEmail } = writer(store)
    await register('ann')
    await register('bea')
    expect(refused(await changeEmail(2, 'ann'))).to.equal('taken email')
    await changeEmail(1, 'new')
    expect(await changeEmail(2, 'ann')).to.have.nested.property('state.email', 'ann@example.com')
    expect(refused(await register('bea'))).to.equal('taken username')
  })

  it('goes on with its own claim when the resource was not appended yet', async () => {
    const wish = { command: randomUUID(), token: 't' }
    await untilKilled(killedBetween(store).createLink(1, {}, wish))
    expect(await writer(oneByOne(store)).createLink(1, {}, wish)).to.include({ id: 1 })
    expect(await story(store, claims)).to.have.length(1)
  })

  it('claims it anew for another id when the first one is somebody’s', async () => {
    await writer(store).createLink(2, { alias: 'other' })
    const steps = oneByOne(store)
    expect(await writer(steps, countingIds().next).createLink(1)).to.include({ id: 3 })
    expect(await story(store, claims)).to.have.length(2)
    expect(await holderNow()).to.equal('link-3')
  })

  it('refuses one that somebody is about to finish', async () => {
    await untilKilled(killedBetween(store).createLink(1, {}, { seconds: 0 }))
    expect(refused(await writer(store, countingIds(2).next).createLink(2, {}, { seconds: 30 }))).to.equal('taken alias')
  })

  it('fences an abandoned one off in its holder’s stream, then takes it', async () => {
    await untilKilled(killedBetween(store).createLink(1, {}, { seconds: 0, token: 'dead' }))
    expect(await writer(store, countingIds(2).next).createLink(2, {}, { seconds: 31 })).to.include({ id: 2 })
    expect((await story(store)).slice(1)).to.deep.equal([
      `${claims} NameClaimed`,
      'link-1 ClaimFenced',
      `${claims} NameClaimed`,
      'link-2 LinkCreated',
    ])
    expect((await store.last('link-1'))?.data).to.deep.equal({ token: 'dead' })
  })

  it('takes one that was fenced off without fencing it again', async () => {
    await untilKilled(killedBetween(store).createLink(1, {}, { seconds: 0 }))
    // the next one is killed after its fence, so the name is nobody's
    await untilKilled(
      writer(
        oneByOne(store, () => Promise.reject(new Killed())),
        countingIds(2).next,
      ).createLink(2, {}, { seconds: 31 }),
    )
    expect(await writer(store, countingIds(3).next).createLink(3, {}, { seconds: 31 })).to.include({ id: 3 })
    expect(await story(store, 'link-1')).to.deep.equal(['link-1 ClaimFenced'])
    expect(await holderNow()).to.equal('link-3')
  })

  it('writes to each stream once: two abandoned claims of one holder are fenced off together', async () => {
    let n = 0
    const second = oneByOne(store, async () => {
      if (++n === 2) throw new Killed()
    })
    await untilKilled(writer(second).register('ann'))
    const { appends, store: seen } = watched(store)
    expect(await writer(seen, countingIds(2).next).register('ann', { seconds: 31 })).to.include({ id: 2 })
    expect(appends.map((writes) => writes.map((write) => write.stream))).to.deep.equal([
      // the first try is made without looking
      ['claim-email-ann', 'claim-username-ann', 'account-2'],
      ['account-1', 'claim-email-ann', 'claim-username-ann', 'account-2'],
    ])
    expect(await story(store, 'account-1')).to.deep.equal(['account-1 ClaimFenced', 'account-1 ClaimFenced'])
  })

  it('takes over its own abandoned claim in the only safe order: fence, claim, resource', async () => {
    await writer(store).createLink(1, { alias: 'mine' })
    await untilKilled(killedBetween(store).updateLink(1, 1, { alias: 'hello' }, { seconds: 0 }))
    expect(await writer(oneByOne(store)).updateLink(1, 1, { alias: 'hello' }, { seconds: 31 })).to.have.property(
      'position',
    )
    expect((await story(store)).slice(4)).to.deep.equal([
      'link-1 ClaimFenced',
      `${claims} NameClaimed`,
      'link-1 LinkUpdated',
    ])
  })

  it('does not refuse a resource the name that it got meanwhile by the same wish', async () => {
    const { createLink, updateLink } = writer(store)
    await createLink(1, { alias: 'mine' })
    let n = 0
    // read before the same rename was done, claimed after it
    const slow: EventStore = {
      ...store,
      last: async (stream) => {
        if (n++ === 0) await updateLink(1, 1, { alias: 'hello' })
        return store.last(stream)
      },
    }
    expect(await writer(slow).updateLink(1, 1, { alias: 'hello' })).to.deep.include({ events: [], position: 5n })
    expect(refused(await writer(store).createLink(1))).to.equal('taken alias')
  })

  it('never leaves an alias on a resource whose claim was lost to another meanwhile', async () => {
    await writer(store).createLink(1, { alias: 'mine' })
    await untilKilled(killedBetween(store).updateLink(1, 1, { alias: 'hello' }, { seconds: 0 }))
    const rival = writer(store, countingIds(2).next)
    let told = false
    const steps = oneByOne(
      interrupted(store, Infinity, async () => {
        // as soon as the dead claim is fenced off, the rival takes the name
        if (!told && (await story(store, 'link-1')).includes('link-1 ClaimFenced')) {
          told = true
          await rival.createLink(2, {}, { seconds: 31 })
        }
      }),
    )
    expect(refused(await writer(steps).updateLink(1, 1, { alias: 'hello' }, { seconds: 31 }))).to.equal('taken alias')
    expect((await rival.link(1)).state.fields.alias).to.equal('mine')
    expect((await rival.link(2)).state.fields.alias).to.equal('Hello')
  })

  it('refuses to ask a stream that cannot hold a name', async () => {
    const claim = fresh({ type: 'NameClaimed', data: { token: 't', holder: 'log-1', account: 1 } } as const)
    await store.append([{ stream: claims, expected: 'no_stream', events: [claim] }])
    const ended = await writer(store)
      .createLink(1)
      .catch((error: unknown) => error)
    expect(String(ended)).to.include('stream log-1 cannot hold a unique name')
  })
})
