import { expect } from 'chai'
import { preferredLanguages } from '../../src/visitor/language.ts'
import { readAgent } from '../../src/visitor/agent.ts'
import { referrerHost } from '../../src/visitor/referrer.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { browser, until } from '../support/client.ts'
import { inSeconds, secondsLater } from '../support/clock.ts'
import { long as thorough, query } from '../support/faults.ts'
import { send, wire } from '../support/raw.ts'

const long = 'https://example.com/'
const [canada, states] = ['24.48.0.1', '8.8.8.8']

describe('a request (fault 64)', () => {
  /** behind one proxy */
  let app: TestApp
  /** the same service, directly on the net, with a limit */
  let direct: TestApp
  let key: string
  let made = 0
  const add = async (body: object = {}) => {
    const { json, text } = await app.post('/api/url/add', {
      key,
      body: { url: long, custom: `public-${++made}`, ...body },
    })
    expect(json['error'], text).to.equal(0)
    return { id: json['id'] as number, path: new URL(json['short']).pathname }
  }
  const statistics = async (id: number, clicks: number) =>
    (
      await until(
        () => app.get(`/api/url/${id}`, { key }),
        ({ json }) => json['data'].clicks >= clicks,
      )
    ).json['data']

  before(async () => {
    app = await startTestApp({ TRUST_PROXY: '1' })
    direct = await startTestApp({ RATE_LIMIT_PER_MINUTE: '30' }, app.connection)
    key = (await app.register()).key
  })
  after(async () => {
    await direct.close()
    await app.close()
  })

  describe('with headers that are hard to read (threat 20)', () => {
    const nasty = (length: number) => [
      ' '.repeat(length),
      '\t'.repeat(length),
      'a'.repeat(length),
      'a '.repeat(length / 2),
      ';q=0.1,'.repeat(length / 7),
      'a-'.repeat(length / 2),
      '(('.repeat(length / 2),
      'Mozilla/5.0 ('.repeat(length / 13),
      'bot/'.repeat(length / 4),
      `Android ${'1.'.repeat(length / 2)}`,
      `https://${'a.'.repeat(length / 2)}`,
      `http://${'www.m.l.'.repeat(length / 8)}com/`,
      `${'%'.repeat(length)}`,
      `bearer${' '.repeat(length)}x y`,
      '=;'.repeat(length / 2),
      ','.repeat(length),
    ]

    it('is understood in no time, by whatever reads them', () => {
      for (const text of nasty(100_000))
        for (const read of [
          () => readAgent(text),
          () => preferredLanguages(text),
          () => referrerHost(text, () => false),
        ]) {
          const times = Array.from({ length: 5 }, () => {
            const start = performance.now()
            read()
            return performance.now() - start
          })
          expect(Math.min(...times), `${text.slice(0, 20)}…`).to.be.below(20)
        }
    })

    it('is answered in no time, and counted', async () => {
      const { id, path } = await add()
      const names = ['User-Agent', 'Referer', 'Accept-Language', 'Accept', 'Cookie', 'X-Forwarded-For', 'Sec-Purpose']
      let visits = 0
      for (const text of nasty(15_000))
        for (const name of names) {
          const start = performance.now()
          const { status } = await send(app.address, 'GET', path, { headers: { [name]: text } })
          expect(performance.now() - start, `${name}: ${text.slice(0, 20)}…`).to.be.below(1000)
          expect(status).to.equal(302)
          visits++
        }
      for (const text of nasty(15_000)) {
        const { status } = await send(app.address, 'GET', '/api/urls', { headers: { Authorization: text } })
        expect(status).to.equal(401)
      }
      const recorded = await until(
        () =>
          query(
            app.connection,
            `select 1 from log.events, json_array_elements(data->'clicks') c where type = 'LinkClicked' and (c->>'link')::int = $1`,
            [id],
          ),
        ({ length }) => length >= visits,
      )
      expect(recorded).to.have.length(visits)
    })

    it('is checked in no time, by whatever is in its body', async () => {
      const length = 7_000
      for (const text of nasty(length))
        for (const body of [
          { url: text },
          { url: 'https://example.com/', custom: text, expiry: text, domain: text },
          { url: 'https://example.com/', geotarget: [{ location: text, link: text }] },
        ]) {
          const start = performance.now()
          const { status } = await app.post('/api/url/add', { key, body })
          expect(performance.now() - start, text.slice(0, 20)).to.be.below(1000)
          expect(status).to.equal(400)
        }
      for (const text of ['a@'.repeat(length / 2), `a@${'a.'.repeat(length / 2)}`, `${'a.'.repeat(length / 2)}@`]) {
        const start = performance.now()
        const { status } = await app.post('/register', { body: { email: text, password: text, username: text } })
        expect(performance.now() - start, text.slice(0, 20)).to.be.below(1000)
        expect(status).to.equal(400)
      }
    })
  })

  describe('with another host in it (threat 35)', () => {
    const hosts = [
      'evil.example',
      'evil.example:80',
      'a@evil.example',
      'evil.example/x',
      '[::1]',
      '127.0.0.1',
      'evil.example#',
      '"><script>',
      'e'.repeat(5000),
    ]

    it('makes no other short address', async () => {
      const body = JSON.stringify({ url: long })
      for (const host of hosts)
        for (const headers of [
          { Host: host },
          { 'X-Forwarded-Host': host },
          { Forwarded: `host=${host}` },
          { 'X-Host': host, 'X-Original-Host': host },
        ] as Record<string, string>[]) {
          const { status, text } = await send(app.address, 'POST', '/api/url/add', {
            body,
            headers: { Authorization: key, ...headers },
          })
          expect(status, text).to.equal(200)
          const { short, shorturl, id } = JSON.parse(text) as { short: string; shorturl: string; id: number }
          expect(new URL(short).origin).to.equal(app.app.baseUrl)
          expect(shorturl).to.equal(short)
          const read = await send(app.address, 'GET', `/api/url/${id}`, { headers: { Authorization: key, ...headers } })
          expect(read.text).not.to.include('evil')
        }
    })

    it('is served as on our own, and the host never shows', async () => {
      const { path } = await add()
      for (const host of hosts)
        for (const at of [path, '/no-such-alias', '/']) {
          const { headers, text } = await send(app.address, 'GET', at, { headers: { Host: host } })
          expect(`${text} ${Object.values(headers).flat().join()}`, host).not.to.match(/evil|script>/)
          if (at === path) expect(headers['location'], host).to.deep.equal([long])
        }
    })

    it('is served when the host comes twice, or before the path', async () => {
      const { path } = await add()
      for (const start of [
        `GET ${path} HTTP/1.1\r\nHost: go.example\r\nHost: evil.example`,
        `GET http://evil.example${path} HTTP/1.1\r\nHost: evil.example`,
        `GET HTTP://evil.example${path}?x HTTP/1.1\r\nHost: go.example`,
      ]) {
        const said = await wire(app.address, `${start}\r\nConnection: close\r\n\r\n`)
        expect(said, start)
          .to.match(/^HTTP\/1\.1 302 .*\r\nLocation: https:\/\/example\.com\/\r\n/s)
          .and.not.to.include('evil')
      }
      const body = JSON.stringify({ url: long })
      const said = await wire(
        app.address,
        `POST http://evil.example/api/url/add HTTP/1.1\r\nHost: evil.example\r\nAuthorization: ${key}\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
      )
      expect(said)
        .to.match(/^HTTP\/1\.1 200 /)
        .and.include(`"shorturl":"${app.app.baseUrl}/`)
        .and.not.include('evil')
    })
  })

  describe('that says where it comes from (threat 36)', () => {
    it('is not believed when it comes directly: not for the limit, the country or the visitor', async () => {
      const { id, path } = await add()
      for (const address of [canada, states, '1.2.3.4'])
        for (const name of [
          'X-Forwarded-For',
          'X-Real-IP',
          'CF-Connecting-IP',
          'True-Client-IP',
          'Forwarded',
          'CF-IPCountry',
        ])
          await direct.visit(path, {
            [name]: name === 'Forwarded' ? `for=${address}` : name === 'CF-IPCountry' ? 'CA' : address,
          })
      const data = await statistics(id, 18)
      expect(data).to.include({ clicks: 18, uniqueClicks: 1 })
      expect(data.topCountries).to.deep.equal({ Unknown: '18' })
      const left = []
      for (let i = 0; i < 5; i++) {
        const { headers } = await direct.get('/api/urls', { headers: { 'X-Forwarded-For': `198.51.100.${i}` } })
        left.push(Number(headers.get('X-RateLimit-Remaining')))
      }
      expect(left).to.deep.equal([29, 28, 27, 26, 25])
    })

    it('is believed as far as the proxy saw it, and no further', async () => {
      const { id, path } = await add()
      for (const forwarded of [
        `${states}, ${canada}`,
        `${states},1.2.3.4 , ${canada}`,
        `evil, ${canada}`,
        `,,${canada}`,
      ])
        await app.visit(path, { 'X-Forwarded-For': forwarded, 'CF-IPCountry': 'US' })
      await send(app.address, 'GET', path, { headers: { 'User-Agent': browser, 'X-Forwarded-For': [states, canada] } })
      const data = await statistics(id, 5)
      expect(data).to.include({ clicks: 5, uniqueClicks: 1 })
      expect(data.topCountries).to.deep.equal({ Canada: '5' })
    })
  })

  describe('is answered with headers that nobody keeps (threat 37)', () => {
    const page = {
      'cache-control': 'private, no-store',
      'content-security-policy':
        /^default-src 'none'; style-src 'sha256-[\w+/=]+'; form-action 'self'( http: https:)?; base-uri 'none'; frame-ancestors 'none'$/,
      'content-type': 'text/html; charset=utf-8',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      vary: 'Accept',
    }
    const transport = ['connection', 'content-length', 'date', 'keep-alive']

    it('each of them, as they are here', async () => {
      const [open, locked] = [await add(), await add({ password: 'sesame' })]
      const expired = await add({ expiry: inSeconds(60) })
      const form = { 'Content-Type': 'application/x-www-form-urlencoded' }
      for (const [status, wanted, method, path, body] of [
        [302, { 'cache-control': 'private, no-store', location: long }, 'GET', open.path],
        [302, { 'cache-control': 'private, no-store', location: long }, 'HEAD', open.path],
        [303, { 'cache-control': 'private, no-store', location: open.path }, 'POST', open.path],
        [200, page, 'GET', '/'],
        [200, page, 'GET', locked.path],
        [401, page, 'POST', locked.path, 'password=wrong'],
        [404, page, 'GET', '/no-such-alias'],
        [404, page, 'GET', '/api-docs/x'],
        [405, { ...page, allow: 'GET, HEAD, POST' }, 'PUT', open.path],
        [410, page, 'GET', expired.path],
        [413, page, 'POST', locked.path, 'x'.repeat(20_000)],
      ] as [number, Record<string, string | RegExp>, string, string, string?][]) {
        const ask = () => app.ask(method, path, body === undefined ? {} : { body, headers: form })
        const { headers, ...answer } = await (path === expired.path ? secondsLater(61, ask) : ask())
        expect(answer.status, `${method} ${path}`).to.equal(status)
        const given = Object.fromEntries([...headers].filter(([name]) => !transport.includes(name)))
        expect(given, `${method} ${path}`).to.have.all.keys(Object.keys(wanted))
        for (const [name, value] of Object.entries(wanted))
          if (typeof value === 'string') expect(given[name], `${method} ${path} ${name}`).to.equal(value)
          else expect(given[name]).to.match(value)
      }
    })

    it('and never repeats what was asked for', async () => {
      const canary = 'canary37'
      for (const headers of [{}, { Accept: 'application/json' }]) {
        for (const path of [`/${canary}`, `/x/${canary}`, `/?${canary}`, `/x?a=${canary}`, `/%3Cscript%3E${canary}`])
          expect((await app.visit(path, { ...headers, Referer: canary, 'X-Request-Id': canary })).text).not.to.include(
            canary,
          )
        for (const path of [`/api/${canary}`, `/api/url/${canary}`, `/api/urls?order=${canary}`]) {
          const { text, headers: given } = await app.get(path, { key, headers: { ...headers, 'X-Request-Id': canary } })
          expect(text + JSON.stringify([...given])).not.to.include(canary)
        }
      }
      const { text } = await app.post('/api/url/add', {
        key,
        body: { url: canary, custom: `${canary} `, type: canary },
      })
      expect(text).not.to.include(canary)
    })
  })

  describe('for one alias after the other (threat 21)', () => {
    const misses = thorough ? 10_000 : 1000
    const random = () => Math.random().toString(36).slice(2, 10)
    const from = (address: string) => ({ 'X-Forwarded-For': address })

    it(`learns nothing from ${misses} tries, and costs next to nothing; others are served`, async () => {
      const { path } = await add()
      const attacker = '198.51.100.9'
      const first = await app.visit(`/${random()}`, from(attacker))
      for (let sent = 0; sent < misses; sent += 20) {
        const answers = await Promise.all(Array.from({ length: 20 }, () => app.visit(`/${random()}`, from(attacker))))
        for (const { status, text } of answers) expect([status, text]).to.deep.equal([404, first.text])
      }
      expect((await app.visit(path, from('198.51.100.10'))).status).to.equal(302)
      // one that is asked for again and again is not looked up each time, whoever asks
      for (let i = 0; i < 200; i++) await app.visit('/nothing-here', from(`203.0.113.${i}`))
      await direct.close()
      await app.close()
      const looked = async (table: string) => {
        const [row] = await query<{ n: string }>(
          app.connection,
          'select sum(seq_scan + coalesce(idx_scan, 0)) as n from pg_stat_user_tables where relname like $1',
          [table],
        )
        return Number(row?.n ?? 0)
      }
      // what the connections have done is told when they end
      await until(
        () =>
          query(
            app.connection,
            `select 1 from pg_stat_activity where application_name like 'linkledger-%' and datname = current_database()`,
          ),
        ({ length }) => length === 0,
      )
      expect(await looked('links_v%')).to.be.within(60, 60 + 500)
      // what was written here before has its look-ups too, some five hundred
      expect(await looked('events')).to.be.below(misses * 0.75)
    }).timeout(60_000)
  })
})
