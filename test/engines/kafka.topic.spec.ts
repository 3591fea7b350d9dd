import { expect } from 'chai'
import kafkajs from 'kafkajs'
import { setTimeout as sleep } from 'node:timers/promises'
import { until } from '../support/client.ts'
import { numbers } from '../support/spool.ts'
import { newMemoryStore } from '../support/writer.ts'
import { clicks, haltedPartitions, partitions, useTopic } from './topic.ts'

describe('the click topic on a real broker', function () {
  this.timeout(300_000)
  const { kafka, record, openRecord, openSink, openAdmin, openProducer, send, startRecorder, linksIn, recorded } =
    useTopic()

  it('is created with its partitions, which keep the order of the clicks', async () => {
    startRecorder()
    await send({ 0: clicks(1, 1200), 2: clicks(1, 10) })
    await recorded(1200)
    await recorded(10, 2)
    expect(await linksIn(0)).to.deep.equal(numbers(1, 1200))
    const { topics } = await (await openAdmin()).fetchTopicMetadata({ topics: [kafka().topic] })
    expect(topics[0]?.partitions).to.have.length(partitions)
  })

  it('has messages with the attributes of a CloudEvent', async () => {
    const { brokers, topic } = kafka()
    await send({ 1: clicks(7, 7) })
    const consumer = new kafkajs.Kafka({ brokers: [...brokers], logLevel: kafkajs.logLevel.NOTHING }).consumer({
      groupId: `g-${topic}`,
    })
    try {
      await consumer.connect()
      await consumer.subscribe({ topic, fromBeginning: true })
      const headers = await new Promise<Record<string, string>>((resolve) => {
        void consumer.run({
          eachMessage: async ({ message }) =>
            resolve(
              Object.fromEntries(Object.entries(message.headers ?? {}).map(([name, value]) => [name, String(value)])),
            ),
        })
      })
      expect(headers).to.include({
        'content-type': 'application/json',
        ce_specversion: '1.0',
        ce_type: 'linkledger.click.v1',
        ce_id: 's:1:7',
        ce_subject: 'link:7',
      })
      expect(headers).to.have.property('ce_time')
      expect(headers['ce_source']).to.match(/^\/linkledger\/log\/./)
    } finally {
      await consumer.disconnect()
    }
  })

  it('is refused when it has another number of partitions, with the setting to change', async () => {
    const { topic } = kafka()
    await (await openAdmin()).createTopics({ topics: [{ topic, numPartitions: 2 }], waitForLeaders: true })
    const recorder = startRecorder()
    const what = `the topic ${topic} has 2 partitions, not 3: set KAFKA_PARTITIONS to 2`
    expect(await until(async () => recorder.state().problem, Boolean, 30_000)).to.include(what)
    const refusal = async () =>
      openSink()
        .deliver({ 0: clicks(1, 1) })
        .catch(String)
    expect(await until(refusal, (text) => String(text).includes(what), 30_000)).to.include(what)
  })

  it('is created with as many copies as the cluster can keep, and reported when more are promised', async () => {
    const checked: string[][] = []
    const onTopicChecked = (found: readonly string[]) => void checked.push([...found])
    const lacking = startRecorder(record(), undefined, { replication: 2, onTopicChecked })
    const what = 'KAFKA_REPLICATION is 2, but Kafka has only 1 running brokers: set KAFKA_REPLICATION to 1'
    expect(await until(async () => lacking.state().problem, Boolean, 30_000)).to.include(what)
    await lacking.stop()
    await send({ 0: clicks(1, 10) })
    startRecorder(record(), undefined, { replication: 2, onTopicChecked })
    await recorded(10)
    expect(checked.at(-1)?.join('\n')).to.match(/^the topic t-.* has 1 of 2 replicas, [^\n]*KAFKA_REPLICATION to 1$/)
    startRecorder(openRecord(), undefined, { onTopicChecked })
    expect(
      await until(
        async () => checked.at(-1),
        (found) => found?.length === 0,
        30_000,
      ),
    ).to.deep.equal([])
  })

  it('is refused when it is compacted, and reported when it keeps clicks too briefly', async () => {
    const { topic } = kafka()
    const admin = await openAdmin()
    await admin.createTopics({
      topics: [
        {
          topic,
          numPartitions: partitions,
          configEntries: [
            { name: 'cleanup.policy', value: 'compact' },
            { name: 'retention.ms', value: '3600000' },
          ],
        },
      ],
    })
    const checked: string[][] = []
    const onTopicChecked = (found: readonly string[]) => void checked.push([...found])
    const recorder = startRecorder(record(), undefined, { onTopicChecked })
    const what = `the topic ${topic} has cleanup.policy compact, which loses clicks: set it to delete`
    expect(await until(async () => recorder.state().problem, Boolean, 30_000)).to.equal(what)
    const configEntries = [
      { name: 'cleanup.policy', value: 'delete' },
      { name: 'retention.ms', value: '3600000' },
    ]
    await admin.alterConfigs({
      validateOnly: false,
      resources: [{ type: kafkajs.ConfigResourceTypes.TOPIC, name: topic, configEntries }],
    })
    await send({ 0: clicks(1, 10) })
    await recorded(10)
    expect(checked.at(-1)?.join()).to.include('deletes clicks after 1.0 hours').and.to.include('set retention.ms')
  })

  it('may hold messages that are not clicks, which are skipped; a newer format version stops the recorder', async () => {
    const sink = openSink()
    await send({ 0: clicks(1, 2) }, sink)
    const producer = await openProducer()
    const write = (value: string) => producer.send({ topic: kafka().topic, messages: [{ partition: 0, value }] })
    await write('no click')
    await write('{"v":1,"spool":"s"}')
    await send({ 0: clicks(1, 9) }, openSink({ ...record(), logId: 'of another installation' }))
    await send({ 0: clicks(3, 4) }, sink)
    const recorder = startRecorder()
    await recorded(4)
    await write('{"v":2,"spool":"s","seq":5}')
    expect(await until(async () => recorder.state().problem, Boolean, 30_000)).to.include('to a version that reads it')
    await send({ 0: clicks(6, 6) }, sink)
    await sleep(500)
    expect(await linksIn()).to.deep.equal(numbers(1, 4))
  })

  it('halts one partition at an invalid message of ours, until that message is deleted', async () => {
    const sink = openSink()
    await send({ 0: clicks(1, 5) }, sink)
    const producer = await openProducer()
    const value = JSON.stringify({ v: 1, log: record().logId, spool: 's', seq: 6, click: {} })
    await producer.send({ topic: kafka().topic, messages: [{ partition: 0, value }] })
    await send({ 0: clicks(7, 10) }, sink)
    const recorder = startRecorder()
    expect(await haltedPartitions(recorder)).to.deep.equal([0])
    expect(recorder.state().halted[0]?.reason).to.include('the message at offset 5 has format version 1 but does not')
    await send({ 1: clicks(1, 9) }, sink)
    await recorded(9, 1)
    expect(await linksIn()).to.deep.equal(numbers(1, 5))
    const admin = await openAdmin()
    await admin.fetchTopicOffsets(kafka().topic)
    await admin.deleteTopicRecords({ topic: kafka().topic, partitions: [{ partition: 0, offset: '6' }] })
    await recorded(9)
    expect(await linksIn()).to.deep.equal([...numbers(1, 5), ...numbers(7, 10)])
    expect(recorder.state()).to.deep.include({ halted: [], deleted: [{ partition: 0, messages: 1, upTo: 5 }] })
  })

  const recreate = async () => {
    const { topic } = kafka()
    const admin = await openAdmin()
    await admin.deleteTopics({ topics: [topic] })
    await until(
      () => admin.listTopics(),
      (topics) => !topics.includes(topic),
      30_000,
    )
    await sleep(1500)
    await admin.createTopics({ topics: [{ topic, numPartitions: partitions }], waitForLeaders: true })
  }

  it('halts the recorder when it was created again while no recorder was running', async () => {
    await send({ 0: clicks(1, 100), 1: clicks(1, 10) })
    const first = startRecorder()
    await recorded(100)
    await recorded(10, 1)
    await first.stop()
    await recreate()
    const problems: string[] = []
    const recorder = startRecorder(openRecord(), (_, what) => void problems.push(what))
    await until(
      () => haltedPartitions(recorder),
      ({ length }) => length === 2,
      60_000,
    )
    expect(await haltedPartitions(recorder)).to.have.members([0, 1])
    expect(problems).to.include(`partition 0 of ${kafka().topic} is truncated`)
    expect(await send({ 0: clicks(101, 110) }).catch(String)).to.include('it ends at offset 0')
  })

  it('halts the recorder when it was created again and has grown since', async () => {
    await send({ 0: clicks(1, 100) })
    const first = startRecorder()
    await recorded(100)
    await first.stop()
    await recreate()
    const other = openRecord(await newMemoryStore())
    await send({ 0: clicks(101, 400) }, openSink({ ...other, logId: record().logId }))
    const recorder = startRecorder(openRecord())
    expect(await haltedPartitions(recorder), JSON.stringify(recorder.state())).to.deep.equal([0])
    expect(recorder.state().halted[0]?.reason).to.include('entry 100 of spool s')
    expect(await linksIn()).to.deep.equal(numbers(1, 100))
  })

  it('halts a recorder and a sink that are using it while it is created again', async () => {
    const sink = openSink()
    await send({ 0: clicks(1, 100), 1: clicks(1, 5) }, sink)
    const recorder = startRecorder()
    await recorded(100)
    await recreate()
    const sent = await until(
      () => sink.deliver({ 0: clicks(101, 110) }).then(() => 'sent', String),
      (text) => text.includes('had already reached'),
      60_000,
    )
    expect(sent).to.include('offset 0, but had already reached offset 100')
    expect(await haltedPartitions(recorder)).to.include(0)
    expect(await linksIn()).to.deep.equal(numbers(1, 100))
  })
})
