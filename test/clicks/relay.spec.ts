import { expect } from 'chai'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Relay, startRelay } from '../../src/clicks/relay.ts'
import type { ClickEntry } from '../../src/clicks/entry.ts'
import type { ClickSink } from '../../src/clicks/sink.ts'
import { openSpool, type Spool } from '../../src/clicks/spool/spool.ts'
import { until } from '../support/client.ts'
import { click } from '../support/events.ts'
import { randomFrom, repeatable, seed } from '../support/faults.ts'
import { memoryKeyring } from '../support/keyring.ts'
import { visit } from '../support/spool.ts'

describe(`the relay (${repeatable})`, () => {
  const random = randomFrom(seed)
  let dir: string
  let relay: Relay | undefined
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
  const told: string[] = []
  const start = (spool: Spool, sink: ClickSink) =>
    (relay = startRelay({
      spool,
      sink,
      keyring: memoryKeyring(),
      classify: ({ link, account, destination, agent }) => ({ ...click({ link, account }), destination, agent }),
      onProblem: (error, what) => void told.push(`${what}: ${String(error)}`),
    }))
  /** By partition, the numbers that a reader has who passes over what comes again. */
  const numbersOf = (arrived: readonly (readonly [number, ClickEntry])[]) => {
    const read: Record<number, number[]> = {}
    for (const [partition, { seq }] of arrived)
      if (seq > ((read[partition] ??= []).at(-1) ?? 0)) read[partition].push(seq)
    return read
  }
  const upTo = (count: number) => Array.from({ length: count }, (_, i) => i + 1)

  it('takes everything on in order, however often the sink fails, and whatever it had taken by then', async () => {
    const arrived: [number, ClickEntry][] = []
    let takes = 0
    const flaky: ClickSink = {
      resumeAfter: async () => ({}),
      deliver: async (parts) => {
        const all = Object.entries(parts).flatMap(([p, part]) => part.map((one) => [Number(p), one] as const))
        const [fails, had] = [takes++ === 0 || random(3) === 0, random(all.length + 1)]
        for (const [p, one] of fails ? all.slice(0, had) : all) arrived.push([p, one])
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
    expect(numbersOf(arrived)).to.deep.equal({ 0: upTo(100), 1: upTo(100), 2: upTo(100) })
    expect(told).to.include('clicks wait in the spool: Error: the answer was lost')
    await spool.close()
  }).timeout(90_000)

  it('lets the spool go of nothing that the sink has not confirmed', async () => {
    const spool = await open()
    await fill(spool, 1, 100)
    let takes = 0
    start(spool, {
      resumeAfter: async () => ({}),
      deliver: async () => {
        takes++
        throw new Error('away')
      },
    })
    await until(
      async () => takes,
      (n) => n > 2,
    )
    expect(relay?.state()).to.deep.include({ deliveredUpTo: {}, lag: 100, problem: 'away' })
    expect(relay?.state().lagSeconds, 'seconds').to.be.above(60)
    await relay?.stop()
    await spool.close()
    const again = await open()
    const arrived: [number, ClickEntry][] = []
    start(again, {
      resumeAfter: async () => ({}),
      deliver: async (parts) => {
        for (const [p, part] of Object.entries(parts)) for (const one of part) arrived.push([Number(p), one])
      },
    })
    await until(
      async () => arrived.length,
      (n) => n >= 100,
    )
    expect(numbersOf(arrived)).to.deep.equal({ 0: upTo(33), 1: upTo(34), 2: upTo(33) })
    await again.close()
  })

  it('begins after what the sink has already, and ends when a closed spool is empty', async () => {
    const spool = await open()
    await fill(spool, 1, 30)
    await spool.close()
    const taken: number[] = []
    const { ended } = start(spool, {
      resumeAfter: async () => ({ 0: 10, 1: 10, 2: 4 }),
      deliver: async (parts) => void taken.push(...Object.values(parts).flatMap((part) => part.map(({ seq }) => seq))),
    })
    await ended
    expect(taken).to.deep.equal([5, 6, 7, 8, 9, 10])
    expect(relay?.state()).to.deep.include({ deliveredUpTo: { 0: 10, 1: 10, 2: 10 }, lag: 0, problem: undefined })
  })
})
