import { expect } from 'chai'
import { randomInt } from 'node:crypto'
import type { Connection } from '../../src/postgres/database.ts'
import { urlOf } from '../support/app.ts'
import { type Answer, until } from '../support/client.ts'
import { freshDatabase } from '../support/database.ts'
import { long, longestMs, note, openStage, rounds, spread } from '../support/faults.ts'
import { runCommand, type Service } from '../support/process.ts'

const timed = async <T>(ask: () => Promise<T>) => {
  const began = performance.now()
  const answer = await ask()
  return { answer, ms: performance.now() - began }
}
const location = ({ status, headers }: Answer) => `${status} ${headers.get('Location')}`

/** Visits from a different IP address each time, because requests for missing links are rate limited per address. */
const visit = (service: Service, path: string) =>
  service.visit(path, { 'X-Forwarded-For': [10, ...Array.from({ length: 3 }, () => randomInt(256))].join('.') })

describe('two processes on one database', function () {
  this.timeout(long ? 1_800_000 : 300_000)
  const stage = openStage()
  let connection: Connection
  let settings: Record<string, string>
  let a: Service
  let b: Service
  let key: string
  before(async () => {
    connection = await freshDatabase()
    settings = { DATABASE_URL: urlOf(connection), SECRET: 'a secret for tests only', TRUST_PROXY: '1' }
    ;[a, b] = await Promise.all([
      stage.start({ ...settings, DATA_DIR: await stage.dir() }),
      stage.start({ ...settings, DATA_DIR: await stage.dir() }),
    ])
    ;({ key } = await a.register())
  })
  after(stage.clear)

  const add = async (service: Service, body: object) => {
    const { status, json } = await service.post('/api/url/add', { key, body })
    expect(status).to.equal(200)
    return { id: Number(json['id']), path: `/${String(json['short']).split('/').at(-1)}` }
  }

  /** Creates links in one process and expects them, unchanged, in the other. */
  const expectReadYourWrites = async (count: number) => {
    const times: number[] = []
    let pending = 0
    for (let n = 0; n < count; n++) {
      const url = `https://example.com/${n}?q=${Math.random()}`
      const body = { url, title: `Link ${n}` }
      const [writer, reader] = n % 2 === 0 ? [a, b] : [b, a]
      const { answer: made, ms } = await timed(() => writer.post('/api/url/add', { key, body }))
      times.push(ms)
      expect(made.status).to.equal(200)
      if (made.headers.has('X-Projection-Pending')) pending++
      const read = await reader.get(`/api/url/${made.json['id']}`, { key })
      expect(read.status).to.equal(200)
      // without BASE_URL, each process has its own address
      const path = (address: unknown) => new URL(String(address)).pathname
      const { shorturl, ...details } = read.json['details'] as Record<string, unknown>
      expect(path(shorturl)).to.equal(path(made.json['shorturl']))
      expect(details).to.include({ id: made.json['id'], longurl: url, title: body.title })
    }
    note(`a link is created and readable: ${spread(times)}`)
    // a write waits two seconds for its tables: the machine may have stood still once
    expect(pending, 'writes that were answered before the tables had them').to.be.at.most(1)
  }

  it('return a link from one process as soon as the other has created it', () => expectReadYourWrites(long ? 500 : 60))

  it('return a link from the other process while long transactions stay open, in this database and in another one of the cluster', async () => {
    for (const place of [connection, await freshDatabase()]) {
      const idle = await stage.connect(place)
      await idle.query('create table held (n int); begin; insert into held values (1)')
      expect((await idle.query('select pg_current_xact_id_if_assigned() is not null as writes')).rows).to.deep.equal([
        { writes: true },
      ])
      stage.later(() => idle.query('rollback').catch(() => {}))
    }
    const end = Date.now() + (long ? Math.min(60_000, longestMs) : 0)
    do await expectReadYourWrites(20)
    while (Date.now() < end)
  })

  it('apply a change, a deletion and a new password from the other process within a second', async () => {
    const times: number[] = []
    for (const _ of rounds(5, 100)) {
      const { id, path } = await add(a, { url: 'https://example.com/before' })
      const expectSoon = async (change: () => Promise<Answer>, expected: string) => {
        expect((await change()).status).to.equal(200)
        expect(location(await visit(a, path)), 'where it was written').to.equal(expected)
        const { answer, ms } = await timed(() =>
          until(
            () => visit(b, path),
            (answer) => location(answer) === expected,
          ),
        )
        expect(location(answer), 'in the other process').to.equal(expected)
        times.push(ms)
      }
      expect(location(await visit(b, path))).to.equal('302 https://example.com/before') // now B has cached it
      const update = (body: object) => () =>
        a.put(`/api/url/${id}/update`, { key, body: { url: 'https://example.com/after', ...body } })
      await expectSoon(update({}), '302 https://example.com/after')
      await expectSoon(update({ password: 'open sesame' }), '200 null')
      await expectSoon(update({ password: null }), '302 https://example.com/after')
      await expectSoon(() => a.del(`/api/url/${id}/delete`, { key }), '404 null')
    }
    expect(Math.max(...times)).to.be.below(5000)
    note(`a change is seen by the other process after ${spread(times)}`)
  })

  it('apply it at once when the command line disables or enables an account', async () => {
    const other = await a.register()
    const made = await a.post('/api/url/add', { key: other.key, body: { url: 'https://example.com/' } })
    const path = `/${String(made.json['short']).split('/').at(-1)}`
    const dir = await stage.dir()
    const both = async () => {
      const answers = await Promise.all([a, b].flatMap((at) => [at.get('/api/account', other), visit(at, path)]))
      return answers.map(({ status }) => status)
    }
    const command = async (what: string) => {
      const { code, err } = await runCommand(['account', what, `id:${other.id}`, '--yes'], {
        ...settings,
        DATA_DIR: dir,
      })
      expect(code, err).to.equal(0)
    }
    /** Expects it in both, which read what has changed a moment after the command has ended. */
    const expectBoth = async (...statuses: number[]) =>
      expect(await until(both, (found) => found.join() === statuses.join())).to.deep.equal(statuses)
    await expectBoth(200, 302, 200, 302)
    await command('disable')
    await expectBoth(403, 404, 403, 404)
    await command('enable')
    await expectBoth(200, 302, 200, 302)
  })

  it('accept, return and redirect changes while the projector is stopped', async () => {
    const stranger = (await b.register()).key
    const [changed, deleted, protected_, untouched] = await Promise.all(
      ['changed', 'deleted', 'protected', 'untouched'].map((name) => add(b, { url: `https://example.com/${name}` })),
    )
    for (const service of [a, b])
      for (const { path } of [changed!, deleted!, protected_!, untouched!])
        expect((await visit(service, path)).status).to.equal(302)

    const listed = async (service: Service) => {
      const { urls } = (await service.get('/api/urls?limit=1000', { key })).json['data']
      return (urls as Answer['json'][]).map(({ id, longurl }) => `${id} ${longurl}`)
    }
    const before = await listed(a)
    const holder = await stage.connect(connection)
    await holder.query('begin; select * from read.checkpoints for update')

    const pending = async (ask: () => Promise<Answer>) => {
      const { answer, ms } = await timed(ask)
      expect([answer.status, answer.headers.get('X-Projection-Pending')]).to.deep.equal([200, '1'])
      expect(ms).to.be.within(1900, 15_000)
      return answer
    }
    const inBoth = async (path: string, expected: string) => {
      for (const service of [a, b]) {
        const answer = await until(
          () => visit(service, path),
          (got) => location(got) === expected,
        )
        expect(location(answer), `${path} of process ${service === a ? 'A' : 'B'}`).to.equal(expected)
      }
    }
    const update = ({ id }: { id: number }, body: object) =>
      a.put(`/api/url/${id}/update`, { key, body: { url: 'https://example.com/newer', ...body } })
    const writes = [
      pending(() => update(changed!, {})),
      pending(() => a.del(`/api/url/${deleted!.id}/delete`, { key })),
      pending(() => update(protected_!, { password: 'open sesame' })),
      pending(() => a.post('/api/url/add', { key, body: { url: 'https://example.com/late', custom: 'made-late' } })),
    ]
    const registering = pending(() =>
      a.post('/register', { body: { email: 'late@example.com', password: 'correct horse 1' } }),
    )
    // long before the writers get their responses
    await inBoth(changed!.path, '302 https://example.com/newer')
    await inBoth(deleted!.path, '404 null')
    await inBoth(protected_!.path, '200 null')
    await inBoth('/made-late', '302 https://example.com/late')
    await inBoth(untouched!.path, '302 https://example.com/untouched')
    const made = (await Promise.all(writes)).at(-1)!
    const lateKey = String((await registering).json['api_key'])
    for (const service of [a, b]) {
      const { status, headers, json } = await service.get('/api/account', { key: lateKey })
      const answer = [status, headers.has('Retry-After'), json['params']]
      expect(answer, 'a key of an account that is not projected yet').to.deep.equal([503, true, { what: 'behind' }])
    }

    for (const service of [a, b]) {
      const read = async (id: unknown, as = key) => service.get(`/api/url/${String(id)}`, { key: as })
      const { status, json } = await read(made.json['id'])
      expect(status).to.equal(200)
      expect(json['details']).to.include({ longurl: 'https://example.com/late', alias: 'made-late' })
      expect((await read(changed!.id)).json['details'].longurl).to.equal('https://example.com/newer')
      expect((await read(protected_!.id)).json['details'].password).to.equal(true)
      expect((await read(deleted!.id)).status).to.equal(404)
      for (const id of [made.json['id'], changed!.id]) expect((await read(id, stranger)).status).to.equal(404)
      expect(await listed(service)).to.deep.equal(before) // not projected yet, and no error
    }

    // a process that starts now has missed all notifications
    const newcomer = await stage.start({ ...settings, DATA_DIR: await stage.dir() })
    const answers = [changed!, deleted!, protected_!].map(async ({ path }) => location(await visit(newcomer, path)))
    expect(await Promise.all(answers)).to.deep.equal(['302 https://example.com/newer', '404 null', '200 null'])
    expect((await newcomer.get(`/api/url/${deleted!.id}`, { key })).status).to.equal(404)
    await newcomer.end()

    await holder.query('rollback')
    const newest = `${made.json['id']} https://example.com/late`
    expect(
      await until(
        () => listed(b),
        (list) => list.includes(newest),
      ),
    ).to.include(newest)
    await inBoth('/made-late', '302 https://example.com/late')
    for (const service of [a, b]) {
      const account = async () => (await service.get('/api/account', { key: lateKey })).status
      expect(await until(account, (status) => status !== 503)).to.equal(200)
    }
    await expectReadYourWrites(4)
  })
})
