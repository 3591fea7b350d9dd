import { expect } from 'chai'
import { TopicReplaced } from '../../src/clicks/partition.ts'
import { type ClickRecord, openClickRecord } from '../../src/clicks/record.ts'
import { logSinkWithoutGaps } from '../../src/clicks/sink.ts'
import type { EventStore } from '../../src/events/store.ts'
import { ChangedByNewer } from '../../src/events/unknown.ts'
import { appendNewer } from '../support/newer.ts'
import { delivered, entries, linksOf, numbers } from '../support/spool.ts'
import { eventsOf, newMemoryStore } from '../support/writer.ts'

const rejection = (of: Promise<unknown>) =>
  of.then(
    () => expect.fail('it did not reject'),
    (error: unknown) => error,
  )

/** Returns entries from sequence number `from` on, as messages from this offset on. */
const messages = (from: number, offset: number, count = 10) =>
  delivered(entries(from, from + count - 1)).map((one, i) => ({ ...one, offset: offset + i }))

describe('recording Kafka messages', () => {
  let store: EventStore
  beforeEach(async () => {
    store = await newMemoryStore()
  })

  /** Opens the click log like another process, without any cached state. */
  const open = (partitions = 2): ClickRecord => openClickRecord({ store, log: 'topic', partitions })
  const recordedLinks = async () => linksOf(await eventsOf(store, 'clicks-topic-0'))

  it('remembers the last message of each partition, for the next recorder', async () => {
    await open().record(0, messages(1, 0))
    expect(await open().lastMessage(0)).to.deep.equal({ offset: 9, spool: 's', seq: 10 })
    expect(await open().lastMessage(1)).to.equal(undefined)
  })

  it('gives each batch a salt of its own', async () => {
    await open().record(0, messages(1, 0))
    await open().record(0, messages(11, 10))
    const salts = (await eventsOf(store, 'clicks-topic-0')).flatMap(({ type, data }) =>
      type === 'LinkClicked' ? [data.salt] : [],
    )
    expect(new Set(salts).size).to.equal(2)
    for (const salt of salts) expect(salt).to.match(/^[\w-]{22}$/)
  })

  it('records nothing twice when all messages are read again from the first offset', async () => {
    await open().record(0, messages(1, 0))
    await open().record(0, [...messages(1, 0), ...messages(11, 10)])
    expect(await recordedLinks()).to.deep.equal(numbers(1, 20))
  })

  it('rejects a new entry at a recorded offset, and another message at the last offset', async () => {
    await open().record(0, messages(1, 0))
    expect(await rejection(open().record(0, messages(11, 3)))).to.be.instanceOf(TopicReplaced)
    expect(await rejection(open().record(0, messages(9, 9, 1)))).to.be.instanceOf(TopicReplaced)
    expect(await recordedLinks()).to.deep.equal(numbers(1, 10))
  })

  it('continues after another recorder of the same partition was faster', async () => {
    const [one, other] = [open(), open()]
    await one.record(0, messages(1, 0))
    await other.record(0, messages(1, 0))
    await one.record(0, messages(11, 10))
    await other.record(0, [...messages(6, 5), ...messages(16, 15)])
    await one.record(0, messages(21, 20))
    expect(await recordedLinks()).to.deep.equal(numbers(1, 30))
  })

  it('does not take the end of the log for an older one that was read while more was recorded', async () => {
    await open().record(0, messages(1, 0))
    let [answer, asked] = [() => {}, () => {}]
    const isAsked = new Promise<void>((done) => (asked = done))
    let isHeld = false
    const last: EventStore['last'] = async (stream) => {
      const found = await store.last(stream)
      if (isHeld) await new Promise<void>((done) => [(answer = done), asked()])
      return found
    }
    const record = openClickRecord({ store: { ...store, last }, log: 'topic', partitions: 2 })
    await record.record(0, messages(11, 10))
    isHeld = true
    const confirmed = record.confirm('s', { 0: 20 })
    await isAsked
    isHeld = false
    await record.record(0, messages(21, 20))
    answer()
    await confirmed
    await record.record(0, messages(31, 30))
    expect(await recordedLinks()).to.deep.equal(numbers(1, 40))
  })

  it('rejects a number of partitions that differs from the one the click log was created with', async () => {
    await open().record(0, messages(1, 0))
    expect(String(await rejection(open(3).record(0, messages(11, 10))))).to.include('set KAFKA_PARTITIONS to 2')
  })

  it('reads no more than one event of a partition to learn its number of partitions', async () => {
    await open().record(0, messages(1, 0))
    const asked: (number | undefined)[] = []
    const read: EventStore['read'] = (stream, from, limit) => {
      asked.push(limit)
      return store.read(stream, from, limit)
    }
    const record = openClickRecord({ store: { ...store, read }, log: 'topic', partitions: 2 })
    expect(await record.recordedUpTo('s')).to.deep.equal({ 0: 10, 1: 0 })
    expect(asked).to.deep.equal([1])
  })

  it('waits for a newer release at the end of a click stream that only that can read', async () => {
    await open().record(0, messages(1, 0))
    await appendNewer(store, 'clicks-topic-0')
    await appendNewer(store, 'clicks-topic-1')
    for (const partition of [0, 1])
      expect(await rejection(open().record(partition, messages(11, 10)))).to.be.instanceOf(ChangedByNewer)
    expect(await eventsOf(store, 'clicks-topic-1')).to.deep.equal([])
    expect(await recordedLinks()).to.deep.equal(numbers(1, 10))
  })

  it('accepts entries that were meant for Kafka only where they follow the last recorded entry', async () => {
    await open().record(0, messages(1, 0))
    const sink = logSinkWithoutGaps(open())
    expect(await sink.resumeAfter('s')).to.deep.equal({ 0: 10, 1: 0 })
    const later = { 0: delivered(entries(12, 14)) }
    expect(String(await rejection(sink.deliver(later)))).to.include('have to be recorded first')
    await open().record(0, messages(11, 10, 1))
    await sink.deliver(later)
    expect(await recordedLinks()).to.deep.equal(numbers(1, 14))
    expect(await open().lastMessage(0)).to.deep.equal({ offset: 10, spool: 's', seq: 11 })
  })
})
