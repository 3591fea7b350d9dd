import { expect } from 'chai'
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ClickEntry, EntriesByPartition } from '../../src/clicks/entry.ts'
import { createKafkaClient, type KafkaOptions } from '../../src/clicks/kafka/client.ts'
import { startTopicRecorder, type TopicRecorder } from '../../src/clicks/kafka/consumer.ts'
import { createTopicProducer } from '../../src/clicks/kafka/producer.ts'
import { createSentReader } from '../../src/clicks/kafka/sent.ts'
import { type KafkaSink, kafkaSink } from '../../src/clicks/kafka/sink.ts'
import type { OnProblem } from '../../src/clicks/report.ts'
import { TopicReplaced } from '../../src/clicks/partition.ts'
import { type ClickRecord, openClickRecord } from '../../src/clicks/record.ts'
import type { EventStore } from '../../src/events/store.ts'
import { until } from '../support/client.ts'
import { delivered, entries, linksOf } from '../support/spool.ts'
import { eventsOf, newMemoryStore } from '../support/writer.ts'
import { type Broker, needsBroker, startBroker } from './broker.ts'
import { type Proxy, startProxy } from './proxy.ts'

export const partitions = 3

/** Returns clicks of one spool; click `n` goes to link `n`. */
export const clicks = (from: number, to: number, spool = 's'): ClickEntry[] => delivered(entries(from, to), spool)

/** Waits until a recorder has halted partitions, and returns them. */
export const haltedPartitions = async (recorder: TopicRecorder) =>
  (
    await until(
      async () => recorder.state().halted,
      ({ length }) => length > 0,
      60_000,
    )
  ).map(({ partition }) => partition)

/**
 * Gives a suite a broker behind a proxy, and each test a topic, an event log and what works on them. Skips without a
 * broker.
 */
export const useTopic = () => {
  let proxy: Proxy
  let broker: Broker
  let store: EventStore
  let kafka: KafkaOptions
  let record: ClickRecord
  const cleanUps: (() => Promise<unknown>)[] = []

  before(async function () {
    this.timeout(400_000)
    await needsBroker(this)
    proxy = await startProxy()
    broker = await startBroker(proxy.port)
    proxy.forwardTo(broker.port)
  })
  beforeEach(async () => {
    store = await newMemoryStore()
    kafka = { brokers: [broker.address], topic: `t-${randomUUID()}`, log: () => {} }
    record = openRecord()
  })
  afterEach(async () => {
    proxy.rewriteResponses()
    for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp()
  })
  after(async () => {
    await broker?.clear()
    await proxy?.close()
  })

  /** Opens the click log as another process does, on the test's event log unless another is given. */
  const openRecord = (of: EventStore = store) => openClickRecord({ store: of, log: kafka.topic, partitions })

  const openSink = (of: ClickRecord = record): KafkaSink => {
    const createProducer = () => createTopicProducer({ ...kafka, record: of })
    const readSent = createSentReader(kafka, of)
    const sink = kafkaSink({ topic: kafka.topic, record: of, createProducer, readSent })
    cleanUps.push(sink.close)
    return sink
  }

  const linksIn = async (partition = 0) => linksOf(await eventsOf(store, `clicks-${kafka.topic}-${partition}`))

  return {
    proxy: () => proxy,
    store: () => store,
    kafka: () => kafka,
    record: () => record,
    openRecord,
    openSink,
    linksIn,
    eventsIn: (partition: number) => eventsOf(store, `clicks-${kafka.topic}-${partition}`),
    /** Delivers as a relay does: retries until it succeeds. */
    send: async (part: EntriesByPartition, sink = openSink()) => {
      for (let left = 50; ; left--)
        try {
          return await sink.deliver(part)
        } catch (error) {
          if (left === 0 || error instanceof TopicReplaced) throw error
          await sleep(20)
        }
    },
    startRecorder: (
      of: ClickRecord = record,
      onProblem: OnProblem = () => {},
      promises: Pick<KafkaOptions, 'replication' | 'onTopicChecked'> = {},
    ) => {
      const recorder = startTopicRecorder({ ...kafka, ...promises, record: of, onProblem })
      cleanUps.push(recorder.stop)
      return recorder
    },
    openAdmin: async () => {
      const admin = createKafkaClient(kafka).admin()
      await admin.connect()
      cleanUps.push(() => admin.disconnect())
      return admin
    },
    openProducer: async () => {
      const producer = createKafkaClient(kafka).producer()
      await producer.connect()
      cleanUps.push(() => producer.disconnect())
      return producer
    },
    /** Waits until exactly this many clicks of a partition are recorded. */
    recorded: async (count: number, partition = 0, ms = 60_000) =>
      expect(
        await until(
          async () => (await linksIn(partition)).length,
          (n) => n >= count,
          ms,
        ),
        'recorded clicks',
      ).to.equal(count),
  }
}
