import { expect } from 'chai'
import { type ClickRecord, type ClickRecordOptions, openClickRecord } from '../../src/clicks/record.ts'
import type { EventStore } from '../../src/events/store.ts'
import { randomFrom, repeatable, seed } from '../support/faults.ts'
import { delivered, entries, linksOf, numbers } from '../support/spool.ts'
import { eventsOf, newMemoryStore, oneByOne } from '../support/writer.ts'

const minute = 60_000

describe(`the spools that click events name (${repeatable})`, () => {
  let store: EventStore
  let time: number
  beforeEach(async () => {
    store = await newMemoryStore()
    time = Date.now()
  })

  const open = (over: Partial<ClickRecordOptions> = {}): ClickRecord =>
    openClickRecord({ store, log: 'local', partitions: 1, now: () => time, ...over })
  const clicks = (spool: string, from: number, to = from) => delivered(entries(from, to), spool)
  const named = async () => {
    const last = await store.last('clicks-local-0')
    return last && 'upTo' in last.data ? Object.keys(last.data.upTo) : []
  }
  const recorded = async () => linksOf(await eventsOf(store, 'clicks-local-0'))

  it('are the open ones, after two hundred starts', async () => {
    for (const n of numbers(1, 200)) {
      const record = open()
      if (n > 1) expect(await record.retire(`s${n - 1}`, { 0: 1 }, [1])).to.equal(true)
      await record.record(0, clicks(`s${n}`, 1))
      expect(await named()).to.deep.equal([`s${n}`])
    }
    expect(await recorded()).to.have.length(200)
  })

  it('leave out one that was retired by a process that recorded nothing afterwards', async () => {
    await open().record(0, clicks('a', 1))
    await open().retire('a', { 0: 1 }, [1])
    const record = open()
    for (const n of numbers(1, 4)) {
      await record.record(0, clicks('b', n))
      time += minute
    }
    expect(await named()).to.deep.equal(['b'])
  })

  it('shrink by themselves in an old log that names hundreds, and no click of any is counted again', async () => {
    const upTo = Object.fromEntries(numbers(1, 600).map((n) => [`old-${n}`, n]))
    const { append } = store
    const record = open()
    await record.record(0, clicks('mine', 1))
    // version 0.1.0 never removed any
    const [before] = (await eventsOf(store, 'clicks-local-0')).slice(-1)
    const data = { ...(before!.data as object), upTo: { ...upTo, mine: 1 } }
    await append([
      { stream: 'clicks-local-0', expected: 1n, events: [{ ...before!, id: crypto.randomUUID(), data }] },
    ] as never)
    const sizes: number[] = []
    const later = open()
    for (let n = 2; n <= 25; n++) {
      await later.record(0, clicks('mine', n))
      sizes.push((await named()).length)
      time += minute
    }
    expect(sizes[0]).to.equal(601)
    expect(sizes.at(-1)).to.be.at.most(51)
    const all = await recorded()
    for (const n of [1, 70, 300, 600]) await open().record(0, clicks(`old-${n}`, 1, n))
    expect(await recorded(), 'all of these were recorded').to.deep.equal(all)
    await open().record(0, clicks('old-70', 60, 72))
    expect(await recorded(), 'an entry above the last number is new').to.deep.equal([...all, 71, 72])
    expect((await eventsOf(store, 'clicks-local-0')).filter(({ type }) => type === 'ClicksMissing')).to.deep.equal([])
  }).timeout(300_000)

  it('are opened and retired by events of their own', async () => {
    const record = open()
    await record.record(0, clicks('a', 1, 3))
    expect(await record.retire('a', { 0: 4 }, [4]), 'not everything is recorded').to.equal(false)
    expect(await record.retire('a', { 0: 3 }, [3])).to.equal(true)
    await record.record(0, clicks('b', 1))
    expect(await named()).to.deep.equal(['b'])
    await open().record(0, clicks('a', 4))
    const events = await eventsOf(store, 'spool-local-0-a')
    expect(events.map(({ type, data }) => ({ type, ...data }))).to.deep.equal([
      { type: 'SpoolOpened', log: 'local', partition: 0, spool: 'a', after: 0 },
      { type: 'SpoolRetired', log: 'local', partition: 0, spool: 'a', last: 3 },
      { type: 'SpoolOpened', log: 'local', partition: 0, spool: 'a', after: 3 },
    ])
  })

  it('keep a name for ten minutes with Kafka, where a recorder of version 0.1.0 may still read repetitions', async () => {
    let offset = 0
    const messages = (spool: string, from: number, to = from) =>
      clicks(spool, from, to).map((entry) => ({ ...entry, offset: offset++ }))
    const record = open()
    await record.record(0, messages('a', 1, 3))
    await record.retire('a', { 0: 3 }, [3])
    for (const [n, names] of [['a', 'b'], ['a', 'b'], ['b']].entries()) {
      await record.record(0, messages('b', 2 * n + 1, 2 * n + 2))
      expect((await named()).toSorted(), `event ${n}`).to.deep.equal(names)
      time += 11 * minute
    }
    await record.record(0, messages('a', 1, 3))
    expect(await recorded(), 'a repetition').to.have.length(9)
  })

  it('report entries that are unreadable at the end of a spool as missing', async () => {
    const record = open()
    await record.record(0, clicks('a', 1, 3))
    expect(await record.retire('a', { 0: 3 }, [5])).to.equal(true)
    expect((await store.last('clicks-local-0'))?.data).to.deep.include({ spool: 'a', from: 4, to: 5 })
  })

  it('count each click once while several processes record, retire and repeat, without transactions', async () => {
    const random = randomFrom(seed)
    const slow = oneByOne(store, () => new Promise((done) => setTimeout(done, random(2))))
    const names = ['a', 'b', 'c', 'd']
    const next = new Map(names.map((spool) => [spool, 1]))
    const work = async () => {
      const record = open({ store: slow })
      for (let n = 0; n < 40; n++) {
        const spool = names[random(names.length)]!
        const end = Math.min(100, (next.get(spool) ?? 1) + random(12))
        next.set(spool, Math.max(next.get(spool) ?? 1, end))
        await record.record(0, clicks(spool, 1, end))
        const retired = names[random(names.length)]!
        await record.retire(retired, { 0: 1 }, [1])
        time += minute / 2
      }
    }
    await Promise.all([work(), work(), work()])
    const expected = [...next.values()].flatMap((end) => numbers(1, end)).toSorted((a, b) => a - b)
    expect(
      (await recorded()).toSorted((a, b) => a - b),
      `SEED=${seed}`,
    ).to.deep.equal(expected)
  }).timeout(300_000)
})
