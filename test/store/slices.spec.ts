import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect } from 'chai'
import { asStored, type Codec, type Raw, Unreadable } from '../../src/events/codec.ts'
import { batchBytes } from '../../src/events/store.ts'
import { decodeBatches, decodeEvents, fitting, parsed } from '../../src/store/slices.ts'
import { metadata } from '../support/events.ts'

const page = (count: number, bytes: number) =>
  Array.from({ length: count }, (_, i) =>
    parsed({
      id: `${i}`,
      stream: 'link-1',
      revision: BigInt(i),
      position: BigInt(i + 1),
      at: '',
      type: 'ClaimFenced',
      data: { token: 'x'.repeat(bytes) },
      metadata: metadata(),
    }),
  )

/** Counts the turns of the event loop, and reports in which of them a codec has decoded how many events. */
const observed = () => {
  const turns = new Map<number, number>()
  let [turn, counting] = [0, true]
  const count = async () => {
    for (; counting; turn++) await nextTurn()
  }
  void count()
  const decode = async (raws: readonly Raw[]) => {
    turns.set(turn, (turns.get(turn) ?? 0) + raws.length)
    return asStored.decode(raws)
  }
  const stop = () => {
    counting = false
    return [...turns.values()]
  }
  return { codec: { ...asStored, decode }, stop }
}

describe('decoding a page of the log', () => {
  it('takes as many turns of the event loop as it has slices, so that requests are answered between them', async () => {
    const { codec, stop } = observed()
    let count = 0
    for await (const _ of decodeEvents(codec, page(20, 85_000))) count++
    const perTurn = stop()
    expect(count).to.equal(20)
    for (const events of perTurn) expect(events).to.equal(1)
  })

  it('decodes small events together', async () => {
    const { codec, stop } = observed()
    for await (const batch of decodeBatches(codec, page(100, 500))) expect(batch).to.have.length(100)
    expect(stop()).to.deep.equal([100])
  })

  it('parses an event only when its slice is decoded', async () => {
    let parses = 0
    const counted = page(50, 85_000).map((event) => ({ ...event, raw: () => (parses++, event.raw()) }))
    for await (const batch of decodeBatches(asStored, counted)) {
      expect(batch.length * 85_000).to.be.at.most(batchBytes)
      break
    }
    expect(parses).to.be.at.most(batchBytes / 85_000)
  })

  it('returns the events before one that cannot be read, then fails', async () => {
    const codec: Codec = {
      ...asStored,
      decode: async (raws) => {
        const bad = raws.find(({ id }) => id === '7')
        if (bad) throw new Unreadable(bad, 'broken')
        return asStored.decode(raws)
      },
    }
    const found: number[] = []
    const read = async () => {
      for await (const batch of decodeBatches(codec, page(20, 50_000))) found.push(...batch.map(({ id }) => Number(id)))
    }
    const error = await read().catch((thrown: unknown) => thrown)
    expect(error).to.be.instanceOf(Unreadable).with.property('position', 8n)
    expect(found).to.deep.equal([0, 1, 2, 3, 4, 5, 6])
  })

  it('never leaves out an event that is larger than the limit', () => {
    expect(fitting(page(3, 1000), 10)).to.have.length(1)
    expect(fitting(page(3, 1000), 3000)).to.have.length(2)
    expect(fitting(page(3, 1000), 10_000)).to.have.length(3)
    expect(fitting([], 10)).to.deep.equal([])
  })
})
