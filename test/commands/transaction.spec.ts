import { expect } from 'chai'
import { type Handler, handler } from '../../src/commands/handle.ts'
import { link } from '../../src/commands/links/link.ts'
import { transactions } from '../../src/commands/transaction.ts'
import type { EventStore } from '../../src/events/store.ts'
import { callerOn } from '../support/caller.ts'
import { at } from '../support/events.ts'
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

  it('see what earlier ones have decided, and are one append', async () => {
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
})
