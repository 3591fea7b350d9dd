import { expect } from 'chai'
import { setTimeout as sleep } from 'node:timers/promises'
import { groupOf } from '../../src/clicks/kafka/topic.ts'
import { type EventStore, StoreUnavailable } from '../../src/events/store.ts'
import { until } from '../support/client.ts'
import { long, note, randomFrom, repeatable, seed } from '../support/faults.ts'
import { numbers } from '../support/spool.ts'
import { needsOwnBroker } from './broker.ts'
import { api } from './proxy.ts'
import { clicks, useTopic } from './topic.ts'

describe(`recording from a real broker (${repeatable})`, function () {
  this.timeout(300_000)
  const random = randomFrom(seed)
  const topic = useTopic()
  const { kafka, proxy, store, record, openRecord, openSink, openAdmin, send, startRecorder, linksIn, recorded } = topic

  /** Deletes the messages of partition 0 below this offset, as retention does. */
  const deleteUpTo = async (offset: number) => {
    const admin = await openAdmin()
    await admin.fetchTopicOffsets(kafka().topic)
    await admin.deleteTopicRecords({ topic: kafka().topic, partitions: [{ partition: 0, offset: String(offset) }] })
  }
  const missing = async () =>
    (await topic.eventsIn(0)).filter(({ type }) => type === 'ClicksMissing').map(({ data }) => data)

  it('records clicks once when the broker stored them but its response was lost', async function () {
    needsOwnBroker(this)
    startRecorder()
    const sink = openSink()
    let cuts = 0
    proxy().rewriteResponses((kind, response) => {
      if (kind !== api.produce || random(10) > 2) return response
      cuts++
      return 'cut'
    })
    for (let from = 1; from <= 2000; from += 50) await send({ 0: clicks(from, from + 49) }, sink)
    proxy().rewriteResponses()
    await recorded(2000)
    await sleep(500)
    expect(await linksIn()).to.deep.equal(numbers(1, 2000))
    const offsets = await (await openAdmin()).fetchTopicOffsets(kafka().topic)
    const messages = Number(offsets.find(({ partition }) => partition === 0)?.high)
    expect(messages, 'messages in the topic').to.be.above(2000)
    note(`${cuts} responses lost, ${messages - 2000} messages stored twice`)
  })

  it('resumes after the last message in the topic, recorded or not', async () => {
    const first = startRecorder()
    await send({ 0: clicks(1, 100), 1: clicks(1, 10) })
    await recorded(100)
    await first.stop()
    await send({ 0: [...clicks(101, 2000), ...clicks(1, 500, 'other')], 1: clicks(1, 500, 'other') })
    // another process that was started after the first one was killed
    const sink = openSink(openRecord())
    expect(await sink.resumeAfter('s')).to.deep.equal({ 0: 2000, 1: 10, 2: 0 })
    expect(await sink.resumeAfter('other')).to.deep.equal({ 0: 500, 1: 500, 2: 0 })
    expect(await sink.resumeAfter('unknown')).to.deep.equal({ 0: 0, 1: 0, 2: 0 })
    startRecorder()
    await recorded(2500)
    await recorded(510, 1)
    expect(await openSink(openRecord()).resumeAfter('s')).to.deep.equal({ 0: 2000, 1: 10, 2: 0 })
    const { groups } = await (await openAdmin()).listGroups()
    const ours = groups.map(({ groupId }) => groupId).filter((group) => group.startsWith(kafka().topic))
    expect(ours, 'nothing is left of the groups that read').to.deep.equal([groupOf(kafka().topic, record())])
  })

  it('sends unrecorded messages again when the topic cannot be read', async function () {
    needsOwnBroker(this)
    const sink = openSink()
    await send({ 0: clicks(1, 100) }, sink)
    proxy().rewriteResponses((kind, response) => (kind === api.join ? 'cut' : response))
    expect(await openSink(openRecord()).resumeAfter('s')).to.deep.equal({ 0: 0, 1: 0, 2: 0 })
    proxy().rewriteResponses()
    await send({ 0: clicks(1, 110) }, sink)
    startRecorder()
    await recorded(110)
    expect(await linksIn()).to.deep.equal(numbers(1, 110))
  })

  it('continues after a crash between two appends, and after an append with an unknown outcome', async () => {
    await send({ 0: clicks(1, 5000) })
    const crashes = [0, 1, 2].map(() => random(2) === 0)
    for (const isStored of crashes) {
      let appends = 0
      const dying: EventStore = {
        ...store(),
        append: async (writes) => {
          if (writes[0]?.events[0]?.type !== 'LinkClicked' || appends++ < 1) return store().append(writes)
          if (isStored && appends === 2) await store().append(writes)
          throw new StoreUnavailable('the process is gone')
        },
      }
      const recorder = startRecorder(openRecord(dying))
      expect(await until(async () => recorder.state().problem, Boolean, 30_000)).to.include('the process is gone')
      await recorder.stop()
    }
    startRecorder()
    await recorded(5000)
    expect(await linksIn()).to.deep.equal(numbers(1, 5000))
  })

  it('records nothing twice when everything is read again from the first offset', async () => {
    await send({ 0: clicks(1, 1000) })
    const first = startRecorder()
    await recorded(1000)
    await first.stop()
    // a recorder that does not know where to continue starts at the first offset
    const again = startRecorder({ ...openRecord(), lastMessage: async () => undefined })
    await send({ 0: clicks(1001, 1010) })
    await recorded(1010)
    expect(await linksIn()).to.deep.equal(numbers(1, 1010))
    expect(again.state().halted).to.deep.equal([])
  })

  it('records ClicksMissing for messages that Kafka deleted before they were recorded', async () => {
    const sink = openSink()
    await send({ 0: clicks(1, 100) }, sink)
    const first = startRecorder()
    await recorded(100)
    await first.stop()
    await send({ 0: clicks(101, 200) }, sink)
    await deleteUpTo(150)
    const problems: string[] = []
    const second = startRecorder(openRecord(), (_, what) => void problems.push(what))
    await recorded(150)
    expect(await linksIn()).to.deep.equal([...numbers(1, 100), ...numbers(151, 200)])
    const [offsets, entries, ...more] = await missing()
    expect(offsets).to.deep.include({ from: 100, to: 149, offsets: true })
    expect(entries).to.deep.include({ spool: 's', from: 101, to: 150 })
    expect(more).to.deep.equal([])
    expect(second.state().deleted).to.deep.equal([{ partition: 0, messages: 50, upTo: 149 }])
    expect(problems).to.deep.equal(['clicks are lost'])
  })

  it('records ClicksMissing when retention overtakes a running recorder and leaves no message', async () => {
    let isDown = false
    const failing: EventStore = {
      ...store(),
      append: (writes) => (isDown ? Promise.reject(new StoreUnavailable('unavailable')) : store().append(writes)),
    }
    const sink = openSink()
    const recorder = startRecorder(openRecord(failing))
    await send({ 0: clicks(1, 100) }, sink)
    await recorded(100)
    isDown = true
    await send({ 0: clicks(101, 110) }, sink)
    await until(async () => recorder.state().problem, Boolean, 30_000)
    await send({ 0: clicks(111, 5000) }, sink)
    await deleteUpTo(5000)
    isDown = false
    await until(missing, ({ length }) => length > 0, 60_000)
    // what the consumer had received before is recorded
    const received = (await linksIn()).length
    expect(received).to.be.within(110, 4999)
    expect(await missing()).to.have.length(1)
    expect((await missing())[0]).to.deep.include({ from: received, to: 4999, offsets: true })
    await send({ 0: clicks(5001, 5010) }, sink)
    await recorded(received + 10)
    expect(recorder.state()).to.deep.include({ halted: [], problem: undefined })
  })

  it('does not count repetitions as lost that Kafka deleted after they were read', async () => {
    const sink = openSink()
    await send({ 0: clicks(1, 100) }, sink)
    const first = startRecorder()
    await recorded(100)
    await send({ 0: clicks(51, 100) }, sink)
    const admin = await openAdmin()
    const committed = async () => {
      const [group] = await admin.fetchOffsets({ groupId: groupOf(kafka().topic, record()), topics: [kafka().topic] })
      return group?.partitions.find(({ partition }) => partition === 0)?.offset
    }
    expect(await until(committed, (offset) => offset === '150', 30_000)).to.equal('150')
    await first.stop()
    await send({ 0: clicks(101, 110) }, sink)
    await deleteUpTo(150)
    const second = startRecorder(openRecord())
    await recorded(110)
    expect(await missing()).to.deep.equal([])
    expect(second.state().deleted).to.deep.equal([])
  })

  it('keeps its place in the consumer group while the event store is unavailable', async () => {
    let isDown = false
    const failing: EventStore = {
      ...store(),
      append: (writes) => (isDown ? Promise.reject(new StoreUnavailable('unavailable')) : store().append(writes)),
    }
    const sink = openSink()
    const recorder = startRecorder(openRecord(failing))
    await send({ 0: clicks(1, 10) }, sink)
    await recorded(10)
    const admin = await openAdmin()
    const members = async () =>
      (await admin.describeGroups([groupOf(kafka().topic, record())])).groups[0]!.members.map(
        ({ memberId }) => memberId,
      )
    const before = await members()
    isDown = true
    await send({ 0: clicks(11, 5000) }, sink)
    expect(await until(async () => recorder.state().problem, Boolean, 30_000)).to.include('unavailable')
    // longer than the group waits for a member without heartbeats
    await sleep(long ? 300_000 : 13_000)
    expect(await members()).to.deep.equal(before)
    expect(recorder.state().connected).to.equal(true)
    isDown = false
    await recorded(5000)
    expect(await linksIn()).to.deep.equal(numbers(1, 5000))
    expect(recorder.state().problem).to.equal(undefined)
  }).timeout(long ? 400_000 : 120_000)

  it('replaces a consumer that has stopped for good, and goes on recording', async function () {
    needsOwnBroker(this)
    const recorder = startRecorder()
    const sink = openSink()
    await send({ 0: clicks(1, 10) }, sink)
    await recorded(10)
    let killed = false
    proxy().rewriteResponses((kind, response) => {
      if (kind !== api.heartbeat) return response
      killed = true
      // GROUP_AUTHORIZATION_FAILED: the client does not retry after it
      const changed = Buffer.from(response)
      changed.writeInt16BE(30, 12)
      return changed
    })
    await until(
      async () => killed && !recorder.state().connected,
      (isDead) => isDead,
      30_000,
    )
    expect(killed).to.equal(true)
    proxy().rewriteResponses()
    await send({ 0: clicks(11, 20) }, sink)
    await recorded(20, 0)
    expect(recorder.state()).to.deep.include({ connected: true, problem: undefined })
  })

  it('records each click once while recorders join and leave the group', async () => {
    const total = long ? 60_000 : 12_000
    const recorders = [startRecorder()]
    const sink = openSink()
    const sending = (async () => {
      for (let sent = 0; sent < total; sent += 100) {
        const part = clicks(sent + 1, sent + 100)
        await send({ 0: part, 1: part, 2: part }, sink)
        await sleep(60)
      }
    })()
    for (let turn = 0; turn < (long ? 30 : 5); turn++) {
      if (recorders.length < 2 || (recorders.length < 3 && random(2) === 0)) {
        recorders.push(startRecorder(openRecord()))
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
  }).timeout(long ? 600_000 : 240_000)
})
