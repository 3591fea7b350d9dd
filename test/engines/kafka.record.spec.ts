import { expect } from 'chai'
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ClickEntry, EntriesByPartition } from '../../src/clicks/entry.ts'
import { TopicReplaced } from '../../src/clicks/partition.ts'
import { type ClickRecord, openClickRecord } from '../../src/clicks/record.ts'
import { startTopicRecorder, type TopicRecorder } from '../../src/clicks/kafka/consumer.ts'
import { createKafkaClient, type KafkaOptions } from '../../src/clicks/kafka/client.ts'
import { createTopicProducer } from '../../src/clicks/kafka/producer.ts'
import { groupOf } from '../../src/clicks/kafka/session.ts'
import { kafkaSink } from '../../src/clicks/kafka/sink.ts'
import { codec } from '../../src/events/codec.ts'
import { type EventStore, StoreUnavailable } from '../../src/events/store.ts'
import { memoryStore } from '../../src/store/memory.ts'
import { until } from '../support/client.ts'
import { click } from '../support/events.ts'
import { long, note, randomFrom, repeatable, seed } from '../support/faults.ts'
import { memoryKeyring } from '../support/keyring.ts'
import { eventsOf } from '../support/writer.ts'
import { type Broker, needsOwnBroker, needsBroker, startBroker } from './broker.ts'
import { api, type Proxy, startProxy } from './proxy.ts'

/** Clicks of one spool, each on the link of its own number. */
const clicks = (from: number, to: number, spool = 's'): ClickEntry[] =>
  Array.from({ length: to - from + 1 }, (_, i) => ({
    spool,
    seq: from + i,
    rules: 1,
    click: { ...click({ link: from + i }), destination: 'https://example.com/', agent: 'Firefox' },
  }))
const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i)

describe(`the recorder on a real topic (${repeatable})`, function () {
  this.timeout(120_000)
  const random = randomFrom(seed)
  let proxy: Proxy
  let broker: Broker
  let store: EventStore
  let kafka: KafkaOptions
  let record: ClickRecord
  const partitions = 3
  const steps: (() => Promise<unknown>)[] = []

  before(async function () {
    this.timeout(400_000)
    await needsBroker(this)
    proxy = await startProxy()
    broker = await startBroker(proxy.port)
    proxy.to(broker.port)
  })
  beforeEach(async () => {
    store = await memoryStore(codec(memoryKeyring()))
    kafka = { brokers: [broker.address], topic: `t-${randomUUID()}`, log: () => {} }
    record = openClickRecord({ store, log: kafka.topic, partitions })
  })
  afterEach(async () => {
    proxy.answer()
    for (const step of steps.splice(0).toReversed()) await step()
  })
  after(async () => {
    await broker?.clear()
    await proxy?.close()
  })

  const openSink = (of: ClickRecord = record) => {
    const sink = kafkaSink({
      topic: kafka.topic,
      record: of,
      createProducer: () => createTopicProducer({ ...kafka, record: of }),
    })
    steps.push(sink.close)
    return sink
  }
  /** As a relay does: again, until it is there. */
  const send = async (entries: EntriesByPartition, sink = openSink()) => {
    for (let left = 50; ; left--)
      try {
        return await sink.deliver(entries)
      } catch (error) {
        if (left === 0 || error instanceof TopicReplaced) throw error
        await sleep(20)
      }
  }
  const start = (of: ClickRecord = record, onProblem: (error: unknown, what: string) => void = () => {}) => {
    const recorder = startTopicRecorder({ ...kafka, record: of, onProblem })
    steps.push(recorder.stop)
    return recorder
  }
  const admin = async () => {
    const opened = createKafkaClient(kafka).admin()
    await opened.connect()
    steps.push(() => opened.disconnect())
    return opened
  }
  const storedIn = (partition: number) => eventsOf(store, `clicks-${kafka.topic}-${partition}`)
  const linksIn = async (partition = 0) =>
    (await storedIn(partition))
      .flatMap(({ type, data }) => (type === 'LinkClicked' ? data.clicks : []))
      .map((c) => c.link)
  const recorded = async (count: number, partition = 0, ms = 30_000) =>
    expect(
      await until(
        async () => (await linksIn(partition)).length,
        (n) => n >= count,
        ms,
      ),
      'recorded clicks',
    ).to.equal(count)
  const halted = async (recorder: TopicRecorder) =>
    (
      await until(
        async () => recorder.state().halted,
        ({ length }) => length > 0,
        20_000,
      )
    ).map(({ partition }) => partition)
  /** Offsets that a consumer would be given without ours. */
  const forgetful = (of: ClickRecord): ClickRecord => ({ ...of, lastMessage: async () => undefined })

  it('makes the topic with its settings, and keeps clicks in the order of each partition', async () => {
    start()
    await send({ 0: clicks(1, 1200), 2: clicks(1, 10) })
    await recorded(1200)
    await recorded(10, 2)
    expect(await linksIn(0)).to.deep.equal(numbers(1, 1200))
    const { topics } = await (await admin()).fetchTopicMetadata({ topics: [kafka.topic] })
    expect(topics[0]?.partitions).to.have.length(partitions)
  })

  it('refuses a topic with another number of partitions, and says what to set', async () => {
    await (await admin()).createTopics({ topics: [{ topic: kafka.topic, numPartitions: 2 }], waitForLeaders: true })
    const recorder = start()
    const what = `the topic ${kafka.topic} has 2 partitions, not 3: set KAFKA_PARTITIONS to 2`
    expect(await until(async () => recorder.state().problem, Boolean)).to.include(what)
    const refusal = async () =>
      openSink()
        .deliver({ 0: clicks(1, 1) })
        .catch(String)
    expect(await until(refusal, (text) => String(text).includes(what))).to.include(what)
  })

  it('passes over what is no click, and waits at a message that only a newer version reads', async () => {
    const sink = openSink()
    await send({ 0: clicks(1, 2) }, sink)
    const producer = createKafkaClient(kafka).producer()
    await producer.connect()
    steps.push(() => producer.disconnect())
    const write = (value: string) => producer.send({ topic: kafka.topic, messages: [{ partition: 0, value }] })
    await write('no click')
    await write('{"v":1,"spool":"s"}')
    await send({ 0: clicks(1, 9) }, openSink({ ...record, logId: 'of another installation' }))
    await send({ 0: clicks(3, 4) }, sink)
    const recorder = start()
    await recorded(4)
    await write('{"v":2,"spool":"s","seq":5}')
    expect(await until(async () => recorder.state().problem, Boolean)).to.include('to a version that reads it')
    await send({ 0: clicks(6, 6) }, sink)
    await sleep(500)
    expect(await linksIn()).to.deep.equal(numbers(1, 4))
  })

  it('9: counts once what the broker stored though its answer was lost', async function () {
    needsOwnBroker(this)
    start()
    const sink = openSink()
    let cuts = 0
    proxy.answer((kind, answer) => {
      if (kind !== api.produce || random(10) > 2) return answer
      cuts++
      return 'cut'
    })
    for (let from = 1; from <= 2000; from += 50) await send({ 0: clicks(from, from + 49) }, sink)
    proxy.answer()
    await recorded(2000)
    await sleep(500)
    expect(await linksIn()).to.deep.equal(numbers(1, 2000))
    const [reach] = (await (await admin()).fetchTopicOffsets(kafka.topic)).filter(({ partition }) => partition === 0)
    expect(Number(reach?.high), 'messages in the topic').to.be.above(2000)
    note(`${cuts} answers lost, ${Number(reach?.high) - 2000} messages twice`)
  })

  it('10: goes on after a crash between an append and the next, and after one whose outcome is not known', async () => {
    await send({ 0: clicks(1, 5000) })
    const crashes = [0, 1, 2].map(() => random(2) === 0)
    for (const isStored of crashes) {
      let appends = 0
      const dying: EventStore = {
        ...store,
        append: async (writes) => {
          if (writes[0]?.events[0]?.type !== 'LinkClicked' || appends++ < 1) return store.append(writes)
          if (isStored && appends === 2) await store.append(writes)
          throw new StoreUnavailable('the process is gone')
        },
      }
      const recorder = start(openClickRecord({ store: dying, log: kafka.topic, partitions }))
      expect(await until(async () => recorder.state().problem, Boolean)).to.include('the process is gone')
      await recorder.stop()
    }
    start()
    await recorded(5000)
    expect(await linksIn()).to.deep.equal(numbers(1, 5000))
  })

  it('12, 50: takes nothing twice when everything comes again from the first offset', async () => {
    await send({ 0: clicks(1, 1000) })
    const first = start()
    await recorded(1000)
    await first.stop()
    const again = start(forgetful(openClickRecord({ store, log: kafka.topic, partitions })))
    await send({ 0: clicks(1001, 1010) })
    await recorded(1010)
    expect(await linksIn()).to.deep.equal(numbers(1, 1010))
    expect(again.state().halted).to.deep.equal([])
  })

  it('44: records a hole as ClicksMissing when Kafka has deleted what was not recorded, and goes on', async () => {
    const sink = openSink()
    await send({ 0: clicks(1, 100) }, sink)
    const first = start()
    await recorded(100)
    await first.stop()
    await send({ 0: clicks(101, 200) }, sink)
    const at = await admin()
    await at.fetchTopicOffsets(kafka.topic)
    await at.deleteTopicRecords({ topic: kafka.topic, partitions: [{ partition: 0, offset: '150' }] })
    start()
    await recorded(150)
    expect(await linksIn()).to.deep.equal([...numbers(1, 100), ...numbers(151, 200)])
    const missing = (await storedIn(0)).filter(({ type }) => type === 'ClicksMissing')
    expect(missing.map(({ data }) => data)).to.have.length(1)
    expect(missing[0]?.data).to.deep.include({ spool: 's', from: 101, to: 150 })
  })

  const recreate = async () => {
    const at = await admin()
    await at.deleteTopics({ topics: [kafka.topic] })
    await sleep(1500)
    await at.createTopics({ topics: [{ topic: kafka.topic, numPartitions: partitions }], waitForLeaders: true })
  }

  it('45: halts at a topic that was made anew while nobody read it, and never begins at 0 in silence', async () => {
    await send({ 0: clicks(1, 100), 1: clicks(1, 10) })
    const first = start()
    await recorded(100)
    await recorded(10, 1)
    await first.stop()
    await recreate()
    const told: string[] = []
    const recorder = start(openClickRecord({ store, log: kafka.topic, partitions }), (_, what) => void told.push(what))
    expect(await halted(recorder)).to.have.members([0, 1])
    expect(told).to.include(`partition 0 of ${kafka.topic} is truncated`)
    expect(await send({ 0: clicks(101, 110) }).catch(String)).to.include('it ends at offset 0')
  })

  it('45: halts at one that was made anew and has grown since', async () => {
    await send({ 0: clicks(1, 100) })
    const first = start()
    await recorded(100)
    await first.stop()
    await recreate()
    const fresh = await memoryStore(codec(memoryKeyring()))
    await send(
      { 0: clicks(101, 400) },
      openSink({ ...openClickRecord({ store: fresh, log: kafka.topic, partitions }), logId: record.logId }),
    )
    const recorder = start(openClickRecord({ store, log: kafka.topic, partitions }))
    expect(await halted(recorder), JSON.stringify(recorder.state())).to.deep.equal([0])
    expect(recorder.state().halted[0]?.reason).to.include('entry 100 of spool s')
    expect(await linksIn()).to.deep.equal(numbers(1, 100))
  })

  it('45: halts while it reads, and so does what sends', async () => {
    const sink = openSink()
    await send({ 0: clicks(1, 100), 1: clicks(1, 5) }, sink)
    const recorder = start()
    await recorded(100)
    await recreate()
    const sent = await until(
      () => sink.deliver({ 0: clicks(101, 110) }).then(() => 'sent', String),
      (text) => text.includes('had already reached'),
      20_000,
    )
    expect(sent).to.include('offset 0, but had already reached offset 100')
    expect(await halted(recorder)).to.include(0)
    expect(await linksIn()).to.deep.equal(numbers(1, 100))
  })

  it('46: keeps its place in the group while the event store is away, and goes on', async () => {
    let away = false
    const leaving: EventStore = {
      ...store,
      append: (writes) => (away ? Promise.reject(new StoreUnavailable('away')) : store.append(writes)),
    }
    const sink = openSink()
    const recorder = start(openClickRecord({ store: leaving, log: kafka.topic, partitions }))
    await send({ 0: clicks(1, 10) }, sink)
    await recorded(10)
    const at = await admin()
    const members = async () =>
      (await at.describeGroups([groupOf(kafka.topic, record)])).groups[0]!.members.map(({ memberId }) => memberId)
    const before = await members()
    away = true
    await send({ 0: clicks(11, 5000) }, sink)
    expect(await until(async () => recorder.state().problem, Boolean)).to.include('away')
    // longer than the group waits for a member that is silent
    await sleep(long ? 300_000 : 13_000)
    expect(await members()).to.deep.equal(before)
    expect(recorder.state().connected).to.equal(true)
    away = false
    await recorded(5000)
    expect(await linksIn()).to.deep.equal(numbers(1, 5000))
    expect(recorder.state().problem).to.equal(undefined)
  }).timeout(long ? 400_000 : 60_000)

  it('47: makes the consumer anew within 10 s when it has died for good', async function () {
    needsOwnBroker(this)
    const recorder = start()
    const sink = openSink()
    await send({ 0: clicks(1, 10) }, sink)
    await recorded(10)
    let killed = false
    proxy.answer((kind, answer) => {
      if (kind !== api.heartbeat) return answer
      killed = true
      // GROUP_AUTHORIZATION_FAILED: the client does not try again after it
      const changed = Buffer.from(answer)
      changed.writeInt16BE(30, 12)
      return changed
    })
    await until(
      async () => killed && !recorder.state().connected,
      (dead) => dead,
      15_000,
    )
    expect(killed).to.equal(true)
    proxy.answer()
    await send({ 0: clicks(11, 20) }, sink)
    await recorded(20, 0, 10_000)
    expect(recorder.state()).to.deep.include({ connected: true, problem: undefined })
  })

  it('48: takes each click once while recorders join and leave', async () => {
    const total = long ? 60_000 : 12_000
    const recorders = [start()]
    const sink = openSink()
    let sent = 0
    const sending = (async () => {
      for (; sent < total; sent += 100) {
        await send(
          {
            0: clicks(sent + 1, sent + 100),
            1: clicks(sent + 1, sent + 100),
            2: clicks(sent + 1, sent + 100),
          },
          sink,
        )
        await sleep(60)
      }
    })()
    for (let turn = 0; turn < (long ? 30 : 5); turn++) {
      if (recorders.length < 2 || (recorders.length < 3 && random(2) === 0)) {
        recorders.push(start(openClickRecord({ store, log: kafka.topic, partitions })))
      } else {
        const [leaving] = recorders.splice(random(recorders.length), 1)
        await leaving?.stop()
      }
      await sleep(500 + random(2000))
    }
    await sending
    for (const partition of [0, 1, 2]) {
      await recorded(total, partition, 60_000)
      expect(await linksIn(partition)).to.deep.equal(numbers(1, total))
    }
  }).timeout(long ? 600_000 : 120_000)
})
