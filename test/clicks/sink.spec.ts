import { expect } from 'chai'
import type { ClickEntry } from '../../src/clicks/entry.ts'
import { decode, encode } from '../../src/clicks/kafka/message.ts'
import type { TopicProducer } from '../../src/clicks/kafka/producer.ts'
import type { ReadSent } from '../../src/clicks/kafka/sent.ts'
import { kafkaSink } from '../../src/clicks/kafka/sink.ts'
import { TopicReplaced } from '../../src/clicks/partition.ts'
import { openClickRecord } from '../../src/clicks/record.ts'
import { logSink } from '../../src/clicks/sink.ts'
import { type EventStore, StoreUnavailable } from '../../src/events/store.ts'
import { ChangedByNewer } from '../../src/events/unknown.ts'
import { delivered, entries } from '../support/spool.ts'
import { eventsOf, newMemoryStore } from '../support/writer.ts'
import { partitions, sinkContract } from './sink.contract.ts'

/** Fails the next calls, every second time after the work was done. */
const disturbance = () => {
  let [left, calls] = [0, 0]
  return {
    disturb: (count: number) => void (left = count),
    run: async <T>(work: () => Promise<T>): Promise<T> => {
      if (left === 0) return work()
      left--
      if (calls++ % 2 === 1) await work()
      throw new StoreUnavailable('the answer was lost')
    },
  }
}

sinkContract('into the event log', async () => {
  const store = await newMemoryStore()
  const { disturb, run } = disturbance()
  const disturbed: EventStore = { ...store, append: (writes) => run(() => store.append(writes)) }
  return {
    open: () => logSink(openClickRecord({ store: disturbed, log: 'l', partitions })),
    recorded: (partition) => eventsOf(store, `clicks-l-${partition}`),
    disturb,
  }
})

/** Returns a topic in memory: a list of messages for each partition, numbered by offset. */
const memoryTopic = () => {
  const messages = Array.from({ length: partitions }, (): string[] => [])
  const logOf = (value: string) => (JSON.parse(value) as { readonly log: string }).log
  const { disturb, run } = disturbance()
  const createProducer = (): TopicProducer => ({
    open: async () => messages.map(({ length }, partition) => ({ partition, low: 0, high: length })),
    send: (given) =>
      run(async () => {
        const offsets = messages.map(({ length }) => length)
        for (const { partition, value } of given) messages[partition]!.push(value)
        const sent = new Set(given.map(({ partition }) => partition))
        return [...sent].map((partition) => ({ partition, offset: offsets[partition]! }))
      }),
    close: async () => {},
  })
  return {
    createProducer,
    disturb,
    /** Returns the entries of a partition, as a consumer decodes them. */
    entriesIn: (partition: number): ClickEntry[] =>
      messages[partition]!.map((value, offset) => decode(Buffer.from(value), offset, logOf(value))!.entry),
    /** Deletes the topic's messages, as a topic that is created again has none. */
    clear: () => messages.forEach((list) => list.splice(0)),
  }
}

// the same contract runs on a real broker in test/engines
sinkContract('through Kafka, WITH A TOPIC IN MEMORY', async () => {
  const store = await newMemoryStore()
  const topic = memoryTopic()
  const open = () => openClickRecord({ store, log: 't', partitions })
  const recorder = open()
  /** Records all messages again, as a consumer that reads from the first offset does. */
  const recorded = async (partition: number) => {
    await recorder.record(partition, topic.entriesIn(partition))
    return eventsOf(store, `clicks-t-${partition}`)
  }
  return {
    open: () => kafkaSink({ topic: 't', record: open(), createProducer: topic.createProducer }),
    recorded,
    disturb: topic.disturb,
  }
})

describe('a Kafka sink', () => {
  const part = (from: number, to: number) => ({ 0: delivered(entries(from, to)) })

  const deliversDespite = async (error: Error) => {
    const topic = memoryTopic()
    const unavailable = async () => Promise.reject(error)
    const record = { partitions, logId: 'l', recordedUpTo: unavailable, lastMessage: unavailable }
    const sink = kafkaSink({ topic: 't', record, createProducer: topic.createProducer })
    expect(await sink.resumeAfter('s')).to.deep.equal({})
    await sink.deliver(part(1, 10))
    expect(topic.entriesIn(0)).to.have.length(10)
  }

  it('delivers while the event log is unavailable', () => deliversDespite(new StoreUnavailable('down')))

  it('delivers while only a newer release can read the recorded events', () =>
    deliversDespite(new ChangedByNewer('The click log')))

  it('resumes after the last recorded entry or the last in the topic, whichever is later, and without the topic after the last recorded one', async () => {
    const { createProducer } = memoryTopic()
    const record = openClickRecord({ store: await newMemoryStore(), log: 't', partitions })
    await record.record(0, delivered(entries(1, 9)))
    await record.record(1, delivered(entries(1, 9)))
    const resume = (readSent: ReadSent) => kafkaSink({ topic: 't', record, createProducer, readSent }).resumeAfter('s')
    expect(await resume(async () => ({ 0: 20, 1: 5 }))).to.deep.equal({ 0: 20, 1: 9, 2: 0 })
    expect(await resume(async () => Promise.reject(new Error('no answer')))).to.deep.equal({ 0: 9, 1: 9, 2: 0 })
  })

  it('splits a delivery into bounded requests', async () => {
    const topic = memoryTopic()
    const sizes: number[] = []
    const createProducer = () => {
      const producer = topic.createProducer()
      return {
        ...producer,
        send: (messages: Parameters<TopicProducer['send']>[0]) => {
          sizes.push(messages.reduce((sum, { value }) => sum + value.length, 0))
          return producer.send(messages)
        },
      }
    }
    const record = openClickRecord({ store: await newMemoryStore(), log: 't', partitions })
    await kafkaSink({ topic: 't', record, createProducer }).deliver(part(1, 3000))
    expect(sizes).to.have.length.above(1)
    expect(Math.max(...sizes)).to.be.at.most(512 * 1024)
    expect(topic.entriesIn(0).map(({ seq }) => seq)).to.deep.equal(entries(1, 3000).map(({ seq }) => seq))
  })

  it('permanently refuses to deliver to a topic that was created again under the same name', async () => {
    const topic = memoryTopic()
    const record = openClickRecord({ store: await newMemoryStore(), log: 't', partitions })
    const sink = kafkaSink({ topic: 't', record, createProducer: topic.createProducer })
    const failure = () =>
      sink.deliver(part(11, 20)).then(
        () => undefined,
        (error: unknown) => error,
      )
    await sink.deliver(part(1, 10))
    topic.clear()
    const first = await failure()
    expect(first).to.be.instanceOf(TopicReplaced)
    expect(String(first)).to.include('offset 0, but had already reached offset 10')
    expect(await failure()).to.equal(first)
    expect(topic.entriesIn(0), 'nothing more is sent').to.have.length(10)
  })

  it('refuses a topic that ends before the last recorded message', async () => {
    const topic = memoryTopic()
    const store = await newMemoryStore()
    const record = openClickRecord({ store, log: 't', partitions })
    await record.record(0, [{ ...delivered(entries(1, 1))[0]!, offset: 7 }])
    const sink = kafkaSink({ topic: 't', record, createProducer: topic.createProducer })
    const failed = await sink.deliver(part(2, 3)).catch(String)
    expect(failed).to.include('partition 0 of t is truncated: it ends at offset 0')
  })

  it('accepts a topic whose messages other processes send and record while it connects', async () => {
    const topic = memoryTopic()
    const record = openClickRecord({ store: await newMemoryStore(), log: 't', partitions })
    const busyProducer = (): TopicProducer => {
      const producer = topic.createProducer()
      const open = async () => {
        const offsets = await producer.open()
        await producer.send([{ partition: 0, ...encode(record.logId, delivered(entries(1, 1))[0]!) }])
        await record.record(0, topic.entriesIn(0))
        return offsets
      }
      return { ...producer, open }
    }
    await kafkaSink({ topic: 't', record, createProducer: busyProducer }).deliver(part(2, 3))
    expect(topic.entriesIn(0)).to.have.length(3)
  })
})
