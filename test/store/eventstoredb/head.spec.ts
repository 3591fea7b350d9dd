import { expect } from 'chai'
import type { Filter } from '../../../src/events/store.ts'
import { createHead, type Passed, type Searched } from '../../../src/store/eventstoredb/head.ts'

/** A log whose events are at the positions 0, 10, 20, … by what they are. */
const openLog = () => {
  const log: Passed[] = []
  let [reads, events] = [0, 0]
  let interrupt: () => void = () => {}
  const kinds: Readonly<Record<string, readonly Filter[]>> = {
    foreign: [],
    domain: ['domain', 'all'],
    click: ['clicks', 'all'],
  }
  return {
    add: (kind: 'foreign' | 'domain' | 'click', count = 1) => {
      for (let n = 0; n < count; n++)
        log.push({ position: BigInt(log.length * 10), id: `event ${log.length}`, filters: new Set(kinds[kind]) })
    },
    truncate: (length: number) => void log.splice(length),
    /** Returns how many reads and events were needed since the last time. */
    cost: () => {
      const since = { reads, events }
      ;[reads, events] = [0, 0]
      return since
    },
    interruptWith: (next: () => void) => void (interrupt = next),
    idAt: async (position: bigint) => log.find((event) => event.position === position)?.id,
    readBack: async (before: bigint | 'end', count: number) => {
      interrupt()
      const end = before === 'end' ? log.length : Number(before) / 10
      const page = log.slice(Math.max(0, end - count), end).toReversed()
      reads++
      events += page.length
      return page
    },
  }
}
const openMemory = () => {
  const saved = new Map<Filter, Searched>()
  return {
    saved,
    load: async (filter: Filter) => saved.get(filter),
    save: async (filter: Filter, searched: Searched) => void saved.set(filter, searched),
  }
}

describe('the head of a log on EventStoreDB', () => {
  it('is found behind many events of other programs once, and then with one read', async () => {
    const log = openLog()
    log.add('domain')
    log.add('click')
    log.add('foreign', 200_000)
    const head = createHead(log)
    expect(await head('domain')).to.equal(0n)
    expect(log.cost().events).to.be.within(200_000, 205_000)
    expect(await Promise.all([head('domain'), head('clicks'), head('all')])).to.deep.equal([0n, 10n, 10n])
    expect(log.cost().events, 'one pass finds all heads').to.be.below(10)
    log.add('click', 3)
    expect(await head('domain')).to.equal(0n)
    expect(log.cost().events).to.be.below(20)
    expect(await head('clicks')).to.equal(2_000_040n)
  })

  it('is found by one search for all calls that wait for it', async () => {
    const log = openLog()
    log.add('domain')
    log.add('foreign', 50_000)
    const head = createHead(log)
    const [first, ...others] = await Promise.all(Array.from({ length: 100 }, () => head('domain')))
    expect(others.every((one) => one === first)).to.equal(true)
    expect(log.cost().events).to.be.within(50_000, 60_000)
  })

  it('includes an event that is appended while an older search is under way', async () => {
    const log = openLog()
    log.add('domain')
    log.add('foreign', 50_000)
    const head = createHead(log)
    const older = head('domain')
    while (log.cost().reads === 0) await new Promise(setImmediate)
    log.add('domain')
    expect(await head('domain')).to.equal(500_010n)
    expect(await older).to.equal(0n)
  })

  it('is searched for from where an interrupted search ended', async () => {
    const log = openLog()
    log.add('domain')
    log.add('foreign', 100_000)
    const head = createHead(log)
    let left = 20
    log.interruptWith(() => {
      if (left-- === 0) throw new Error('cut')
    })
    const failed = await head('domain').catch((error: unknown) => String(error))
    expect(failed).to.equal('Error: cut')
    const before = log.cost().events
    expect(before).to.be.above(50_000)
    log.add('foreign', 5)
    expect(await head('domain')).to.equal(0n)
    expect(log.cost().events).to.be.below(100_000 - before + 10_000)
  })

  it('is not searched for again after a restart', async () => {
    const log = openLog()
    const memory = openMemory()
    log.add('domain')
    log.add('foreign', 50_000)
    expect(await createHead({ ...log, memory })('domain')).to.equal(0n)
    log.cost()
    log.add('foreign', 100)
    expect(await createHead({ ...log, memory })('domain')).to.equal(0n)
    expect(log.cost().events).to.be.below(300)
  })

  it('is searched for again when the log does not have the event up to which it was searched', async () => {
    const log = openLog()
    const memory = openMemory()
    log.add('domain', 3)
    log.add('foreign', 100)
    const head = createHead({ ...log, memory })
    expect(await head('domain')).to.equal(20n)
    log.truncate(2)
    expect(await head('domain'), 'in the same process').to.equal(10n)
    log.add('foreign', 50)
    memory.saved.set('domain', { upTo: 300n, id: 'event of another log', newest: 299n })
    expect(await createHead({ ...log, memory })('domain')).to.equal(10n)
  })

  it('is the newest event above the part that was searched for another filter', async () => {
    const log = openLog()
    log.add('domain')
    const head = createHead(log)
    expect(await head('domain')).to.equal(0n)
    log.add('click')
    log.add('domain')
    expect(await head('domain')).to.equal(20n)
    expect(await head('clicks')).to.equal(10n)
  })

  it('is no longer waited for when the signal aborts', async () => {
    const log = openLog()
    const head = createHead({ ...log, readBack: () => new Promise(() => {}) })
    const stop = new AbortController()
    const waiting = head('domain', stop.signal).catch((error: unknown) => error)
    stop.abort()
    expect(await waiting).to.be.instanceOf(Error)
  })

  it('is 0 in a log without events of ours', async () => {
    const log = openLog()
    log.add('foreign', 100)
    expect(await createHead(log)('all')).to.equal(0n)
  })
})
