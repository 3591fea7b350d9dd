import { expect } from 'chai'
import type { ClickEntry, EntriesByPartition } from '../../src/clicks/entry.ts'
import type { ClickSink } from '../../src/clicks/sink.ts'
import type { Recorded } from '../../src/events/event.ts'
import type { DomainEvent } from '../../src/events/index.ts'
import { until } from '../support/client.ts'
import { at } from '../support/events.ts'
import { delivered, entries, linksOf, numbers } from '../support/spool.ts'
import { skip } from '../support/skip.ts'

export const partitions = 3

/** A click log of its own for each test, and the sinks that lead to it. */
export interface SinkUnderTest {
  /** Opens a sink like another process, without any cached state. */
  readonly open: () => ClickSink
  /** Returns the entries recorded in a partition so far. */
  readonly recorded: (partition: number) => Promise<readonly Recorded<DomainEvent>[]>
  /**
   * Makes the next `count` deliveries fail, some of them after everything was stored. Undefined where this is not
   * possible.
   */
  readonly disturb: ((count: number) => void) | undefined
}

const clicks = (from: number, to: number, spool = 's') => delivered(entries(from, to), spool)

/** The contract of every click sink: it records each entry once and in order, however often the entry is delivered. */
export const sinkContract = (name: string, setUp: () => Promise<SinkUnderTest>) =>
  describe(`click sink contract: ${name}`, () => {
    let sink: SinkUnderTest
    beforeEach(async () => {
      sink = await setUp()
    })

    /** Waits until a partition's last event holds these sequence numbers, and returns the links of its clicks. */
    const linksUpTo = async (upTo: Readonly<Record<string, number>>, partition = 0) => {
      const events = await until(
        () => sink.recorded(partition),
        (found) => {
          const last = found.at(-1)?.data
          const known: object = last !== undefined && 'upTo' in last ? Object(last.upTo) : {}
          return last !== undefined && Object.entries(upTo).every(([s, seq]) => Reflect.get(known, s) === seq)
        },
        60_000,
      )
      expect(events.at(-1)?.data).to.deep.include({ upTo })
      return linksOf(events)
    }
    const deliverUntilDone = async (to: ClickSink, part: EntriesByPartition) => {
      for (let left = 20; ; left--)
        try {
          return await to.deliver(part)
        } catch (error) {
          if (left === 0) throw error
        }
    }

    it('resumes at the start of a spool that it does not know', async () => {
      expect(await sink.open().resumeAfter('s')).to.deep.equal({ 0: 0, 1: 0, 2: 0 })
    })

    it('records the entries of each partition once and in order', async () => {
      const to = sink.open()
      await to.deliver({ 0: clicks(1, 1200), 2: clicks(1, 10) })
      await to.deliver({ 0: clicks(1201, 1210) })
      expect(await linksUpTo({ s: 1210 })).to.deep.equal(numbers(1, 1210))
      expect(await linksUpTo({ s: 10 }, 2)).to.deep.equal(numbers(1, 10))
      expect(linksOf(await sink.recorded(1))).to.deep.equal([])
    })

    it('resumes after the last recorded entry in another process', async () => {
      await sink.open().deliver({ 0: clicks(1, 20), 2: clicks(1, 5) })
      await linksUpTo({ s: 20 })
      await linksUpTo({ s: 5 }, 2)
      expect(await sink.open().resumeAfter('s')).to.deep.equal({ 0: 20, 1: 0, 2: 5 })
    })

    it('records entries once when they are delivered again, whole or in part', async () => {
      const to = sink.open()
      await to.deliver({ 0: clicks(1, 20) })
      await to.deliver({ 0: clicks(1, 20) })
      await to.deliver({ 0: clicks(15, 30) })
      await sink.open().deliver({ 0: clicks(1, 31) })
      expect(await linksUpTo({ s: 31 })).to.deep.equal(numbers(1, 31))
    })

    it('records entries once when two sinks deliver them at the same time', async () => {
      const deliverAll = async (to: ClickSink) => {
        for (let from = 1; from <= 100; from += 10) await deliverUntilDone(to, { 0: clicks(from, from + 9) })
      }
      await Promise.all([deliverAll(sink.open()), deliverAll(sink.open())])
      expect(await linksUpTo({ s: 100 })).to.deep.equal(numbers(1, 100))
    })

    it('keeps two spools apart', async () => {
      const to = sink.open()
      await to.deliver({ 0: clicks(1, 5, 'a') })
      await to.deliver({ 0: clicks(1, 7, 'b') })
      expect(await linksUpTo({ a: 5, b: 7 })).to.deep.equal([...numbers(1, 5), ...numbers(1, 7)])
      expect(await sink.open().resumeAfter('b')).to.deep.equal({ 0: 7, 1: 0, 2: 0 })
    })

    it('records gaps as ClicksMissing, and dropped visits as ClicksDropped', async () => {
      const dropped: ClickEntry = { spool: 's', seq: 8, dropped: { count: 4, from: at(1), to: at(2) } }
      await sink.open().deliver({ 0: [...clicks(1, 2), ...clicks(5, 7), dropped] })
      await linksUpTo({ s: 8 })
      const [, ...events] = await sink.recorded(0)
      expect(events.map(({ type }) => type)).to.deep.equal([
        'LinkClicked',
        'ClicksMissing',
        'LinkClicked',
        'ClicksDropped',
      ])
      expect(events[1]?.data).to.deep.include({ spool: 's', from: 3, to: 4 })
      expect(events[3]?.data).to.deep.include({ spool: 's', ...dropped.dropped })
    })

    it('rejects a delivery that fails, and records it once when it is repeated', async function () {
      if (!sink.disturb) return skip(this, 'this broker cannot be disturbed', 'unset TEST_KAFKA_BROKERS')
      const to = sink.open()
      await to.deliver({ 0: clicks(1, 10) })
      await linksUpTo({ s: 10 })
      sink.disturb(1)
      const failed = await to.deliver({ 0: clicks(11, 20) }).then(
        () => undefined,
        (error: unknown) => error,
      )
      expect(failed).to.be.instanceOf(Error)
      await deliverUntilDone(to, { 0: clicks(11, 20) })
      for (let from = 21; from <= 60; from += 10) {
        sink.disturb(2)
        await deliverUntilDone(to, { 0: clicks(from, from + 9) })
      }
      expect(await linksUpTo({ s: 60 })).to.deep.equal(numbers(1, 60))
    })
  })
