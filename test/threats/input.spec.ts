import { gzipSync } from 'node:zlib'
import { connect, type Socket } from 'node:net'
import { once } from 'node:events'
import { expect } from 'chai'
import fc from 'fast-check'
import { events } from '../../src/events/index.ts'
import { routes } from '../../src/http/api/routes.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { long as thorough, note, query, repeatable, seed, spread } from '../support/faults.ts'
import { send } from '../support/raw.ts'

const long = 'https://example.com/'
const timed = async <T>(work: () => Promise<T>) => {
  const start = performance.now()
  return { answer: await work(), ms: performance.now() - start }
}

describe('hostile input', () => {
  let app: TestApp
  let key: string
  let slow: Slow
  const add = (body: unknown) => app.post('/api/url/add', { key, body })
  const head = () => app.app.ledger.store.head('domain')
  const inLog = async (text: string) =>
    (await query(app.connection, 'select 1 from log.events where data::text like $1', [`%${text}%`])).length
  before(async () => {
    app = await startTestApp()
    key = (await app.register()).key
    slow = await openSlow(app.address, 500)
  })
  after(async () => {
    slow.close()
    await app.close()
  })

  it('serves others while clients send as slowly as possible (threat 42, fault 68)', async () => {
    expect(slow.open()).to.equal(500)
    const times: number[] = []
    for (let i = 0; i < 25; i++) {
      const paths = ['/made-up', '/', '/healthz', '/api/nothing']
      const all = await Promise.all(paths.map((path) => timed(() => app.get(path))))
      times.push(...all.map(({ ms }) => ms))
    }
    note(`with 500 slow connections: ${spread(times)}`)
    expect(times.toSorted((a, b) => a - b)[98]).to.be.below(1000)
  })

  describe('in a body', () => {
    const raw = (body: string | Buffer, headers: Record<string, string> = {}) =>
      timed(() =>
        send(app.address, 'POST', '/api/url/add', {
          body,
          headers: { Authorization: key, 'Content-Type': 'application/json', ...headers },
        }),
      )
    const deep = (open: string, close: string, n: number) => open.repeat(n) + close.repeat(n)

    it('is rejected at once in JSON and stores nothing (threat 19, fault 62)', async () => {
      const written = await head()
      const bomb = gzipSync(Buffer.alloc(50_000_000, ' '))
      expect(bomb.length).to.be.below(65_536)
      for (const [status, what, body, headers] of [
        [413, '65 KiB', JSON.stringify({ url: long, x: 'x'.repeat(65 * 1024) })],
        [400, '60,000 brackets', '['.repeat(60_000)],
        [400, '30,000 arrays', deep('[', ']', 30_000)],
        [400, '30,000 arrays in a field', `{"url":"${long}","x":${deep('[', ']', 30_000)}}`],
        [400, '10,000 objects', `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`],
        [400, '9 levels', `{"url":"${long}","x":${deep('[', ']', 9)}}`],
        [400, '20,000 values', `{"url":"${long}","x":[${'1,'.repeat(20_000)}1]}`],
        [415, 'a gzip bomb', bomb, { 'Content-Encoding': 'gzip' }],
        [415, 'deflate', bomb, { 'Content-Encoding': 'deflate' }],
        [415, 'br', bomb, { 'Content-Encoding': 'br' }],
        [415, 'two encodings', bomb, { 'Content-Encoding': 'identity, gzip' }],
        [400, 'gzip that does not say so', bomb],
        [415, 'a form', 'url=https://example.com/', { 'Content-Type': 'application/x-www-form-urlencoded' }],
        [415, 'multipart', '--x\r\n\r\n--x--', { 'Content-Type': 'multipart/form-data; boundary=x' }],
        [415, 'text', '{}', { 'Content-Type': 'text/plain' }],
        [400, 'null', 'null'],
        [400, 'true', 'true'],
        [400, 'a number', '1e999'],
        [400, 'a text', '"x"'],
        [400, 'an array', '[]'],
        [400, 'an array of objects', `[{"url":"${long}"}]`],
        [400, 'spaces', '   '],
        [400, 'half an object', '{"url":"https://example.com/'],
        [400, 'two objects', `{"url":"${long}"}{}`],
        [400, 'single quotes', `{'url':'${long}'}`],
        [400, 'a trailing comma', `{"url":"${long}",}`],
        [400, 'NaN', `{"url":"${long}","x":NaN}`],
        [400, 'UTF-16', Buffer.from(`{"url":"${long}"}`, 'utf16le')],
        [
          400,
          'bytes that are no UTF-8',
          Buffer.from([...Buffer.from(`{"url":"${long}","title":"`), 0xc3, 0x28, 0x22, 0x7d]),
        ],
        [
          400,
          'a cut UTF-8 sequence',
          Buffer.from([...Buffer.from(`{"url":"${long}","title":"`), 0xf0, 0x9f, 0x92, 0x22, 0x7d]),
        ],
        [400, 'an overlong slash', Buffer.from([...Buffer.from(`{"url":"${long}","title":"`), 0xc0, 0xaf, 0x22, 0x7d])],
        [400, 'a lone surrogate', `{"url":"${long}","title":"\\ud800"}`],
        [400, 'a NUL', `{"url":"${long}","title":"\\u0000"}`],
        [400, 'a raw control character', `{"url":"${long}","title":"\u0001"}`],
        [400, 'nothing', ''],
        [400, 'an empty object', '{}'],
      ] as [number, string, string | Buffer, Record<string, string>?][]) {
        const { answer, ms } = await raw(body, headers)
        expect(answer.status, `${what}: ${answer.text}`).to.equal(status)
        const json = JSON.parse(answer.text) as object
        expect(json, what).to.have.all.keys('error', 'message')
        expect(json, what).to.include({ error: 1 })
        expect(answer.headers['x-ratelimit-limit'], what).to.have.length(1)
        expect(ms, what).to.be.below(1000)
      }
      expect(await head()).to.equal(written)
    })

    it('uses one of two fields with the same name, never both', async () => {
      const { answer } = await raw(`{"url":"https://one.example/","url":"${long}","custom":"twice","custom":"once"}`)
      expect(answer.status).to.equal(200)
      expect((await app.visit('/once')).headers.get('Location')).to.equal(long)
      expect((await app.visit('/twice')).status).to.equal(404)
    })

    it('cannot reach a prototype (threat 18)', async () => {
      for (const body of [
        `{"url":"${long}","__proto__":{"polluted":1}}`,
        `{"url":"${long}","\\u005f_proto__":{"polluted":1}}`,
        `{"url":"${long}","x":[{"__proto__":null}]}`,
        `{"url":"${long}","__proto__":null}`,
      ]) {
        const { answer } = await raw(body)
        expect([answer.status, JSON.parse(answer.text)], body).to.deep.equal([
          400,
          { error: 1, message: 'The body must be a JSON object.' },
        ])
      }
      for (const body of [
        { constructor: { prototype: { polluted: 1 } } },
        { prototype: { polluted: 1 } },
        { toString: 'x', hasOwnProperty: 1, valueOf: null },
      ]) {
        const { status } = await add({ url: long, ...body })
        expect([200, 400]).to.include(status)
      }
      const named = ['__proto__', 'constructor', 'toString'].map((location) => ({ location, link: long }))
      const { json } = await add({ url: long, geotarget: named, parameters: [{ name: '__proto__', value: 'x' }] })
      const { json: read } = await app.get(
        `/api/url/${json['id']}?__proto__[polluted]=1&constructor[prototype][polluted]=1`,
        { key },
      )
      expect(Object.keys(read['details'].location)).to.deep.equal(['__proto__', 'constructor', 'tostring'])
      for (const path of ['/constructor', '/__proto__', '/hasOwnProperty', '/valueOf'])
        expect((await app.visit(path)).status, path).to.equal(404)
      for (const path of ['/api/constructor', '/api/__proto__', '/api/url/constructor'])
        expect((await app.get(path, { key })).status, path).to.equal(404)
      expect(({} as Record<string, unknown>)['polluted']).to.equal(undefined)
      expect(Object.prototype.toString.call([])).to.equal('[object Array]')
    })
  })

  describe('in unknown fields (threat 28)', () => {
    const more = (word: string) => ({
      id: 1,
      owner: 1,
      account: 1,
      user: word,
      clicks: 1e6,
      uniqueclicks: 1e6,
      date: word,
      created: word,
      deleted: word,
      revision: 7,
      position: 7,
      token: word,
      status: word,
      plan: word,
      expires: word,
      registered: word,
      avatar: word,
      schemaVersion: 7,
      metadata: { account: 1, actor: { kind: 'operator' } },
      alias: word,
      shorturl: word,
      passwordHash: word,
      is_admin: true,
    })

    it('changes and stores nothing for a link', async () => {
      const { json: made } = await app.post('/api/url/add', {
        key,
        body: { ...more('canary28a'), url: long, custom: 'mass' },
      })
      const path = `/api/url/${made['id']}`
      const before = await app.get(path, { key })
      expect(before.json['details']).to.include({ alias: 'mass', title: '' })
      const { status } = await app.put(`${path}/update`, { key, body: { ...more('canary28b'), url: long } })
      expect(status).to.equal(200)
      expect((await app.get(path, { key })).text).to.equal(before.text)
      expect(await inLog('canary28')).to.equal(0)
    })

    it('changes and stores nothing for an account', async () => {
      const body = { ...more('canary28c'), email: 'mass@example.com', password: 'correct horse 1' }
      const { json: made } = await app.post('/register', { body })
      const mine = String(made['api_key'])
      const before = await app.get('/api/account', { key: mine })
      expect(before.json['data']).to.include({ id: made['id'], status: 'pro', username: 'mass' })
      const update = { ...more('canary28d'), username: 'other', password: 'correct horse 2' }
      expect((await app.put('/api/account/update', { key: mine, body: update })).status).to.equal(200)
      expect((await app.get('/api/account', { key: mine })).text).to.equal(before.text)
      expect(await inLog('canary28')).to.equal(0)
    })
  })

  describe('as SQL (threat 29)', () => {
    const injections = [
      "'",
      "1'--",
      "1' or '1'='1",
      '1; drop table read.links',
      '1) union select email from read.accounts--',
      'pg_sleep(10)',
      "'; select pg_sleep(10);--",
      '1/**/or/**/1=1',
      '$1',
      '?',
      '??',
      ':name',
      '\\',
      '%27%20or%201=1',
      '{"a":1}',
      '(select 1)',
      'id desc, (select 1)',
      'date;--',
      "click' desc--",
    ]

    it('is treated as text only', async () => {
      const before = await app.get('/api/urls', { key })
      for (const sql of injections) {
        const at = encodeURIComponent(sql)
        const names = ['limit', 'page', 'order', 'q', 'short', 'domain', 'campaign', 'channel', 'sort', at]
        await Promise.all(
          names.map(async (name) => {
            const { answer, ms } = await timed(() => app.get(`/api/urls?${name}=${at}`, { key }))
            expect(answer.status, `${name}=${sql}`).to.equal(200)
            expect(ms).to.be.below(5000)
          }),
        )
        for (const [name, wanted] of [
          ['limit', 'limit[]'],
          ['limit', 'limit[0]'],
          ['order', 'order[$ne]'],
        ])
          expect((await app.get(`/api/urls?${wanted}=${at}`, { key })).text, name).to.equal(before.text)
        expect((await app.get(`/api/url/${at}`, { key })).status).to.equal(404)
        expect((await app.visit(`/${at}`)).status).to.equal(404)
        expect((await app.get('/api/account', { key: sql })).status).to.equal(401)
        expect((await app.post('/register', { body: { email: sql, password: sql } })).status).to.equal(400)
      }
      expect((await app.get('/api/urls', { key })).text).to.equal(before.text)
    })

    it('is stored and returned as it was written', async () => {
      const title = injections.join(' | ').slice(0, 255)
      const geotarget = injections.map((location) => ({ location, link: long }))
      const { json } = await add({ url: long, title, geotarget, description: title, password: injections[2] })
      const { json: read } = await app.get(`/api/url/${json['id']}`, { key })
      expect(read['details']).to.include({ title, description: title })
      expect(Object.keys(read['details'].location)).to.have.members(injections.map((text) => text.toLowerCase()))
      const { headers } = await app.visit(new URL(json['short']).pathname)
      expect(headers.get('Location')).to.equal(null)
    })
  })

  describe('as a number (threat 30, fault 65)', () => {
    const numbers =
      '0 -1 1.5 1e3 1e309 9007199254740993 9223372036854775807 9223372036854775808 18446744073709551616 NaN Infinity 0x1f ١٢ １２'
        .split(' ')
        .concat('9'.repeat(1000), '-0', ' 1', '1 ', '+1', '')

    it('never makes an id overflow', async () => {
      for (const number of numbers.filter((text) => text.trim() !== '1' && text !== ''))
        for (const [method, path] of [
          ['GET', `/api/url/${encodeURIComponent(number)}`],
          ['DELETE', `/api/url/${encodeURIComponent(number)}/delete`],
        ] as const)
          expect((await app.ask(method, path, { key })).status, `${method} ${number}`).to.equal(404)
    })

    it('never makes a page number overflow', async () => {
      const huge = '9007199254740993'
      const pairs = numbers.flatMap((number) => [
        [number, '1'],
        [number, huge],
        ['15', number],
        [huge, number],
      ])
      for (const [limit = '', page = ''] of pairs) {
        const asked = `limit=${encodeURIComponent(limit)}&page=${encodeURIComponent(page)}`
        const { status, json } = await app.get(`/api/urls?${asked}`, { key })
        expect(status, asked).to.equal(200)
        const { urls: _, ...envelope } = json['data']
        for (const [name, n] of Object.entries(envelope))
          expect(Number.isSafeInteger(n), `${name} of ${asked}`).to.equal(true)
        expect(envelope.perpage).to.be.within(1, 1000)
      }
    })

    const runs = thorough ? 10_000 : 300
    it(`is never an error in any of ${runs} made-up queries (${repeatable})`, async () => {
      const word = fc.oneof(
        fc.constantFrom('limit', 'page', 'order', 'date', 'click', '__proto__', '%', '%zz', '%00', '&', '=', '[]', '+'),
        fc.constantFrom(...numbers),
        fc.string({ unit: 'binary', maxLength: 8 }).map((text) => encodeURIComponent(text.toWellFormed())),
        fc.string({ maxLength: 8 }).map((text) => text.replaceAll('#', '')),
      )
      const queries = fc.sample(fc.array(fc.tuple(word, word), { maxLength: 4 }), { numRuns: runs, seed })
      const texts = queries.map((pairs) => pairs.map(([name, value]) => `${name}=${value}`).join('&'))
      while (texts.length > 0)
        await Promise.all(
          texts.splice(0, 20).map(async (text) => {
            const { status, json } = await app.get(`/api/urls?${text}`, { key })
            expect([status, json['error']], text).to.deep.equal([200, '0'])
          }),
        )
    })
  })

  describe('as an alias', () => {
    const refused = async (custom: unknown) => {
      for (const { status, json } of [
        await add({ url: long, custom }),
        await app.put(`/api/url/${mine}/update`, { key, body: { url: long, custom } }),
      ]) {
        expect(status, JSON.stringify(custom)).to.equal(400)
        expect(json['message'], JSON.stringify(custom)).to.match(/^`custom` /)
      }
    }
    let mine: number
    before(async () => (mine = Number((await add({ url: long })).json['id'])))

    it('must be ASCII, so that no two aliases look alike (threat 31)', async () => {
      const written = await head()
      for (const alias of [
        'аpple', // the first letter is Cyrillic
        'ａpple',
        'app\u200dle',
        'app\u200ble',
        'app\u202ele',
        'é',
        'e\u0301',
        'caf%C3%A9',
        'ﬁle',
        'ſ',
        '\u212a', // the Kelvin sign: its small letter is k
        'İ',
        'a\u00adb',
        'a b',
        'a.b',
        '😀',
        '中文',
        'a\u0000',
      ]) {
        await refused(alias)
        expect((await app.visit(`/${encodeURIComponent(alias)}`)).status, alias).to.equal(404)
      }
      expect(await head()).to.equal(written)
    })

    it('cannot be a reserved path, or one that clients request by themselves (threat 32)', async () => {
      const written = await head()
      const ours = [...routes.map(({ path }) => path), '/healthz', '/readyz'].map((path) => path.split('/')[1]!)
      const words =
        'api qr metrics health healthz ready readyz live admin login logout static assets u c p r robots favicon sitemap index well-known true null undefined docs openapi asyncapi app dashboard register'
      for (const word of new Set([...ours, ...words.split(' ')]))
        for (const alias of [word, word.toUpperCase(), word[0]!.toUpperCase() + word.slice(1)]) await refused(alias)
      expect(await head()).to.equal(written)
    })

    it('cannot address a stream or a path (threat 43)', async () => {
      for (const alias of [
        '$all',
        '$$x',
        '$ce-link',
        'a/b',
        '../a',
        '..',
        '.',
        '-',
        '_',
        '--',
        "a'b",
        'a"b',
        'a;b',
        'a%2fb',
        'a\\b',
        'a:b',
        'a@b',
        'a|b',
        '*',
      ])
        await refused(alias)
      for (const custom of ['link-1', 'account-1', 'claim-alias-0-x', 'log'])
        expect((await add({ url: long, custom })).status).to.equal(200)
      await add({
        url: long,
        type: 'LinkDeleted',
        stream: '$all',
        eventType: 'AccountErased',
        metadata: { account: 2 },
      })
      const streams = await query<{ stream: string; type: string }>(
        app.connection,
        'select distinct stream, type from log.events',
      )
      const shape =
        /^(log|account-\d+|link-\d+|clicks-local-\d+|claim-alias-\d+-[a-z\d][a-z\d_-]{0,63}|claim-(email|username)-[\w-]{43})$/
      for (const { stream, type } of streams) {
        expect(stream).to.match(shape)
        expect(Object.keys(events)).to.include(type)
      }
    })
  })

  describe('slow headers', () => {
    it('time out after ten seconds (threat 42)', async () => {
      const said = await slow.ended()
      expect(slow.open()).to.equal(0)
      for (const text of said) expect(text).to.match(/^(HTTP\/1\.1 408 .*)?$/s)
    }).timeout(60_000)
  })
})

interface Slow {
  readonly open: () => number
  /** Once all have been closed by the other side: what each was told. */
  readonly ended: () => Promise<readonly string[]>
  readonly close: () => void
}

/** Connections that send a header's line now and then, and never come to an end. */
const openSlow = async (address: string, count: number): Promise<Slow> => {
  const { hostname, port } = new URL(address)
  const sockets: Socket[] = []
  for (let i = 0; i < count; i++) {
    const socket = connect(Number(port), hostname)
    socket.on('error', () => {})
    await once(socket, 'connect')
    socket.write('GET /slow HTTP/1.1\r\nHost: x\r\n')
    sockets.push(socket)
  }
  const open = () => sockets.filter(({ readyState }) => readyState === 'open')
  const dribble = setInterval(() => open().forEach((socket) => socket.write('X-Slow: 1\r\n')), 1000)
  const said = sockets.map(async (socket) => {
    let text = ''
    socket.setEncoding('utf8').on('data', (part: string) => (text += part))
    await once(socket, 'close')
    return text
  })
  return {
    open: () => open().length,
    ended: () => Promise.all(said),
    close: () => {
      clearInterval(dribble)
      sockets.forEach((socket) => socket.destroy())
    },
  }
}
