import { execFileSync, spawnSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { setTimeout as sleep } from 'node:timers/promises'
import { type EmbeddedConnection, startEmbedded } from '../../src/postgres/embedded.ts'
import { urlOf } from '../support/app.ts'
import { type Answer, until } from '../support/client.ts'
import { freshDatabase } from '../support/database.ts'
import { openEventStore } from '../support/engine.ts'
import { long, longestMs, note, openStage, randomFrom, repeatable, rounds, seed, spread } from '../support/faults.ts'
import { type CreateRequest, creations, expectLedger } from '../support/ledger.ts'
import { expectExactClicks, makeLinks, type Sent, visitsTo, type LoadRequest } from '../support/load.ts'

const secret = { SECRET: 'a secret for tests only' }
/** Asks until the service can answer: its pools open their connections one by one. */
const patiently = (ask: () => Promise<Answer>) => until(ask, ({ status }) => status !== 503)
const failures = (sent: readonly Sent[], good: number) =>
  sent
    .filter(({ status, headers }) => status !== good && !(status === 503 && headers['retry-after']))
    .map(({ request, status, text }) => `${request.method} ${request.path} ${status} ${text.slice(0, 200)}`)

describe(`failures of PostgreSQL (${repeatable})`, function () {
  this.timeout(long ? 1_800_000 : 300_000)
  const random = randomFrom(seed)
  const stage = openStage()
  afterEach(stage.clear)

  const startOn = async (connection: EmbeddedConnection, settings: Readonly<Record<string, string>> = {}) => {
    // as long as a service waits for a connection where its operator does not say more
    const common = { ...secret, DATABASE_URL: urlOf(connection, 2), DATA_DIR: await stage.dir() }
    const service = await stage.start({ ...common, ...settings })
    await until(
      () => service.operator.get('/readyz?of=api'),
      ({ status }) => status === 200,
    )
    return service
  }

  it('carries out each request completely or returns 503 while connections are cut at random moments', async () => {
    const connection = (await freshDatabase()) as EmbeddedConnection
    const service = await startOn(connection)
    const { key } = await service.register()
    const links = await makeLinks(service, key, 5)
    const create = creations(key)
    const writing = stage.load<CreateRequest>(service, 6, create)
    const editing = stage.load<LoadRequest>(service, 2, (n) => ({
      method: 'PUT',
      path: `/api/url/${links[n % 2]!.id}/update`,
      key,
      body: { url: `https://example.com/edited/${n}` },
    }))
    const visiting = stage.load(service, 8, visitsTo(links, random), 10)

    const killer = await stage.connect(connection)
    let cut = 0
    const end = Date.now() + longestMs
    while (cut < 25 || (long && cut < 2000 && Date.now() < end)) {
      await sleep(random(40))
      const { rows } = await killer.query<{ pid: number }>(
        `select pid from pg_stat_activity
         where datname = current_database() and pid <> pg_backend_pid() and (state <> 'idle' or $1) order by pid`,
        [random(6) === 0], // mostly a busy connection, sometimes an idle one: the listener's or the projector's
      )
      const victim = rows[random(rows.length)]
      if (victim) cut += (await killer.query('select pg_terminate_backend($1)', [victim.pid])).rowCount ?? 0
    }
    await writing.answers(20, ({ status }) => status === 200)
    const [writes, edits, visits] = [await writing.stop(), await editing.stop(), await visiting.stop()]

    for (const sent of [writes, edits]) expect(failures(sent, 200).join('\n')).to.equal('')
    expect(failures(visits, 302).join('\n')).to.equal('')
    const { acknowledged } = await expectLedger(service, connection, key, writes)
    await expectExactClicks(service, key, visits)
    expect(service.child.exitCode).to.equal(null)
    note(`${cut} connections cut, ${acknowledged} links made, ${writes.length - acknowledged} answered 503`)
  })

  it('returns 503 soon while all connections of the API are taken, and redirects are not affected', async () => {
    const connection = await freshDatabase()
    const service = await startOn(connection as EmbeddedConnection)
    const { key } = await service.register()
    const links = await makeLinks(service, key, 40)
    const [cached, uncached] = [links.slice(0, 20), links.slice(20)]
    for (const { alias } of cached) expect((await service.visit(`/${alias}`)).status).to.equal(302)

    // lists need this table, redirects do not
    const holder = await stage.connect(connection)
    const { rows } = await holder.query<{ name: string }>(
      `select oid::regclass::text as name from pg_class where relname like 'link\\_counts%' and relkind = 'r'`,
    )
    expect(rows).to.have.length(1)
    await holder.query(`begin; lock table ${rows[0]!.name} in access exclusive mode`)

    const began = Date.now()
    const lists = stage.load<LoadRequest>(service, 200, () => ({ method: 'GET', path: '/api/urls', key }))
    await lists.answers(150, undefined, 10_000)
    // soon: the pool refuses after two seconds, a statement would wait for ten
    const soon = 8000
    expect(Date.now() - began).to.be.below(soon)
    const visiting = stage.load(service, 4, visitsTo(cached, random))
    await visiting.answers(200)
    const visits = await visiting.stop()
    const [...first] = await Promise.all(uncached.map(({ alias }) => service.visit(`/${alias}`)))
    await holder.query('rollback')
    const slow = await lists.stop()

    const firstEnded = Math.min(...slow.map(({ ended }) => ended))
    const refused = slow.filter(({ began: at, status }) => status === 503 && at < firstEnded)
    expect(refused).to.have.length.of.at.least(150)
    for (const { began: at, ended, headers } of refused) {
      expect(ended - at).to.be.below(soon)
      expect(headers['retry-after']).to.match(/^\d+$/)
    }
    expect(failures(slow, 200).join('\n')).to.equal('')
    expect(new Set([...visits, ...first].map(({ status }) => status))).to.deep.equal(new Set([302]))
    const times = visits.map(({ began: at, ended }) => ended - at)
    expect(times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.95)]).to.be.below(2000)
    // a connection that is opened now has two seconds, too
    const mended = await until(
      () => service.get('/api/urls', { key }),
      ({ status }) => status === 200,
    )
    expect(mended.status).to.equal(200)
    note(`${refused.length} lists refused, redirects meanwhile: ${spread(times)}`)
  })

  const places = {
    'with the log in it': async () => ({}),
    'with the log in an EventStoreDB': async () => {
      const { settings, close } = await openEventStore()
      stage.later(close)
      return settings
    },
  }
  for (const [where, place] of Object.entries(places))
    it(`redirects cached links and returns 503, never 404, for others while PostgreSQL (${where}) is stopped, and recovers by itself`, async () => {
      const dir = await stage.dir()
      const startPostgres = () => startEmbedded({ dir, log: () => {} })
      let postgres = await startPostgres()
      stage.later(() => postgres.stop())
      const service = await startOn(postgres.connection, await place())
      const { key } = await service.register()
      const links = await makeLinks(service, key, 20)
      const [known, spare, unknown] = [links.slice(0, 5), links[5], links.slice(6)]
      expect((await service.visit('/never-made')).status).to.equal(404)
      const visiting = stage.load(service, 4, visitsTo(known, random), long ? 0 : 20)
      for (const { id } of known) await visiting.answers(1, ({ request }) => request.link === id)

      for (const _ of rounds(1, 10)) {
        await postgres.stop()
        await until(
          () => service.operator.get('/readyz?of=api'),
          ({ status }) => status === 503,
        )
        expect((await service.operator.get('/readyz?of=api')).json).to.deep.include({ ready: false })
        expect((await service.get('/healthz')).status).to.equal(200)
        await visiting.answers(50)
        for (const { alias } of unknown) {
          const { status, headers } = await service.visit(`/${alias}`)
          expect(status).to.equal(503)
          expect(headers.get('Cache-Control')).to.include('no-store')
        }
        for (const path of ['/never-made', '/nor-this']) expect((await service.visit(path)).status).to.equal(503)
        const body = { url: 'https://example.com/' }
        const asked = await Promise.all([
          service.post('/api/url/add', { key, body }),
          // these need little but the log, so they may succeed when the log is elsewhere
          ...(where === 'with the log in it'
            ? [
                service.put(`/api/url/${spare!.id}/update`, { key, body }),
                service.del(`/api/url/${spare!.id}/delete`, { key }),
              ]
            : []),
          service.get('/api/urls', { key }),
          service.get('/api/account', { key }),
          service.post('/register', { body: { email: 'bob@example.com', password: 'correct horse 1' } }),
        ])
        for (const { status, headers, json } of asked) {
          expect([status, json['error']]).to.deep.equal([503, 1])
          expect(headers.get('Retry-After')).to.match(/^\d+$/)
        }

        postgres = await startPostgres()
        const mended = await until(
          () => service.post('/api/url/add', { key, body }),
          ({ status }) => status === 200,
        )
        expect(mended.status).to.equal(200)
        // the process is ready before the clicks that wait in its spool are relayed. Visitors without a pause leave the
        // engine little of the processors, where others work on them, too
        const ready = await until(
          () => service.operator.get('/readyz?of=api'),
          ({ status, json }) => status === 200 && json['problems'].length === 0,
          180_000,
        )
        expect(ready.json).to.deep.include({ ready: true, problems: [] })
        expect((await patiently(() => service.visit(`/${unknown[0]!.alias}`))).status).to.equal(302)
        unknown.shift()
        expect((await patiently(() => service.visit('/never-made'))).status).to.equal(404)
      }
      const visits = await visiting.stop()
      expect(new Set(visits.map(({ status }) => status))).to.deep.equal(new Set([302]))
      await expectExactClicks(service, key, visits)
    })

  it('answers scans of QR codes and requests for their images from memory while PostgreSQL is stopped, and counts each scan', async () => {
    const dir = await stage.dir()
    let postgres = await startEmbedded({ dir, log: () => {} })
    stage.later(() => postgres.stop())
    const service = await startOn(postgres.connection)
    const { key } = await service.register()
    const makeCode = async (url: string) => {
      const { json } = await service.post('/api/qr/add', { key, body: { type: 'link', data: url } })
      return { id: json['id'] as number, path: new URL(String(json['link'])).pathname, url }
    }
    const { json: link } = await service.post('/api/url/add', { key, body: { url: 'https://example.com/linked' } })
    const known = [await makeCode('https://example.com/0'), await makeCode('https://example.com/1')]
    const [linked, other] = [await makeCode(String(link['short'])), await makeCode('https://example.com/2')]
    let scans = 0
    const expectServed = async () => {
      for (const { path, url } of known) {
        const scan = await service.visit(`${path}/go`)
        expect([scan.status, scan.headers.get('Location')]).to.deep.equal([302, url])
        for (const name of [path, `${path}.svg`]) expect((await service.visit(name)).status, name).to.equal(200)
      }
      const { pathname, search } = new URL((await service.visit(`${linked.path}/go`)).headers.get('Location') ?? '')
      expect((await service.visit(pathname + search)).headers.get('Location')).to.equal('https://example.com/linked')
      scans++
    }
    await expectServed()

    await postgres.stop()
    await until(
      () => service.operator.get('/readyz?of=api'),
      ({ status }) => status === 503,
    )
    for (let n = 0; n < 10; n++) await expectServed()
    // a size that was not requested before is drawn without PostgreSQL, too
    expect((await service.visit(`${known[0]!.path}.png?size=128`)).status).to.equal(200)
    for (const path of [`${other.path}/go`, other.path, '/qr/never-made/go'])
      expect((await service.visit(path)).status, path).to.equal(503)

    postgres = await startEmbedded({ dir, log: () => {} })
    expect((await patiently(() => service.visit(`${other.path}/go`))).status).to.equal(302)
    const paths = [...[...known, linked].map(({ id }) => `/api/qr/${id}`), `/api/url/${link['id']}`]
    const counted = () =>
      Promise.all(paths.map(async (path) => (await service.get(path, { key })).json['data']?.clicks))
    expect(await until(counted, (all) => all.every((n) => n === scans))).to.deep.equal(paths.map(() => scans))
  })

  it('returns 503 within seconds and redirects cached links while PostgreSQL hangs, and recovers with it', async () => {
    const dir = await stage.dir()
    const postgres = await startEmbedded({ dir, log: () => {} })
    stage.later(() => postgres.stop())
    const service = await startOn(postgres.connection)
    const { key } = await service.register()
    const links = await makeLinks(service, key, 10)
    const [known, unknown] = [links.slice(0, 5), links.slice(5)]
    const visiting = stage.load(service, 4, visitsTo(known, random), long ? 5 : 40)
    for (const { id } of known) await visiting.answers(1, ({ request }) => request.link === id)

    // the postmaster first: it would start a process for a connection that is opened meanwhile
    const server = [await postmasterOf(dir)]
    const signal = (name: NodeJS.Signals) => server.forEach((pid) => process.kill(pid, name))
    stage.later(() => spawnSync('kill', ['-CONT', ...server.map(String)]))
    signal('SIGSTOP')
    server.push(...childrenOf(server[0]!))
    signal('SIGSTOP')
    const stopped = Date.now()
    const body = { url: 'https://example.com/' }
    const asked = await Promise.all([
      service.post('/api/url/add', { key, body }),
      service.put(`/api/url/${links[0]!.id}/update`, { key, body }),
      service.get('/api/urls', { key }),
      service.get('/api/account', { key }),
      ...unknown.map(({ alias }) => service.visit(`/${alias}`)),
    ])
    const took = Date.now() - stopped
    for (const { status, headers, text } of asked) {
      expect(status, text).to.equal(503)
      expect(headers.get('Retry-After')).to.match(/^\d+$/)
    }
    expect(took).to.be.below(10_000) // each gives up after five
    // wait until every connection that was in use has timed out
    await sleep(Math.max(0, (long ? 20_000 : 13_000) - (Date.now() - stopped)))
    await visiting.answers(50)
    signal('SIGCONT')

    const mended = await until(
      () => service.post('/api/url/add', { key, body }),
      ({ status }) => status === 200,
    )
    expect(mended.status).to.equal(200)
    // no connection in the pools may return the response to an earlier query
    const read = async (id: number) => (await patiently(() => service.get(`/api/url/${id}`, { key }))).json
    const reads = await Promise.all(links.map(({ id }) => read(id)))
    expect(reads.map(({ details }) => details.id)).to.deep.equal(links.map(({ id }) => id))
    for (const { alias } of unknown)
      expect((await patiently(() => service.visit(`/${alias}`))).status, alias).to.equal(302)
    const visits = await visiting.stop()
    expect(new Set(visits.map(({ status }) => status))).to.deep.equal(new Set([302]))
    const times = visits.map(({ began: at, ended }) => ended - at)
    note(`503 after ${took} ms, redirects meanwhile: ${spread(times)}`)
    await expectExactClicks(service, key, visits)
  })
})

/** Returns the process id of the postmaster of an embedded PostgreSQL. */
const postmasterOf = async (dir: string) =>
  Number.parseInt(await readFile(join(dir, 'postgres/data/postmaster.pid'), 'utf8'), 10)

const childrenOf = (server: number) => {
  const all = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' }).trim().split('\n')
  const children = all.map((line) => line.trim().split(/\s+/).map(Number)).filter(([, parent]) => parent === server)
  return children.map(([pid = 0]) => pid)
}
