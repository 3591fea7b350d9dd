import { expect } from 'chai'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ClickEntry, EntriesByPartition } from '../../src/clicks/entry.ts'
import { type Relay, startRelay } from '../../src/clicks/relay.ts'
import type { ClickSink } from '../../src/clicks/sink.ts'
import type { SpoolSource } from '../../src/clicks/spool/source.ts'
import { openSpool, type Spool } from '../../src/clicks/spool/spool.ts'
import { until } from '../support/client.ts'
import { randomFrom, repeatable, seed } from '../support/faults.ts'
import { memoryKeyring } from '../support/keyring.ts'
import { classify, numbers, visit } from '../support/spool.ts'

type Arrived = readonly [partition: number, entry: ClickEntry]

const flat = (entries: EntriesByPartition): Arrived[] =>
  Object.entries(entries).flatMap(([partition, part]) => part.map((one) => [Number(partition), one] as const))

/** Returns the sequence numbers of each partition without repeated entries. */
const withoutRepeats = (arrived: readonly Arrived[]) => {
  const read: Record<number, number[]> = {}
  for (const [partition, { seq }] of arrived)
    if (seq > ((read[partition] ??= []).at(-1) ?? 0)) read[partition].push(seq)
  return read
}

describe(`a relay (${repeatable})`, () => {
  const random = randomFrom(seed)
  let dir: string
  let relay: Relay | undefined
  const problems: string[] = []
  beforeEach(async () => (dir = await mkdtemp(join(tmpdir(), 'linkledger-relay-'))))
  afterEach(async () => {
    await relay?.stop()
    await rm(dir, { recursive: true, force: true })
  })

  const open = (segmentBytes = 4000) =>
    openSpool({ dir, route: { log: 'topic', partitions: 3 }, log: () => {}, syncMs: 2, segmentBytes })
  const fill = async (spool: Spool, from: number, to: number) => {
    for (let n = from; n <= to; n++) await spool.add(visit(n))
  }
  const start = (spool: SpoolSource, sink: ClickSink) =>
    (relay = startRelay({
      spool,
      sink,
      keyring: memoryKeyring(),
      classify,
      onProblem: (error, what) => void problems.push(`${what}: ${String(error)}`),
    }))

  it('delivers everything in order, however often the sink fails and however much it has stored by then', async () => {
    const arrived: Arrived[] = []
    let deliveries = 0
    const flaky: ClickSink = {
      resumeAfter: async () => ({}),
      deliver: async (entries) => {
        const all = flat(entries)
        const [fails, stored] = [deliveries++ === 0 || random(3) === 0, random(all.length + 1)]
        arrived.push(...(fails ? all.slice(0, stored) : all))
        if (fails) throw new Error('the answer was lost')
      },
    }
    const spool = await open()
    start(spool, flaky)
    for (let from = 1; from <= 300; from += 30) {
      await fill(spool, from, from + 29)
      await new Promise((done) => setTimeout(done, 5))
    }
    await until(
      async () => relay?.state().lag,
      (lag) => lag === 0,
      60_000,
    )
    expect(withoutRepeats(arrived)).to.deep.equal({ 0: numbers(1, 100), 1: numbers(1, 100), 2: numbers(1, 100) })
    expect(problems).to.include('clicks wait in the spool: Error: the answer was lost')
    await spool.close()
  }).timeout(300_000)

  it('releases entries from the spool only once the sink has confirmed them', async () => {
    const spool = await open()
    await fill(spool, 1, 100)
    let deliveries = 0
    start(spool, {
      resumeAfter: async () => ({}),
      deliver: async () => {
        deliveries++
        throw new Error('unavailable')
      },
    })
    await until(
      async () => deliveries,
      (n) => n > 2,
      30_000,
    )
    expect(relay?.state()).to.deep.include({ deliveredUpTo: {}, lag: 100, problem: 'unavailable' })
    expect(relay?.state().lagSeconds).to.be.above(60)
    await relay?.stop()
    await spool.close()
    const again = await open()
    const arrived: Arrived[] = []
    start(again.earlier[0]!, {
      resumeAfter: async () => ({}),
      deliver: async (entries) => void arrived.push(...flat(entries)),
    })
    await until(
      async () => arrived.length,
      (n) => n >= 100,
      30_000,
    )
    expect(withoutRepeats(arrived)).to.deep.equal({ 0: numbers(1, 33), 1: numbers(1, 34), 2: numbers(1, 33) })
    await again.close()
  })

  it('starts after the last entry that the sink has, and ends when a closed spool is empty', async () => {
    const spool = await open()
    await fill(spool, 1, 30)
    await spool.close()
    const arrived: Arrived[] = []
    const { ended } = start(spool, {
      resumeAfter: async () => ({ 0: 10, 1: 10, 2: 4 }),
      deliver: async (entries) => void arrived.push(...flat(entries)),
    })
    await ended
    expect(arrived.map(([, { seq }]) => seq)).to.deep.equal([5, 6, 7, 8, 9, 10])
    expect(relay?.state()).to.deep.include({ deliveredUpTo: { 0: 10, 1: 10, 2: 10 }, lag: 0, problem: undefined })
  })
})
