import { expect } from 'chai'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { runningEmbedded } from '../../src/postgres/embedded.ts'
import { type Answer, until } from '../support/client.ts'
import { long, note, openStage, query, randomFrom, repeatable, rounds, seed } from '../support/faults.ts'
import { type CreateRequest, creations, expectLedger } from '../support/ledger.ts'
import {
  type BioRequest,
  expectExactClicks,
  expectExactEntries,
  makeBio,
  makeLinks,
  type Sent,
  type VisitRequest,
  visitsTo,
} from '../support/load.ts'
import type { Service } from '../support/process.ts'

const embedded = async (dir: string) => (await runningEmbedded(dir)) ?? expect.fail('PostgreSQL is not running')
const postmaster = async (dir: string) =>
  Number.parseInt(await readFile(join(dir, 'postgres/data/postmaster.pid'), 'utf8'), 10)
const statusesOf = (sent: readonly Sent[]) => [...new Set(sent.map(({ status }) => status))]

describe(`a service on the embedded database that is killed (${repeatable})`, function () {
  this.timeout(long ? 1_800_000 : 300_000)
  const random = randomFrom(seed)
  const stage = openStage()
  let dir: string
  let service: Service
  let key: string
  const start = async () => (service = await stage.start({ DATA_DIR: dir }))
  before(async () => {
    dir = await stage.dir()
    ;({ key } = await (await start()).register())
  })
  beforeEach(async () => {
    // a test that failed may have left the service stopped
    if (service.child.exitCode !== null || service.child.signalCode !== null) await start()
  })
  after(stage.clear)

  it('counts every redirected click, view of a bio page and click on its entries exactly once after kill -9 under load', async () => {
    const links = await makeLinks(service, key, 5)
    const toBio = await makeBio(service, key, random)
    const visits: Sent<VisitRequest>[] = []
    const bioVisits: Sent<BioRequest>[] = []
    for (const _ of rounds(2, 20)) {
      const load = stage.load(service, 40, visitsTo(links, random))
      const bioLoad = stage.load(service, 10, toBio)
      await load.answers((long ? 2000 : 300) + random(long ? 8000 : 700))
      await service.end('SIGKILL')
      visits.push(...(await load.stop()))
      bioVisits.push(...(await bioLoad.stop()))
      await start()
    }
    expect(statusesOf(visits)).to.have.members([302, undefined])
    expect(statusesOf(bioVisits)).to.have.members([200, 302, undefined])
    await expectExactClicks(service, key, visits)
    await expectExactEntries(service, key, bioVisits)
    note(`${visits.filter(({ status }) => status === 302).length} answered clicks`)
  })

  it('lets exactly as many people through as a link allows, also when it is killed under way', async () => {
    for (const _ of rounds(2, 20)) {
      const most = 40 + random(40)
      const body = { url: 'https://example.com/ticket', max_clicks: most }
      const { short } = (await service.post('/api/url/add', { key, body })).json
      const path = new URL(String(short)).pathname
      const visits = (n: number) => Promise.all(Array.from({ length: n }, () => service.visit(path)))
      const through = (answers: readonly Answer[]) => answers.filter(({ status }) => status === 302).length
      const before = through(await visits(20 + random(20)))
      await service.end('SIGKILL')
      await start()
      let after = 0
      const ended = async () => {
        const answers = await visits(20)
        after += through(answers)
        return answers.every(({ status }) => status === 410)
      }
      expect(await until(ended, Boolean)).to.equal(true)
      expect(before + after).to.equal(most)
    }
  })

  it('restarts PostgreSQL and keeps every acknowledged write when the postmaster is killed during appends', async () => {
    const load = stage.load(service, 8, creations(key))
    for (const _ of rounds(2, 20)) {
      await load.answers(20 + random(60), ({ status }) => status === 200)
      process.kill(await postmaster(dir), 'SIGKILL')
      await load.answers(20, ({ status }) => status === 200)
    }
    const sent = await load.stop()
    const failed = sent.filter(({ status }) => status !== 200)
    expect(failed.filter(({ status, headers }) => status !== 503 || !headers['retry-after'])).to.deep.equal([])
    const { acknowledged } = await expectLedger(service, await embedded(dir), key, sent)
    note(`${acknowledged} acknowledged, ${failed.length} answered 503`)
  })

  it('takes over the orphaned PostgreSQL after kill -9; of two services that start at once, only one succeeds', async () => {
    const load = stage.load(service, 4, creations(key))
    await load.answers(20, ({ status }) => status === 200)
    const orphan = await leaveOrphan(dir, service)
    const sent = await load.stop()
    expect(await query(await embedded(dir), 'select 1 as alive'), 'the orphan serves').to.deep.equal([{ alive: 1 }])

    const began = Date.now()
    const starts = await Promise.allSettled([stage.start({ DATA_DIR: dir }), stage.start({ DATA_DIR: dir })])
    const [next] = starts.flatMap((start) => (start.status === 'fulfilled' ? [start.value] : []))
    const refusals = starts.flatMap((start) => (start.status === 'rejected' ? [String(start.reason)] : []))
    expect(refusals).to.have.length(1)
    expect(refusals[0]).to.include(`${dir} is in use by another linkledger (pid ${next?.child.pid})`)
    expect(Date.now() - began).to.be.below(40_000)
    expect(await postmaster(dir)).not.to.equal(orphan)
    service = next!
    await expectLedger(service, await embedded(dir), key, sent)
  })

  const signals = {
    SIGTERM: () => void service.child.kill('SIGTERM'),
    'SIGINT in its process group, as from Ctrl-C,': () => void process.kill(-service.child.pid!, 'SIGINT'),
  }
  for (const [signal, send] of Object.entries(signals))
    it(`finishes every open request and loses nothing when it receives ${signal} under load`, async () => {
      const links = await makeLinks(service, key, 5)
      const allVisits: Sent<VisitRequest>[] = []
      for (const _ of rounds(1, 10)) {
        const writing = stage.load(service, 8, creations(key))
        const visiting = stage.load(service, 20, visitsTo(links, random))
        await Promise.all([writing.answers(20 + random(80)), visiting.answers(100 + random(400))])
        const ended = once(service.child, 'exit')
        const signalled = Date.now()
        send()
        const [code] = (await ended) as [number | null]
        expect(code).to.equal(0)
        expect(Date.now() - signalled).to.be.below(45_000)
        const [writes, visits]: [Sent<CreateRequest>[], Sent<VisitRequest>[]] = [
          await writing.stop(),
          await visiting.stop(),
        ]

        expect(statusesOf(writes)).to.have.members([200, undefined])
        expect(statusesOf(visits)).to.have.members([302, undefined])
        const unanswered = [...writes, ...visits].filter(
          ({ status, began }) => status === undefined && began < signalled,
        )
        expect(unanswered.map(({ request }) => request.path)).to.deep.equal(
          [],
          'requests from before the signal without a response',
        )

        await start()
        allVisits.push(...visits)
        await expectExactClicks(service, key, allVisits)
        await expectLedger(service, await embedded(dir), key, writes)
      }
    })
})

/** Kills a service in a way that leaves its PostgreSQL running; returns the pid of the postmaster. */
const leaveOrphan = async (dir: string, { child, end }: Service) => {
  const server = await postmaster(dir)
  const parents = new Map(
    execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' })
      .trim()
      .split('\n')
      .map((line) => line.trim().split(/\s+/).map(Number) as [number, number]),
  )
  const keeper = parents.get(server)!
  expect(parents.get(keeper)).to.equal(child.pid)
  child.kill('SIGSTOP')
  for (const [pid, parent] of parents) if (parent === keeper && pid !== server) process.kill(pid, 'SIGKILL')
  process.kill(keeper, 'SIGKILL')
  await end('SIGKILL')
  await until(
    async () => child.signalCode,
    (signal) => signal === 'SIGKILL',
  )
  return server
}
