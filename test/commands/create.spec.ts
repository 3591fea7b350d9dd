import { expect } from 'chai'
import { randomUUID } from 'node:crypto'
import type { EventStore } from '../../src/events/store.ts'
import { interrupted, killedBetween, accepted, untilKilled, watched } from '../support/interrupt.ts'
import { countingIds, newMemoryStore, story, writer } from '../support/writer.ts'

describe('creating a resource', () => {
  let store: EventStore
  beforeEach(async () => (store = await newMemoryStore()))

  it('allocates the id by appending to a stream that does not exist', async () => {
    const { appends, store: seen } = watched(store)
    expect(await writer(seen, countingIds(7).next).createLink(1)).to.include({ id: 7 })
    expect(appends.flat().map(({ stream, expected }) => [stream, expected])).to.deep.equal([
      ['claim-alias-0-hello', 'no_stream'],
      ['link-7', 'no_stream'],
    ])
  })

  it('skips ids that are in use, further ahead each time', async () => {
    const others = writer(store)
    for (let n = 1; n <= 20; n++) await others.createLink(2, { alias: `other-${n}` })
    const { next, asked } = countingIds()
    expect(await writer(store, next).createLink(1)).to.include({ id: 37 })
    // 1, 3, 6, 11 and 20 are taken: past 1 + 1, 3 + 2, 6 + 4, 11 + 8, 20 + 16
    expect(asked).to.deep.equal([undefined, 2, 5, 10, 19, 36])
    expect((await others.link(1)).state.account).to.equal(2)
  })

  it('recognises its own earlier attempt by the id of its command', async () => {
    const wish = { command: randomUUID(), token: 't' }
    const first = await writer(store, countingIds().next).createLink(1, {}, wish)
    const again = await writer(store, countingIds().next).createLink(1, {}, wish)
    expect(first).to.include({ id: 1 })
    expect(again).to.deep.equal(first)
    expect(await story(store)).to.have.length(3)
  })

  it('returns the first result again, also when later events follow it', async () => {
    const wish = { command: randomUUID(), token: 't' }
    const { createLink, updateLink } = writer(store)
    const first = await createLink(1, {}, wish)
    await updateLink(1, 1, { title: 'x' })
    expect(await writer(store, countingIds().next).createLink(1, {}, wish)).to.deep.equal(first)
    expect(await story(store)).to.have.length(4)
  })

  it('does not mistake a fence of its own for an earlier attempt', async () => {
    await untilKilled(killedBetween(store).createLink(1, {}, { seconds: 0 }))
    const { next, asked } = countingIds()
    expect(await writer(store, next).createLink(1, {}, { seconds: 31 })).to.include({ id: 3 })
    expect(asked).to.deep.equal([undefined, 2])
    expect(await story(store, 'link-1')).to.deep.equal(['link-1 ClaimFenced'])
  })

  it('keeps its id when the conflict was about the name', async () => {
    const other = writer(store, countingIds(100).next)
    const meanwhile = async () => {
      const { id } = accepted(await other.createLink(1))
      await other.updateLink(1, id, { alias: 'elsewhere' })
    }
    const { next, asked } = countingIds()
    expect(await writer(interrupted(store, 1, meanwhile), next).createLink(1)).to.include({ id: 1 })
    expect(asked).to.have.length(1)
  })
})
