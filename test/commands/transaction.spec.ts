import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { type Handler, handler } from '../../src/commands/handle.ts'
import { link } from '../../src/commands/links/link.ts'
import { transactions } from '../../src/commands/transaction.ts'
import type { EventStore } from '../../src/events/store.ts'
import { callerOn, refusalOf } from '../support/caller.ts'
import { at, linkFields } from '../support/events.ts'
import { newMemoryStore } from '../support/writer.ts'

const context = (command: string) => ({
  account: 1,
  actor: { kind: 'key' as const, key: 'k' },
  request: 'r',
  command,
  at: at(0),
})
const commands = ['00000000-0000-4000-8000-000000000001', '00000000-0000-4000-8000-000000000002']
const retitle = ({ handle }: Pick<Handler, 'handle'>, id: number, title: string, command = commands[0]!) =>
  handle(link, { type: 'UpdateLink', id, account: 1, changes: { title }, token: 't', now: at(0) }, context(command))

describe('commands of one transaction', () => {
  let store: EventStore
  let ids: readonly number[]
  const title = async (id: number) => (await callerOn(store, 1).load(link, id)).state.fields.title
  beforeEach(async () => {
    store = await newMemoryStore()
    const { createLink } = callerOn(store, 1)
    ids = [await createLink(), await createLink()]
  })

  it('see the decisions of earlier ones, and are one append', async () => {
    let appends = 0
    const counted: EventStore = { ...store, append: (writes) => (appends++, store.append(writes)) }
    const { streams } = await transactions(counted).run(async (tried) => {
      await retitle(tried, ids[0]!, 'one')
      const { state } = await retitle(tried, ids[0]!, 'two', commands[1])
      expect(state.fields.title).to.equal('two')
      expect((await tried.load(link, ids[0]!)).state.fields.title).to.equal('two')
      await retitle(tried, ids[1]!, 'three')
    })
    expect(appends).to.equal(1)
    expect(streams).to.have.members(ids.map((id) => `link-${id}`))
    expect([await title(ids[0]!), await title(ids[1]!)]).to.deep.equal(['two', 'three'])
  })

  it('store nothing when one is refused, nor when they are only checked', async () => {
    const refused = transactions(store).run(async (tried) => {
      await retitle(tried, ids[0]!, 'one')
      await retitle(tried, 999, 'x')
    })
    expect(await refused.catch(String)).to.include('Link not found.')
    await transactions(store).run((tried) => retitle(tried, ids[0]!, 'one'), { dryRun: true })
    expect(await title(ids[0]!)).to.equal('')
  })

  it('are decided again when a stream has changed meanwhile', async () => {
    let runs = 0
    await transactions(store).run(async (ours) => {
      await retitle(ours, ids[0]!, `ours ${++runs}`)
      if (runs === 1) await retitle(handler(store), ids[0]!, 'theirs', commands[1])
    })
    expect([runs, await title(ids[0]!)]).to.deep.equal([2, 'ours 2'])
  })

  it('create resources that later ones change, and answer like the log', async () => {
    const other = callerOn(store, 1).createLink
    const { result, position, streams } = await transactions(store).run(async (tried) => {
      const created = await tried.create(
        link,
        async () => 50,
        (id) => ({
          type: 'CreateLink' as const,
          id,
          account: 1,
          fields: { ...linkFields, alias: 'fresh' },
          password: null,
          token: 't',
          now: at(0),
        }),
        () => context(commands[0]!),
      )
      await retitle(tried, 50, 'one', commands[1])
      const steps = []
      for await (const { event } of tried.steps(link, 50)) steps.push([event.revision, event.type])
      expect(steps).to.deep.equal([
        [0n, 'LinkCreated'],
        [1n, 'LinkUpdated'],
      ])
      const later = []
      for await (const { event } of tried.steps(link, 50, { from: 1 })) later.push(event.revision)
      expect(later).to.deep.equal([1n])
      const first = []
      for await (const { event } of tried.steps(link, 50, { upTo: 0 })) first.push(event.revision)
      expect(first).to.deep.equal([0n])
      return created
    })
    expect(result).to.include({ id: 50, revision: 0 })
    expect(streams).to.have.members(['claim-alias-0-fresh', 'link-50'])
    expect(position).to.equal(await store.head('all'))
    expect(await title(50)).to.equal('one')
    expect(await other()).to.be.a('number')
  })

  it('append nothing, and say so, when nothing changes', async () => {
    let appends = 0
    const counted: EventStore = { ...store, append: (writes) => (appends++, store.append(writes)) }
    const { position, streams } = await transactions(counted).run((tried) => retitle(tried, ids[0]!, ''))
    expect([appends, position, streams]).to.deep.equal([0, 0n, []])
  })

  it('give up when a stream changes each time', async () => {
    let runs = 0
    const busy = transactions(store).run(async (ours) => {
      await retitle(ours, ids[0]!, `ours ${++runs}`)
      await retitle(handler(store), ids[0]!, `theirs ${runs}`, randomUUID())
    })
    expect((await refusalOf(busy)).code).to.equal('busy')
    expect([runs, await title(ids[0]!)]).to.deep.equal([10, 'theirs 10'])
  })

  it('take no name that one of them has taken', async () => {
    const alias = (tried: Handler, id: number, token: string) =>
      tried.handle(
        link,
        { type: 'UpdateLink', id, account: 1, changes: { alias: 'same' }, token, now: at(0) },
        context(randomUUID()),
      )
    const refusal = await refusalOf(
      transactions(store).run(async (tried) => {
        await alias(tried, ids[0]!, 't1')
        await alias(tried, ids[1]!, 't2')
      }),
    )
    expect([refusal.code, refusal.what]).to.deep.equal(['taken', 'alias'])
  })

  it('leave no snapshot of a state that was not stored', async () => {
    const saved: string[] = []
    const snapshots = {
      find: async () => undefined,
      drop: async () => {},
      save: async (_: number, { stream }: { readonly stream: string }) => void saved.push(stream),
    }
    const { handle } = handler(store)
    for (let n = 0; n < 120; n++)
      await handle(
        link,
        { type: 'UpdateLink', id: ids[0]!, account: 1, changes: { title: `${n}` }, token: 't', now: at(0) },
        context(randomUUID()),
      )
    await transactions(store, snapshots).run((tried) => retitle(tried, ids[0]!, 'one'), { dryRun: true })
    expect(saved).to.deep.equal([])
  })
})
