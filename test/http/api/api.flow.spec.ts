import { expect } from 'chai'
import type { Context } from 'koa'
import pg from 'pg'
import { routes } from '../../../src/http/routes.ts'
import { setTimings, startTiming, timed } from '../../../src/http/api/timing.ts'
import { headers as documented } from '../../../src/http/api/failures.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { type Answer, type Ask, until } from '../../support/client.ts'
import { query } from '../../support/faults.ts'
import { send, wire } from '../../support/raw.ts'
import { server } from '../../support/server.ts'
import { exchange } from '../../support/exchange.ts'
import { expectConventions, expectFailure } from '../../support/conventions.ts'

const long = 'https://example.com/'
const rate = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset']

/**
 * Returns an answer that is a file as if it had an ordinary body: its headers can then be compared with those of all
 * others.
 */
const asJson = ({ headers, ...answer }: Answer): Answer => {
  const others = new Headers(headers)
  others.set('Content-Type', 'application/json; charset=utf-8')
  return { ...answer, headers: others, json: { error: 0 } }
}

describe('the API', () => {
  let app: TestApp
  let limited: TestApp
  let key: string
  const add = async (by = key) => Number((await app.post('/api/url/add', { key: by, body: { url: long } })).json['id'])
  before(async () => {
    app = await startTestApp()
    key = (await app.register()).key
    limited = await startTestApp({ RATE_LIMIT_PER_MINUTE: '30', TRUST_PROXY: '1' }, app.connection)
  })
  after(async () => {
    await limited.close()
    await app.close()
  })

  describe('every response', () => {
    it('has the rate limit, a unique request id, CORS headers and an object with `error`', async () => {
      const id = await add()
      const ids = new Set<string | null>()
      const answers: [string, Answer][] = []
      for (const { method, path } of routes)
        for (const ask of [{}, { key }, { key: 'wrong' }, ...(method === 'get' ? [] : [{ key, body: '{' }])]) {
          // the key of this test has an id, too
          const at = path.replaceAll(/:\w+/g, path.startsWith('/api/key/') ? '999999' : String(id))
          answers.push([`${method} ${at}`, await app.ask(method.toUpperCase(), at, ask)])
        }
      for (const path of [
        '/api',
        '/api/',
        '/api/nothing',
        '/api/url',
        '/api/urls/1',
        '/api/url/1/2/3',
        '/register/x',
        '/api//urls',
        '/api/%',
        '/api/url/%zz',
      ])
        answers.push([path, await app.get(path, { key })])
      for (const [what, answer] of answers) {
        // an archive and lines are no JSON
        const isFile = answer.status === 200 && /^get \/api\/(?:account\/export|events|clicks)$/.test(what)
        expectConventions(isFile ? asJson(answer) : answer, what)
        if (answer.status !== 200) expect(answer.json['error'], what).to.equal(1)
        ids.add(answer.headers.get('X-Request-Id'))
      }
      expect(ids.size).to.equal(answers.length)
    })

    it('is 404 for an unknown path and 405 for an unsupported method', async () => {
      for (const path of ['/api', '/api/nothing', '/api/url', '/api/urls/1', '/register/x']) {
        expectFailure(await app.get(path, { key }), 404, path)
        expectFailure(await app.get(path), 404, `${path} without a key`)
      }
    })

    it('finds a path in other letters, and with a slash at its end', async () => {
      for (const path of ['/api/URLS', '/api/urls/', '/api/Account/'])
        expect((await app.get(path, { key })).status, path).to.equal(200)
    })

    it('lists the supported methods of every path in Allow', async () => {
      const pattern = (path: string) => new RegExp(`^${path.replaceAll(/:\w+/g, '[^/]+')}$`)
      for (const path of new Set(routes.map(({ path }) => path))) {
        const at = path.replaceAll(/:\w+/g, '1')
        const taken = routes.filter((route) => pattern(route.path).test(at)).map(({ method }) => method.toUpperCase())
        const all = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH']
        for (const method of all.filter((name) => !taken.includes(name))) {
          const answer = await app.ask(method, at)
          expectFailure(answer, 405, `${method} ${at}`)
          const allowed = answer.headers.get('Allow')!.split(', ')
          expect(allowed, `${method} ${at}`).to.include.members(taken).and.not.to.include(method)
        }
      }
    })

    it('has the same headers for HEAD', async () => {
      const { status, headers, text } = await send(app.address, 'HEAD', '/api/urls', {
        headers: { Authorization: key },
      })
      expect([status, text]).to.deep.equal([200, ''])
      for (const name of rate) expect(headers[name.toLowerCase()]).to.have.length(1)
    })

    it('is JSON even when Node cannot parse the request', async () => {
      for (const [bytes, status] of [
        [`GET /api/urls HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
        [`GET /${'x'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`, 431],
        ['NONSENSE\r\n\r\n', 400],
        ['GET /api/urls HTTP/1.1\r\n\r\n', 400],
        ['GET /api/urls HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n', 400],
      ] as const) {
        const said = await wire(app.address, bytes)
        expect(said).to.match(new RegExp(`^HTTP/1\\.1 ${status} `))
        if (!said.endsWith('\r\n\r\n')) expect(JSON.parse(said.split('\r\n\r\n')[1]!)).to.include({ error: 1 })
      }
    })
  })

  describe('an unexpected error', () => {
    it('is a 500 with a constant message and the request id only', async () => {
      const links = app.app.ledger.tables.name('links')
      const hidden = `${links.split('.')[1]}_aside`
      await query(app.connection, `alter table ${links} rename to ${hidden}`)
      try {
        const { status, headers, json, text } = await app.get('/api/urls', { key })
        expect(status).to.equal(500)
        expect(json).to.deep.equal({
          error: 1,
          message: 'An unexpected error occurred. Please report the request id to the operator of this service.',
          code: 'internal_error',
          params: {},
          request: headers.get('X-Request-Id'),
        })
        expect(text).not.to.match(/links|select|relation|\.ts/)
        for (const name of rate) expect(headers.get(name)).to.match(/^\d+$/)
      } finally {
        await query(app.connection, `alter table read.${hidden} rename to ${links.split('.')[1]}`)
      }
      expect((await app.get('/api/urls', { key })).status).to.equal(200)
    })
  })

  describe('the order of the checks', () => {
    it('is path, method, key, rate, body, id, fields', async () => {
      const id = await add()
      const unknown = '/api/url/999999/update'
      const large = JSON.stringify({ url: 'x'.repeat(70_000) })
      const text = { 'Content-Type': 'text/plain' }
      const steps: [number, string, string, Ask][] = [
        [404, 'PATCH', '/api/nothing', { key: 'wrong', body: '{', headers: text }],
        [405, 'PATCH', unknown, { key: 'wrong', body: '{', headers: text }],
        [401, 'PUT', unknown, { key: 'wrong', body: '{', headers: text }],
        [415, 'PUT', unknown, { key, body: large, headers: text }],
        [413, 'PUT', unknown, { key, body: large }],
        [400, 'PUT', unknown, { key, body: '{' }],
        [404, 'PUT', unknown, { key, body: { url: 5 } }],
        [400, 'PUT', `/api/url/${id}/update`, { key, body: { url: 5 } }],
        [200, 'PUT', `/api/url/${id}/update`, { key, body: { url: long } }],
      ]
      for (const [status, method, path, ask] of steps) {
        const answer = await app.ask(method, path, ask)
        expect(answer.status, `${method} ${path} ${answer.text}`).to.equal(status)
      }
    })

    it('checks the rate after the key and before the body', async () => {
      const { key } = await app.register()
      for (let i = 0; i < 30; i++) await limited.get('/api/account', { key })
      for (const [status, method, path, ask] of [
        [404, 'GET', '/api/nothing', { key }],
        [405, 'PATCH', '/api/urls', { key }],
        [429, 'POST', '/api/url/add', { key, body: '{' }],
        [429, 'PUT', '/api/url/1/update', { key, body: 'x', headers: { 'Content-Type': 'text/plain' } }],
        [429, 'GET', '/api/url/999999', { key }],
      ] as const)
        expectFailure(await limited.ask(method, path, ask), status, `${method} ${path}`)
    })
  })

  describe('the id of a request', () => {
    it('can come from the client, and is in the answer and in the events', async () => {
      const { json, headers } = await app.post('/api/url/add', {
        key,
        body: { url: long },
        headers: { 'X-Request-Id': 'order-4711' },
      })
      expect(headers.get('X-Request-Id')).to.equal('order-4711')
      const event = await app.app.ledger.store.last(`link-${json['id']}`)
      expect(event?.metadata.request).to.equal('order-4711')
      const failed = await app.get('/api/nothing', {
        key,
        headers: { 'X-Request-Id': 'order-4712', Accept: 'application/problem+json' },
      })
      expect(failed.json['instance']).to.equal('#order-4712')
    })
  })

  describe('Server-Timing', () => {
    it('has the parts of a request at the log level `debug` only', async () => {
      const ctx = {
        state: {},
        set: (name: string, value: string) => void set.push([name, value]),
      } as unknown as Context
      const set: [string, string][] = []
      setTimings(ctx)
      expect(await timed(ctx, 'run', async () => 7)).to.equal(7)
      expect(set).to.deep.equal([])
      startTiming(ctx)
      await timed(ctx, 'total', () => timed(ctx, 'run', async () => 7))
      setTimings(ctx)
      expect(set[0]?.join(': ')).to.match(/^Server-Timing: run;dur=\d+\.\d, total;dur=\d+\.\d$/)
      expect((await app.get('/api/account', { key })).headers.get('Server-Timing')).to.equal(null)
    })
  })

  describe('CORS', () => {
    it('lets scripts read every header that the OpenAPI document names, and send those of the API', async () => {
      const { headers } = await app.get('/api/urls', { key })
      const exposed = headers.get('Access-Control-Expose-Headers')!.split(', ')
      expect(exposed).to.include.members(Object.keys(documented))
      const asked = { Origin: 'https://app.example', 'Access-Control-Request-Method': 'PUT' }
      const preflight = await app.ask('OPTIONS', '/api/url/1/update', { headers: asked })
      expect(preflight.headers.get('Access-Control-Allow-Headers')!.split(', ')).to.include.members([
        'Authorization',
        'Content-Type',
        'Idempotency-Key',
        'If-Match',
        'If-None-Match',
        'X-Request-Id',
      ])
      for (const one of [headers, preflight.headers]) {
        expect(one.get('Access-Control-Allow-Origin')).to.equal('*')
        expect(one.get('Access-Control-Allow-Credentials')).to.equal(null)
      }
    })

    it('allows every origin and exposes our headers', async () => {
      const { headers } = await app.get('/api/urls', { key, headers: { Origin: 'https://app.example' } })
      expect(headers.get('Access-Control-Allow-Origin')).to.equal('*')
      expect(headers.get('Access-Control-Allow-Credentials')).to.equal(null)
      const exposed = headers.get('Access-Control-Expose-Headers')!.split(', ')
      expect(exposed).to.include.members([...rate, 'Retry-After'])
    })

    it('gives pages of other sites no way to register, nor to have a password reset', async () => {
      for (const path of ['/register', '/register/', '/api/account/reset']) {
        const Origin = 'https://evil.example'
        const asked = await app.ask('OPTIONS', path, { headers: { Origin, 'Access-Control-Request-Method': 'POST' } })
        const body = JSON.stringify({ email: 'eve@example.com', password: 'correct horse 1' })
        const send = (headers: Readonly<Record<string, string>>) =>
          exchange(app.address + path, { method: 'POST', headers, body })
        const typed = { 'Content-Type': 'application/json' }
        const answers = [
          await send({ Origin }),
          await send({ 'Content-Type': 'text/plain' }),
          await send({ ...typed, 'Sec-Fetch-Site': 'cross-site' }),
        ]
        expect(
          answers.map(({ status }) => status),
          path,
        ).to.deep.equal([415, 415, 403])
        for (const { headers } of [asked, ...answers])
          expect(headers.get('Access-Control-Allow-Origin'), path).to.equal(null)
      }
    })

    it('returns 204 to a preflight without a key and does not count it', async () => {
      const from = { 'X-Forwarded-For': '203.0.113.9' }
      for (const path of ['/api/url/add', '/api/url/1/update', '/api/account/update']) {
        const { status, headers, text } = await limited.ask('OPTIONS', path, {
          headers: { ...from, Origin: 'https://app.example', 'Access-Control-Request-Method': 'PUT' },
        })
        expect([status, text]).to.deep.equal([204, ''])
        expect(headers.get('Access-Control-Allow-Origin')).to.equal('*')
        expect(headers.get('Access-Control-Allow-Methods')!.split(', ')).to.include.members([
          'GET',
          'POST',
          'PUT',
          'DELETE',
        ])
        const allowed = headers.get('Access-Control-Allow-Headers')!.toLowerCase().split(', ')
        expect(allowed).to.include.members(['authorization', 'content-type'])
      }
      const { headers } = await limited.get('/api/urls', { headers: from })
      expect(headers.get('X-RateLimit-Remaining')).to.equal('29')
    })
  })

  describe('/healthz and /readyz', () => {
    it('report that the process is alive and ready', async () => {
      const alive = await app.get('/healthz')
      expect([alive.status, alive.json]).to.deep.equal([200, { status: 'ok' }])
      const ready = await app.operator.get('/readyz?of=api')
      expect([ready.status, ready.json]).to.deep.equal([
        200,
        { ready: true, problems: [], lagSeconds: { domain: 0, clicks: 0 } },
      ])
    })

    it('show visitors neither metrics nor the reasons of /readyz, which are on the port of the operator', async () => {
      const ready = await app.get('/readyz?of=api')
      expect([ready.status, ready.json]).to.deep.equal([200, { ready: true }])
      expect((await app.get('/metrics')).status).to.equal(404)
      const { hostname, port } = new URL(app.operator.address)
      expect(hostname).to.equal('127.0.0.1')
      expect(port).not.to.equal(new URL(app.address).port)
      expect((await app.operator.get('/metrics')).text).to.include('linkledger_append_seconds')
      expect((await app.operator.get('/healthz')).status).to.equal(200)
      for (const path of ['/', '/api/urls', '/constructor']) expect((await app.operator.get(path)).status).to.equal(404)
      expect((await app.operator.post('/metrics')).status).to.equal(405)
    })
  })

  describe('while PostgreSQL is down', () => {
    it('returns 503 for writes and uncached links, serves cached links, and recovers', async () => {
      const { json } = await app.post('/api/url/add', { key, body: { url: long, custom: 'remembered' } })
      const body = { url: long, custom: 'waits' }
      expect((await app.visit('/remembered')).status).to.equal(302)
      const elsewhere = new pg.Client(await server())
      await elsewhere.connect()
      const { database } = app.connection
      try {
        await elsewhere.query(`alter database ${database} allow_connections false`)
        await elsewhere.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [database])
        for (const answer of [await app.post('/api/url/add', { key, body }), await app.get('/api/urls', { key })]) {
          expectFailure(answer, 503, 'away')
          expect(Number(answer.headers.get('Retry-After'))).to.be.at.least(1)
        }
        expect((await app.visit('/remembered')).headers.get('Location')).to.equal(long)
        const unknown = await app.visit('/never-seen')
        expect(unknown.status).to.equal(503)
        expect(unknown.headers.get('Cache-Control')).to.include('no-store')
        expect(Number(unknown.headers.get('Retry-After'))).to.be.at.least(1)
        const ready = await until(
          () => app.operator.get('/readyz?of=api'),
          ({ status }) => status === 503,
        )
        expect([ready.status, ready.json['ready']]).to.deep.equal([503, false])
        expect(ready.json['problems']).to.include('the database is not connected')
        expect((await app.get('/readyz?of=api')).status).to.equal(503)
        // links redirect: a balancer must not take the process away
        for (const port of [app, app.operator]) expect((await port.get('/readyz')).status).to.equal(200)
        expect((await app.get('/healthz')).status).to.equal(200)
      } finally {
        await elsewhere.query(`alter database ${database} allow_connections true`)
        await elsewhere.end()
      }
      const made = await until(
        () => app.post('/api/url/add', { key, body }),
        ({ status }) => status === 200,
      )
      expect(made.json['id']).to.be.greaterThan(json['id'])
      expect(
        (
          await until(
            () => app.operator.get('/readyz?of=api'),
            ({ status, json: now }) => status === 200 && now['problems'].length === 0,
          )
        ).json['problems'],
      ).to.deep.equal([])
      expect((await app.visit('/waits')).status).to.equal(302)
      expect((await app.visit('/never-seen')).status).to.equal(404)
    })
  })
})
