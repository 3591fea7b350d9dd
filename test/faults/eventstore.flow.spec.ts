import { expect } from 'chai'
import { setTimeout as sleep } from 'node:timers/promises'
import { startTestApp, type TestApp } from '../support/app.ts'
import { until } from '../support/client.ts'
import { freshDatabase } from '../support/database.ts'
import { type Double, type Fault, startDouble } from '../support/eventstoredb.ts'
import { long, openStage, query, rounds } from '../support/faults.ts'
import { listed } from '../support/load.ts'
import { server } from '../support/server.ts'

const timed = async <T>(work: Promise<T>) => {
  const began = Date.now()
  const outcome = await work
  return { outcome, ms: Date.now() - began }
}
/** Makes the first append of an event of each type fail with its fault. */
const failOnce = (double: Double, faults: readonly (readonly [type: string, fault: Fault])[]) => {
  const left = [...faults]
  double.fail(({ types }) => {
    const at = left.findIndex(([meant]) => types.includes(meant))
    return at < 0 ? undefined : left.splice(at, 1)[0]![1]
  })
}

describe('a service whose EventStoreDB', function () {
  this.timeout(300_000)
  const stage = openStage()
  afterEach(stage.clear)

  describe('stores an event and loses the answer', () => {
    let double: Double
    let app: TestApp
    let key: string
    before(async () => {
      double = await startDouble()
      app = await startTestApp({ EVENTSTORE_URL: double.url })
      key = (await app.register()).key
    })
    after(async () => {
      await app.close()
      await double.close()
    })
    afterEach(() => double.fail(() => undefined))

    const cases = [
      ['claim', [['NameClaimed', { stored: 'cut' }]]],
      ['link', [['LinkCreated', { stored: 'cut' }]]],
      ['claim, without responding', [['NameClaimed', { stored: 'unanswered' }]]],
      ['link, without responding', [['LinkCreated', { stored: 'unanswered' }]]],
      [
        'claim and of the link, by cutting the connection three times',
        [
          ['NameClaimed', { stored: 'cut' }],
          ['LinkCreated', { stored: 'cut' }],
          ['LinkCreated', { stored: 'cut' }],
        ],
      ],
      [
        'claim and of the link, without responding',
        [
          ['NameClaimed', { stored: 'unanswered' }],
          ['LinkCreated', { stored: 'unanswered' }],
        ],
      ],
    ] as const
    for (const [n, [what, faults]] of cases.entries())
      it(`of the ${what}: one link is created and the response is 200`, async () => {
        failOnce(double, faults)
        const alias = `lost-${n}`
        const { outcome, ms } = await timed(
          app.post('/api/url/add', { key, body: { url: 'https://example.com/', custom: alias } }),
        )
        const { status, json } = outcome
        expect([status, json['error']]).to.deep.equal([200, 0])
        expect(ms, 'an append is given up after 5 s').to.be.below(30_000)
        const stored = double.log.all.filter(({ type }) => type === 'LinkCreated')
        expect(stored.filter(({ data }) => Buffer.from(data).includes(alias))).to.have.length(1)
        expect(double.log.of(`claim-alias-0-${alias}`)).to.have.length(1)
        expect((await app.visit(`/${alias}`)).status).to.equal(302)
      })

    it('and stays silent: the response is 503, and no half-created link is visible', async () => {
      double.fail(({ types }) => (types.includes('LinkCreated') ? 'silent' : undefined))
      const body = { url: 'https://example.com/', custom: 'silent' }
      const { outcome, ms } = await timed(app.post('/api/url/add', { key, body }))
      const { status, headers, json } = outcome
      expect([status, json['error']]).to.deep.equal([503, 1])
      expect(headers.get('Retry-After')).to.match(/^\d+$/)
      expect(ms, 'an append is given up after 5 s').to.be.below(30_000)
      expect((await app.visit('/silent')).status).to.equal(404)
    })
  })

  it('is ahead of a PostgreSQL restored from a backup gives no id and no alias twice, and loses nothing', async () => {
    const double = await startDouble()
    stage.later(double.close)
    const settings = { EVENTSTORE_URL: double.url, BASE_URL: 'http://short.test' }
    const connection = await freshDatabase()
    const session = async (work: (app: TestApp) => Promise<void>, on = connection) => {
      const app = await startTestApp(settings, on)
      try {
        await until(
          () => app.operator.get('/readyz?of=api'),
          ({ status }) => status === 200,
        )
        await work(app)
      } finally {
        await app.close()
      }
    }
    const made = new Map<number, string>()
    let [key, late] = ['', '']
    const add = async (app: TestApp, custom: string) => {
      const { status, json, text } = await app.post('/api/url/add', {
        key,
        body: { url: 'https://example.com/', custom },
      })
      expect(status, text).to.equal(200)
      expect(made.has(Number(json['id'])), `id ${json['id']}`).to.equal(false)
      made.set(Number(json['id']), custom)
    }
    await session(async (app) => {
      key = (await app.register('ann')).key
      for (let n = 0; n < 5; n++) await add(app, `before-${n}`)
    })
    const restored = { ...connection, database: `${connection.database}_restored` }
    await query(await server(), `create database ${restored.database} template ${connection.database}`)
    await session(async (app) => {
      for (let n = 0; n < 12; n++) await add(app, `after-${n}`)
      await app.put('/api/url/1/update', { key, body: { url: 'https://example.com/newer' } })
      late = (await app.register('late')).key
    })
    await session(async (app) => {
      const rows = await until(
        () => listed(app, key),
        ({ length }) => length === made.size,
      )
      expect(rows.map(({ id }) => Number(id))).to.have.members([...made.keys()])
      expect((await app.visit('/before-0')).headers.get('Location')).to.equal('https://example.com/newer')
      for (const custom of ['before-1', 'after-1'])
        expect(
          (await app.post('/api/url/add', { key, body: { url: 'https://example.com/', custom } })).status,
        ).to.equal(400)
      for (let n = 0; n < 5; n++) await add(app, `restored-${n}`)
      // the sequence returns the id of an account that this PostgreSQL does not know
      const { id, key: fresh } = await app.register('new')
      expect(id).to.be.above(2)
      expect((await app.get('/api/account', { key: fresh })).json['data']).to.include({ email: 'new@example.com' })
      const again = { email: 'late@example.com', password: 'correct horse 1' }
      expect((await app.post('/register', { body: again })).status).to.equal(400)
      // the account's key is lost: old sealed data reads as empty, while new data is sealed under a new key
      expect((await app.get('/api/account', { key: late })).json['data']).to.include({ email: '' })
      const email = 'newer@example.com'
      expect((await app.put('/api/account/update', { key: late, body: { email } })).status).to.equal(200)
      expect((await app.get('/api/account', { key: late })).json['data']).to.include({ email })
      for (const alias of made.values()) expect((await app.visit(`/${alias}`)).status, alias).to.equal(302)
    }, restored)
    await query(restored, 'drop schema read cascade')
    await session(async (app) => {
      expect((await app.get('/api/account', { key: late })).json['data']).to.include({ email: 'newer@example.com' })
      expect(await listed(app, key)).to.have.length(made.size)
    }, restored)
    const created = double.log.all.filter(({ type }) => type === 'LinkCreated')
    expect(created).to.have.length(made.size)
    expect(new Set(created.map(({ stream }) => stream)).size).to.equal(made.size)
  })

  it('is down keeps redirecting, spools the clicks, and counts each of them once', async () => {
    const double = await startDouble()
    stage.later(double.close)
    const app = await startTestApp({ EVENTSTORE_URL: double.url })
    stage.later(app.close)
    await until(
      () => app.operator.get('/readyz?of=api'),
      ({ status }) => status === 200,
    )
    const { key } = await app.register()
    const { json } = await app.post('/api/url/add', { key, body: { url: 'https://example.com/', custom: 'busy' } })
    let visits = 0
    const visit = async (count: number) => {
      for (let n = 0; n < count; n++) {
        expect((await app.visit('/busy')).status).to.equal(302)
        visits++
      }
    }
    const clicks = async () => Number((await app.get(`/api/url/${json['id']}`, { key })).json['data']?.['clicks'] ?? -1)
    await visit(20)
    expect(await until(clicks, (n) => n === visits)).to.equal(visits)
    await double.down()
    for (const _ of rounds(4, 300)) {
      await visit(30)
      await sleep(500)
    }
    const ready = await until(
      () => app.operator.get('/readyz?of=api'),
      ({ text }) => text.includes('clicks wait in the spool'),
      30_000,
    )
    expect(ready.json['ready'], 'it still redirects').to.equal(true)
    expect(ready.text).to.match(
      /\d+ clicks wait in the spool: the event store at \S+ \(EVENTSTORE_URL\) cannot be reached/,
    )
    const refused = await app.post('/api/url/add', { key, body: { url: 'https://example.com/' } })
    expect([refused.status, refused.headers.has('Retry-After')]).to.deep.equal([503, true])
    expect(await clicks(), 'it still answers reads').to.equal(20)
    await double.up()
    await visit(20)
    expect(await until(clicks, (n) => n >= visits, 30_000)).to.equal(visits)
    // the tree over the log looks at it once a second
    const healthy = () => app.operator.get('/readyz?of=api')
    const healed = await until(healthy, (answer) => answer.json['problems'].length === 0)
    expect(healed.json).to.deep.include({ ready: true, problems: [] })
  }).timeout(long ? 300_000 : 180_000)

  it('is not queried by visitors who guess aliases, even while the projector is stopped, and writes succeed', async () => {
    const double = await startDouble()
    stage.later(double.close)
    const app = await startTestApp({ EVENTSTORE_URL: double.url, TRUST_PROXY: '1', BASE_URL: 'http://short.test' })
    stage.later(app.close)
    const { key } = await app.register()
    const add = (custom: string) => app.post('/api/url/add', { key, body: { url: 'https://example.com/', custom } })
    expect((await add('known')).status).to.equal(200)
    const misses = long ? 10_000 : 200
    let tried = 0
    const guess = async () => {
      const from = `10.${(++tried >> 16) & 255}.${(tried >> 8) & 255}.${tried & 255}`
      expect((await app.visit(`/guess-${tried}`, { 'X-Forwarded-For': from })).status).to.equal(404)
    }
    // reads of $all are subscriptions that compare themselves with the head of the log; accounts are read after a write
    // of theirs, and the stream of checkpoints when one is signed
    const others = /^(?:\$all$|account-|log-)/
    let streamReads = 0
    double.fail(({ kind, stream }) => {
      if (kind === 'read' && !others.test(stream ?? '')) streamReads++
      return undefined
    })
    const reads = async (work: Promise<unknown>[]) => {
      const before = streamReads
      await Promise.all(work)
      return streamReads - before
    }
    const flood = async () => {
      for (let n = 0; n < misses; n += 20) await Promise.all(Array.from({ length: 20 }, guess))
    }
    // until the tables have the link that was made, it may be read from its stream; HEAD is no visit, which is recorded
    await until(
      () => reads([fetch(`${app.address}/known`, { method: 'HEAD', redirect: 'manual' })]),
      (count) => count === 0,
    )
    expect(await reads([flood()])).to.equal(0)

    const holder = await stage.connect(app.connection)
    await holder.query('begin; select * from read.checkpoints for update')
    const late = ['late-1', 'late-2', 'late-3'].map(add)
    const asked = await reads([flood(), ...late])
    expect((await Promise.all(late)).map(({ status }) => status)).to.deep.equal([200, 200, 200])
    for (const path of ['/late-1', '/late-2', '/late-3', '/known']) expect((await app.visit(path)).status).to.equal(302)
    // a few reads for the three links that are not projected yet, however many aliases are guessed
    expect(asked).to.be.below(20)
  })
})
