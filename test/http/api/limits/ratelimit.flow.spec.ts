import { expect } from 'chai'
import { account } from '../../../../src/commands/accounts/account.ts'
import { limiter } from '../../../../src/postgres/ratelimits.ts'
import { startTestApp, type TestApp } from '../../../support/app.ts'
import { type Answer, type Ask, until } from '../../../support/client.ts'
import { expectFailure } from '../../../support/conventions.ts'
import { query } from '../../../support/faults.ts'

const rate = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset']
const now = () => Date.now() / 1000

describe('the rate limit', () => {
  let app: TestApp
  let limited: TestApp
  let key: string
  let other: string
  before(async () => {
    app = await startTestApp()
    key = (await app.register()).key
    other = (await app.register()).key
    limited = await startTestApp({ RATE_LIMIT_PER_MINUTE: '30', TRUST_PROXY: '1' }, app.connection)
  })
  after(async () => {
    await limited.close()
    await app.close()
  })

  const limits = ({ headers }: Answer) => rate.slice(0, 2).map((name) => Number(headers.get(name)))

  it('is thirty requests a minute per key, counted down from the first', async () => {
    const { key } = await app.register()
    for (let i = 0; i < 30; i++) {
      const answer = await limited.get('/api/account', { key })
      expect(answer.status).to.equal(200)
      expect(limits(answer)).to.deep.equal([30, 29 - i])
      expect(Number(answer.headers.get('X-RateLimit-Reset'))).to.be.within(now(), now() + 62)
    }
    for (let i = 0; i < 3; i++) {
      const answer = await limited.get('/api/account', { key })
      expectFailure(answer, 429, 'the 31st')
      expect(limits(answer)).to.deep.equal([30, 0])
      const wait = Number(answer.headers.get('Retry-After'))
      expect(wait).to.be.within(1, 60)
      expect(answer.json['message']).to.include(`${wait} seconds`)
    }
    expect(limits(await limited.get('/api/account', { key: other })), 'another key').to.deep.equal([30, 29])
  })

  it('counts failed requests too', async () => {
    const { key } = await app.register()
    const asks: [number, string, string, Ask][] = [
      [404, 'GET', '/api/nothing', { key }],
      [405, 'PATCH', '/api/urls', { key }],
      [404, 'GET', '/api/url/999999', { key }],
      [400, 'POST', '/api/url/add', { key, body: {} }],
      [415, 'POST', '/api/url/add', { key, body: 'x', headers: { 'Content-Type': 'text/plain' } }],
    ]
    for (const [i, [status, method, path, ask]] of asks.entries()) {
      const answer = await limited.ask(method, path, ask)
      expectFailure(answer, status, `${method} ${path}`)
      expect(limits(answer), `${method} ${path}`).to.deep.equal([30, 29 - i])
    }
  })

  it('is shared by all requests of an address without a valid key, and each route without one has its own', async () => {
    const from = { 'X-Forwarded-For': '203.0.113.5' }
    const asks: [number, string, string, Ask][] = [
      [401, 'GET', '/api/urls', {}],
      [401, 'GET', '/api/urls', { key: 'wrong' }],
      [404, 'GET', '/api/nothing', {}],
      [405, 'PATCH', '/api/urls', {}],
    ]
    for (let i = 0; i < 30; i++) {
      const [status, method, path, ask] = asks[i % asks.length]!
      const answer = await limited.ask(method, path, { ...ask, headers: from })
      expectFailure(answer, status, `${method} ${path}`)
      expect(limits(answer)).to.deep.equal([30, 29 - i])
    }
    expectFailure(await limited.get('/api/urls', { headers: from }), 429, 'without a key')
    for (const [status, method, left] of [
      [400, 'POST', 29],
      [405, 'GET', 28],
    ] as const) {
      const answer = await limited.ask(method, '/register', { ...(method === 'POST' && { body: {} }), headers: from })
      expectFailure(answer, status, `${method} /register`)
      expect(limits(answer)).to.deep.equal([30, left])
    }
    expect((await limited.get('/api/urls', { headers: { 'X-Forwarded-For': '203.0.113.6' } })).status).to.equal(401)
    expect((await limited.get('/api/account', { key: other, headers: from })).status, 'with a key').to.equal(200)
  })

  it('counts an IPv6 /64 as one address', async () => {
    const ask = (address: string) => limited.get('/api/urls', { headers: { 'X-Forwarded-For': address } })
    await ask('2001:db8:1:2::1')
    expect(limits(await ask('2001:db8:1:2:ffff::'))).to.deep.equal([30, 28])
    expect(limits(await ask('2001:DB8:1:2:0:0:0:9'))).to.deep.equal([30, 27])
    expect(limits(await ask('2001:db8:1:3::1'))).to.deep.equal([30, 29])
  })

  it('is shared by the keys of an account, and leaves room to end one of them', async () => {
    const { key } = await app.register()
    const body = { name: 'leaked', scopes: ['read'] }
    const { json } = await app.post('/api/key/add', { key, body })
    const leaked = String(json['key'])
    await Promise.all(Array.from({ length: 31 }, () => limited.get('/api/account', { key: leaked })))
    expectFailure(await limited.get('/api/account', { key }), 429, 'another key of the account')
    const from = { 'X-Forwarded-For': '203.0.113.88' }
    expect((await limited.post('/api/key/revoke', { body: { key: leaked }, headers: from })).status).to.equal(200)
    expect((await limited.get('/api/account', { key: leaked, headers: from })).status).to.equal(401)
  })

  it('can be set for an account, and holds at once in all processes', async () => {
    const { key, id } = await app.register()
    const set = async (limit: number | null) => {
      const context = { account: id, actor: { kind: 'operator' }, request: '', command: crypto.randomUUID() } as const
      const { handler } = app.app.ledger
      const at = new Date().toISOString()
      await handler.handle(account, { type: 'SetRateLimit', id, limit }, { ...context, at })
    }
    const limit = async (at: TestApp, wanted: number) => {
      const ask = async () => limits(await at.get('/api/account', { key }))[0]
      expect(await until(ask, (now) => now === wanted)).to.equal(wanted)
    }
    await set(600)
    for (const at of [app, limited]) await limit(at, 600)
    await set(0)
    for (const at of [app, limited]) await limit(at, 1_000_000)
    await set(null)
    await limit(limited, 30)
  })

  it('writes nothing for an address that is over it already', async () => {
    const from = { 'X-Forwarded-For': '203.0.113.77' }
    const flood = () =>
      Promise.all(Array.from({ length: 31 }, () => limited.get('/api/urls', { key: 'made up', headers: from })))
    const rows = async () =>
      (await query(app.connection, `select xmin, key, count from state.rate_limits where key like 'address %'`)) as {
        readonly key: string
      }[]
    const earlier = new Set((await rows()).map(({ key }) => key))
    await flood()
    const [flooded] = (await rows()).filter(({ key }) => !earlier.has(key))
    const row = async () => (await rows()).filter((one) => one.key === flooded!.key)
    const before = await row()
    expect(before).to.have.length(1)
    const answers = await flood()
    expect(answers.map(({ status }) => status)).to.deep.equal(answers.map(() => 429))
    expect(await row()).to.deep.equal(before)
  })

  it('does not count refused requests, also when requests arrive at the same time', async () => {
    const { db, keys } = app.app.ledger
    const [key, limit, seconds] = ['account in parallel', 600, 60] as const
    const take = (requests: number) => limiter(db, keys.service).take(key, limit, seconds, requests)
    await take(50)
    const first = await db.transaction()
    const own = await limiter(first, keys.service).take(key, limit, seconds, 500)
    const others = [take(500), take(500), take(500)]
    // all have read the window before the first is counted
    await until(
      () =>
        query<{ waiting: string }>(
          app.connection,
          `select count(*) as waiting from pg_stat_activity where wait_event_type = 'Lock' and query like '%full_window%'`,
          [],
        ),
      ([row]) => Number(row?.waiting) === others.length,
    )
    await first.commit()
    expect([own, ...(await Promise.all(others))].map(({ over }) => over)).to.deep.equal([false, true, true, true])
    expect(await take(50)).to.include({ over: false, remaining: 0 })
    expect(await take(1)).to.include({ over: true, remaining: 0 })
  })

  it('counts a costly request whole or not at all', async () => {
    const { take } = limiter(app.app.ledger.db, app.app.ledger.keys.service)
    const outcome = async (requests: number) => {
      const { remaining, over } = await take('a costly request', 30, 60, requests)
      return [remaining, over]
    }
    expect(await outcome(20)).to.deep.equal([10, false])
    expect(await outcome(11)).to.deep.equal([10, true])
    expect(await outcome(10)).to.deep.equal([0, false])
    expect(await outcome(1)).to.deep.equal([0, true])
  })

  it('is also shown as in the IETF draft', async () => {
    const { key } = await app.register()
    const { headers } = await limited.get('/api/account', { key })
    expect(headers.get('RateLimit')).to.match(/^"default";r=29;t=\d+$/)
    expect(headers.get('RateLimit-Policy')).to.equal('"default";q=30;w=60')
  })

  it('shows a million on every response when it is off', async () => {
    const preflight = { 'Access-Control-Request-Method': 'GET', Origin: 'https://app.example' }
    for (const answer of [
      await app.get('/api/urls', { key }),
      await app.get('/api/nothing'),
      await app.get('/api/urls'),
      await app.ask('OPTIONS', '/api/urls', { headers: preflight }),
    ])
      expect(limits(answer)).to.deep.equal([1_000_000, 1_000_000])
  })
})
