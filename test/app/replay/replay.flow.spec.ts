import { expect } from 'chai'
import { type ReplayOptions, startReplay } from '../../../src/app/replay/replay.ts'
import { account } from '../../../src/commands/accounts/account.ts'
import { systemMetadata } from '../../../src/events/event.ts'
import { dropLeftSchemas } from '../../../src/postgres/replays.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { client, until } from '../../support/client.ts'
import { query } from '../../support/faults.ts'
import { sharedImages } from '../../support/images.ts'
import { rowsOf, withClient } from '../../releases/database.ts'

describe('linkledger replay', function () {
  this.timeout(300_000)
  let app: TestApp
  let then: Awaited<ReturnType<typeof prepare>>
  const closing: (() => Promise<void>)[] = []
  before(async () => {
    app = await startTestApp({ BASE_URL: 'http://go.example.com', REGISTRATION: 'open' })
    then = await prepare()
  })
  after(() => app.close())
  afterEach(async () => {
    for (const close of closing.splice(0)) await close()
  })

  const day = (offset: number) => new Date(Date.now() + offset * 86_400_000).toISOString().slice(0, 10)
  const period = `from=${day(-2)}&to=${day(2)}`
  const paths = [
    '/api/account',
    '/api/urls',
    '/api/urls?order=click',
    '/api/url/1',
    '/api/url/2',
    `/api/url/1/stats?${period}&by=country,browser`,
    `/api/account/stats?${period}`,
    `/api/stats?${period}&by=link`,
    `/api/stats?${period}&class=human`,
    '/api/keys?fields=name,scopes',
    '/api/channels',
    '/api/campaigns',
  ]
  const schemas = async () =>
    (
      await query<{ name: string }>(
        app.connection,
        `select nspname as name from pg_namespace where nspname ~ '^replay_'`,
      )
    ).map(({ name }) => name)
  const head = async () => (await app.app.ledger.ordinals.head()) - 1
  /** Returns what the API and visitors are answered, without what differs from one request to the next. */
  const answersOf = async ({ get, visit }: Pick<TestApp, 'get' | 'visit'>, key: string) => {
    const answers = []
    for (const path of paths) {
      const { text, headers } = await get(path, { key })
      answers.push([text, headers.get('Linkledger-At')])
    }
    for (const path of ['/hello', '/short', '/missing']) {
      const { status, headers } = await visit(path, { Host: 'go.example.com' })
      answers.push([status, headers.get('Location')])
    }
    return answers
  }
  const clicksOf = async (key: string) => Number((await app.get('/api/url/1', { key })).json['data'].clicks)
  const counted = async (key: string, clicks: number) =>
    expect(
      await until(
        () => clicksOf(key),
        (n) => n >= clicks,
      ),
    ).to.equal(clicks)

  /** Saves the answers of a moment, then changes all that they show. */
  const prepare = async () => {
    const { key, id } = await app.register()
    const revoked = await app.register()
    await app.post('/api/url/add', { key, body: { url: 'https://example.com/a', custom: 'hello' } })
    // it ends soon, and is open at the moment of the replay
    const expiry = new Date(Date.now() + 3_600_000).toISOString()
    await app.post('/api/url/add', { key, body: { url: 'https://example.com/b', custom: 'short', expiry } })
    await app.post('/api/channel/add', { key, body: { name: 'News' } })
    await app.visit('/hello')
    await counted(key, 1)
    const event = await head()
    const answers = await answersOf(app, key)
    // asking has recorded visits, which were no part of the answers
    await counted(key, 2)

    await app.put('/api/url/1/update', { key, body: { url: 'https://example.com/changed' } })
    await app.del('/api/url/2/delete', { key })
    await app.post('/api/campaign/add', { key, body: { name: 'Later' } })
    await app.post('/api/key/revoke', { body: { key: revoked.key } })
    return { key, id, revoked, event, answers }
  }

  const start = async (options: Partial<ReplayOptions> = {}) => {
    const replay = await startReplay(app.app.ledger, {
      until: { event: then.event },
      port: 0,
      overrides: { images: { ...sharedImages(), close: async () => {} } },
      ...options,
    })
    closing.push(replay.close)
    return { replay, ...client(replay.address, () => {}) }
  }

  it('answers as the service did at that moment, byte by byte, while the service runs on', async () => {
    const seen: (readonly [number, number])[] = []
    const replay = await start({ onProgress: (replayed, all) => seen.push([replayed, all]) })
    expect(await answersOf(replay, then.key)).to.deep.equal(then.answers)
    expect(await answersOf(app, then.key)).not.to.deep.equal(then.answers)
    // asking has recorded another visit, which must not come in the middle of another test
    await counted(then.key, 3)
    expect(seen.at(-1)).to.deep.equal([then.event + 1, then.event + 1])
  })

  it('replays to a time: the newest event appended up to it, by which links begin and end', async () => {
    const moment = new Date((await app.app.ledger.ordinals.timeOf(then.event))!)
    const { replay, get } = await start({ until: { moment } })
    expect(replay.event).to.equal(then.event)
    const { key } = then
    expect([(await get('/api/urls', { key })).text]).to.deep.equal(then.answers[1]?.slice(0, 1))
    const { to } = (await get('/api/account/stats', { key })).json['data'] as { to: string }
    expect(to).to.equal(moment.toISOString().slice(0, 19).replace('T', ' '))
    const late = await startReplay(app.app.ledger, { until: { moment: new Date(Date.now() + 60_000) }, port: 0 }).catch(
      String,
    )
    expect(late).to.include('is in the future')
    const unknown = await startReplay(app.app.ledger, { until: { event: 1e9 }, port: 0 }).catch(String)
    expect(unknown).to.match(/the log has no event 1000000000: its newest is event \d+/)
    expect(await schemas()).to.have.length(1)
  })

  it('changes nothing: writes are refused, and visits are answered without being recorded', async () => {
    const { ask, visit, get } = await start()
    const [before, clicks] = [await head(), await clicksOf(then.key)]
    for (const [method, path] of [
      ['POST', '/api/url/add'],
      ['PUT', '/api/url/1/update'],
      ['DELETE', '/api/url/1/delete'],
      ['POST', '/register'],
      ['POST', '/hello'],
    ] as const) {
      const { status, json } = await ask(method, path, { key: then.key, body: {} })
      expect([status, json['error']], path).to.deep.equal([405, 1])
      expect(json['message']).to.match(
        /^This is a replay of the service as it was at .* UTC: nothing can be changed here\.$/,
      )
    }
    expect((await visit('/hello')).headers.get('Location')).to.equal('https://example.com/a')
    expect((await get('/report')).status).to.equal(404)
    expect([await head(), await clicksOf(then.key)]).to.deep.equal([before, clicks])
  })

  it('admits keys of that moment that still work, and a key of its own', async () => {
    const { replay, get } = await start({ account: { id: then.revoked.id } })
    const status = async (key: string | undefined) => (await get('/api/account', { key: key ?? '' })).status
    expect(await status(then.key)).to.equal(200)
    expect(await status(then.revoked.key)).to.equal(401)
    expect(await status(replay.key)).to.equal(200)
    expect((await app.get('/api/account', { key: replay.key! })).status).to.equal(401)
    // made after the moment
    expect(await status((await app.register()).key)).to.equal(401)
  })

  it('refuses a key that was used a moment ago once it is revoked, and all of an account once it is disabled', async () => {
    const [one, other] = [await app.register(), await app.register()]
    const { get } = await start({ until: { event: await head() } })
    const status = async (key: string) => (await get('/api/account', { key })).status
    expect([await status(one.key), await status(other.key)]).to.deep.equal([200, 200])
    await app.post('/api/key/revoke', { body: { key: one.key } })
    await app.app.ledger.handler.handle(account, { type: 'DisableAccount', id: other.id }, systemMetadata(other.id))
    // only the tables of the service have to know it
    expect(
      await until(
        () => status(one.key),
        (n) => n !== 200,
      ),
    ).to.equal(401)
    expect(
      await until(
        () => status(other.key),
        (n) => n !== 200,
      ),
    ).to.equal(403)
  })

  it('ends when an account is erased, and makes no key of it later', async () => {
    const { id } = await app.register()
    const event = await head()
    const { replay } = await start({ until: { event }, account: { id } })
    expect(replay.ended.aborted).to.equal(false)
    let filled: Promise<unknown> | undefined
    const filling = startReplay(app.app.ledger, {
      until: { event },
      port: 0,
      // it is erased while the tables of another one are filled
      onProgress: () => void (filled ??= app.app.ledger.keys.destroy([id])),
    }).then(async (late) => {
      closing.push(late.close)
      await until(async () => late.ended.aborted, Boolean)
      return String(late.ended.reason)
    }, String)
    const reason = /an account was erased meanwhile: start the replay again/
    expect(await filling).to.match(reason)
    await until(async () => replay.ended.aborted, Boolean)
    expect(String(replay.ended.reason)).to.match(reason)
    const later = await startReplay(app.app.ledger, { until: { event }, port: 0, account: { id } }).catch(String)
    expect(later).to.match(/this account was erased since/)
  })

  it('gives the same bytes again, and leaves nothing behind', async () => {
    const dump = async (schema: string) =>
      withClient(app.connection, async (db) => {
        const { rows } = await db.query<{ name: string }>(
          'select tablename as name from pg_tables where schemaname = $1 order by 1',
          [schema],
        )
        const tables: Record<string, unknown> = {}
        for (const { name } of rows) tables[name] = await rowsOf(db, `${schema}.${name}`)
        return tables
      })
    const [one, other] = [await start(), await start()]
    const [first, second] = [await dump(one.replay.schema), await dump(other.replay.schema)]
    expect(Object.keys(first)).to.include('checkpoints')
    expect(JSON.stringify(second)).to.equal(JSON.stringify(first))
    await one.replay.close()
    await other.replay.close()
    expect(await schemas()).to.deep.equal([])
  })

  it('leaves nothing behind when it is stopped while it replays', async () => {
    const stop = new AbortController()
    const stopped = await startReplay(app.app.ledger, {
      until: { event: then.event },
      port: 0,
      onProgress: () => stop.abort(),
      signal: stop.signal,
    }).catch((error: Error) => error.name)
    expect(stopped).to.equal('AbortError')
    expect(await schemas()).to.deep.equal([])
  })

  it('is dropped by the next start when it was killed, and not while it is served', async () => {
    const { replay } = await start()
    await query(app.connection, 'create schema replay_7; create table replay_7.links_v1_1 (id int)')
    await query(app.connection, 'create schema replay_of_mine')
    expect(await dropLeftSchemas(app.app.ledger.db)).to.deep.equal(['replay_7'])
    expect(await schemas()).to.have.members([replay.schema, 'replay_of_mine'])
    await query(app.connection, 'drop schema replay_of_mine')
  })
})
