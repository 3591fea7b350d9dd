import { expect } from 'chai'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createKafkaClient } from '../../src/clicks/kafka/client.ts'
import type { Connection } from '../../src/postgres/database.ts'
import { urlOf } from '../support/app.ts'
import { until } from '../support/client.ts'
import { freshDatabase } from '../support/database.ts'
import { long, note, openStage, randomFrom, repeatable, seed, spread } from '../support/faults.ts'
import { type MadeLink, makeLinks, type Sent, type VisitRequest, visitsTo } from '../support/load.ts'
import type { Service } from '../support/process.ts'
import { type Broker, needsOwnBroker, needsBroker, startBroker } from './broker.ts'
import { clickEvents, expectOnce, recordedClicks } from './clicks.ts'

const statusesOf = (sent: readonly Sent[]) => [...new Set(sent.map(({ status }) => status))]
const between = (sent: readonly Sent[], from: number, to: number) =>
  sent.filter(({ began, ended }) => began >= from && ended <= to).map(({ began, ended }) => ended - began)

describe(`clicks through Kafka (${repeatable})`, function () {
  this.timeout(long ? 900_000 : 400_000)
  const stage = openStage()
  const random = randomFrom(seed)
  const topic = `clicks.${Date.now()}`
  let broker: Broker
  let database: Connection
  let dir: string
  let service: Service
  let key: string
  let links: readonly MadeLink[]
  const visits: Sent<VisitRequest>[] = []

  const settings = () => ({
    DATABASE_URL: urlOf(database),
    SECRET: 'a secret for tests only',
    KAFKA_BROKERS: broker.address,
    KAFKA_TOPIC: topic,
  })
  const start = async (over: Readonly<Record<string, string>> = {}) =>
    (service = await stage.start({ DATA_DIR: dir, ...settings(), ...over }))
  const readiness = async (of = service) =>
    (await of.operator.get('/readyz?of=api')).json['problems'] as readonly string[]
  let inOrder = true
  const exact = async (ms = 240_000) => {
    const { answered } = await expectOnce(service, key, database, visits, { ms, inOrder })
    note(`${answered} answered clicks so far, each counted once${inOrder ? ', and in order' : ''}`)
  }

  before(async function () {
    this.timeout(400_000)
    await needsBroker(this)
    broker = await startBroker()
    database = await freshDatabase()
    dir = await stage.dir()
    await start()
    ;({ key } = await service.register())
    links = await makeLinks(service, key, 8)
  })
  let second: Service | undefined
  afterEach(async function () {
    if (this.currentTest?.state !== 'failed') return
    for (const one of [service, second])
      if (one) note(`${(await readiness(one).catch(String)).toString()}\n${one.output().slice(-6000)}`)
    for (const { stream, type, data } of await clickEvents(database))
      note(`${stream} ${type} ${data.clicks?.length} ${JSON.stringify(data.taken)} ${JSON.stringify(data.upTo)}`)
  })
  after(async () => {
    await stage.clear()
    await broker?.clear()
  })

  it('appear in the statistics, each once', async () => {
    const load = stage.load(service, 20, visitsTo(links, random))
    await load.answers(2000)
    visits.push(...(await load.stop()))
    await exact()
    expect(await until(readiness, ({ length }) => length === 0)).to.deep.equal([])
    const logged = (await clickEvents(database)).map(({ data }) => data).filter(({ clicks }) => clicks)
    for (const { taken } of logged) expect(taken).to.have.all.keys('offset', 'spool', 'seq')
  })

  it('wait in the spool while Kafka is down, and redirects are as fast as before', async function () {
    needsOwnBroker(this)
    const load = stage.load(service, 20, visitsTo(links, random), 10)
    await load.answers(500)
    const [before, memory] = [Date.now(), await rss(service)]
    await sleep(2000)
    const down = Date.now()
    await broker.kill()
    await sleep(long ? 60_000 : 8000)
    const grown = (await rss(service)) - memory
    const problems = await readiness()
    const up = Date.now()
    await broker.start()
    await load.answers(200)
    const sent = await load.stop()
    visits.push(...sent)
    expect(statusesOf(sent)).to.deep.equal([302])
    expect(problems.join()).to.match(/\d+ clicks wait in the spool/)
    note(
      `with Kafka ${spread(between(sent, before, down))}; without ${spread(between(sent, down, up))}; ${grown.toFixed(0)} MiB more`,
    )
    expect(grown).to.be.below(64)
    await exact()
    expect(await until(readiness, ({ length }) => length === 0, 120_000)).to.deep.equal([])
  })

  it('are each counted once when the broker, the process, or both are killed under load', async function () {
    needsOwnBroker(this)
    const rounds = [
      'broker',
      'process',
      'both',
      ...(long ? Array.from({ length: 12 }, () => ['broker', 'process', 'both'][random(3)]!) : []),
    ]
    for (const round of rounds) {
      const load = stage.load(service, 40, visitsTo(links, random))
      await load.answers(800 + random(1500))
      if (round !== 'process') await broker.kill()
      if (round === 'both') await sleep(random(1000))
      if (round !== 'broker') await service.end('SIGKILL')
      else await load.answers(500)
      visits.push(...(await load.stop()))
      if (round !== 'process') await broker.start()
      if (round !== 'broker') await start()
    }
    expect(statusesOf(visits)).to.include.members([302])
    await exact()
  })

  it('wait in the spool of a process that starts while Kafka is down', async function () {
    needsOwnBroker(this)
    await service.end()
    await broker.kill()
    await start()
    const load = stage.load(service, 10, visitsTo(links, random))
    await load.answers(300)
    visits.push(...(await load.stop()))
    await broker.start()
    await exact()
  })

  it('wait for a broker that does not respond, and do not delay the end of a process that is stopped meanwhile', async function () {
    needsOwnBroker(this)
    const load = stage.load(service, 10, visitsTo(links, random), 5)
    await load.answers(200)
    await broker.freeze()
    await sleep(12_000)
    await broker.thaw()
    await load.answers(1000)
    await broker.freeze()
    await sleep(2000)
    const stoppedAt = Date.now()
    const code = await service.end('SIGTERM')
    visits.push(...(await load.stop()))
    await broker.thaw()
    note(`ended after ${Date.now() - stoppedAt} ms`)
    expect(code).to.equal(0)
    expect(Date.now() - stoppedAt).to.be.below(15_000)
    await start()
    await exact()
  })

  it('are counted once by two processes when one is suspended until the group removes it', async () => {
    const other = await stage.start({ DATA_DIR: await stage.dir(), ...settings() })
    inOrder = false // two spools
    second = other
    const loads = [service, other].map((of) => stage.load(of, 10, visitsTo(links, random), 5))
    await Promise.all(loads.map((load) => load.answers(500)))
    const before = (await recordedClicks(database)).length
    other.child.kill('SIGSTOP')
    await sleep(13_000)
    const during = (await recordedClicks(database)).length
    expect(during, 'the other process records').to.be.above(before)
    other.child.kill('SIGCONT')
    await Promise.all(loads.map((load) => load.answers(300)))
    for (const load of loads) visits.push(...(await load.stop()))
    await exact()
    await other.end()
  })

  it('are not lost when Kafka is switched off in the settings, and on again', async () => {
    inOrder = false // two routes
    const follow = async () => {
      const load = stage.load(service, 10, visitsTo(links, random))
      await load.answers(300)
      visits.push(...(await load.stop()))
    }
    await follow()
    await service.end('SIGKILL')
    await start({ KAFKA_BROKERS: '' })
    await follow()
    await service.end('SIGKILL')
    await start()
    await follow()
    await exact()
    expect(await readdir(join(dir, 'spool'))).to.include('kafka')
    expect(await until(readiness, ({ length }) => length === 0)).to.deep.equal([])
  })

  it('halt visibly at a topic that was created again; under another name they continue in new streams', async () => {
    await service.end()
    const admin = createKafkaClient({ brokers: [broker.address], log: () => {} }).admin()
    await admin.connect()
    await admin.deleteTopics({ topics: [topic] })
    await start()
    const gone = `the topic ${topic} no longer exists`
    expect((await until(readiness, (problems) => problems.join().includes(gone))).join()).to.include(gone)
    await service.end()
    await admin.createTopics({ topics: [{ topic, numPartitions: 6 }] })
    await admin.disconnect()
    await start()
    const isHalted = (problems: readonly string[]) =>
      problems.some((text) => /^partition \d of .+ is halted: /.test(text))
    expect(await until(readiness, isHalted, 20_000)).to.satisfy(isHalted)
    expect(service.output()).to.include('is truncated')
    expect((await service.operator.get('/readyz?of=api')).json['ready'], 'links keep redirecting').to.equal(true)
    await service.end()
    await start({ KAFKA_TOPIC: `${topic}.2` })
    const load = stage.load(service, 10, visitsTo(links, random))
    await load.answers(300)
    visits.push(...(await load.stop()))
    await exact()
    const streams = new Set((await clickEvents(database)).map(({ stream }) => stream.replace(/-\d+$/, '')))
    expect([...streams]).to.include.members([`clicks-${topic}`, `clicks-${topic}.2`])
  })
})

/** Resident memory of the process in MiB. */
const rss = async ({ child }: Service) => {
  return Number(/VmRSS:\s+(\d+)/.exec(await readFile(`/proc/${child.pid}/status`, 'utf8'))?.[1]) / 1024
}
