import { gzipSync } from 'node:zlib'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { once } from 'node:events'
import { expect } from 'chai'
import { startTestApp, type TestApp } from '../support/app.ts'
import { note, query, spread } from '../support/faults.ts'
import { send } from '../support/raw.ts'
import { expectProblem } from '../support/conventions.ts'

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
  const head = () => app.domainHead()
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

  it('serves others while clients send as slowly as possible', async () => {
    expect(slow.open()).to.equal(500)
    const times: number[] = []
    for (let i = 0; i < 25; i++) {
      const paths = ['/made-up', '/', '/healthz', '/api/nothing']
      const all = await Promise.all(paths.map((path) => timed(() => app.get(path))))
      times.push(...all.map(({ ms }) => ms))
    }
    note(`with 500 slow connections: ${spread(times)}`)
    expect(times.toSorted((a, b) => a - b)[98]).to.be.below(5000)
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

    it('is rejected at once in JSON and stores nothing', async () => {
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
        const json = JSON.parse(answer.text) as Record<string, unknown>
        expectProblem(json, what)
        expect(json, what).to.have.all.keys('error', 'message', 'code', 'params', ...('field' in json ? ['field'] : []))
        expect(json, what).to.include({ error: 1 })
        expect(answer.headers['x-ratelimit-limit'], what).to.have.length(1)
        expect(ms, what).to.be.below(5000)
      }
      expect(await head()).to.equal(written)
    })

    it('uses one of two fields with the same name, never both', async () => {
      const { answer } = await raw(`{"url":"https://one.example/","url":"${long}","custom":"twice","custom":"once"}`)
      expect(answer.status).to.equal(200)
      expect((await app.visit('/once')).headers.get('Location')).to.equal(long)
      expect((await app.visit('/twice')).status).to.equal(404)
    })

    it('cannot reach a prototype', async () => {
      for (const body of [
        `{"url":"${long}","__proto__":{"polluted":1}}`,
        `{"url":"${long}","\\u005f_proto__":{"polluted":1}}`,
        `{"url":"${long}","x":[{"__proto__":null}]}`,
        `{"url":"${long}","__proto__":null}`,
      ]) {
        const { answer } = await raw(body)
        expect([answer.status, JSON.parse(answer.text)], body).to.deep.equal([
          400,
          { error: 1, message: 'The body must be a JSON object.', code: 'wrong_body', params: { what: 'object' } },
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
      const parameters = ['__proto__', 'constructor', 'toString'].map((name) => ({ name, value: 'x' }))
      for (const { name } of parameters) {
        expect((await add({ url: long, geotarget: [{ location: name, link: long }] })).status).to.equal(400)
        expect((await add({ url: long, devicetarget: [{ device: name, link: long }] })).status).to.equal(400)
      }
      const { json } = await add({ url: long, parameters })
      const { json: read } = await app.get(
        `/api/url/${json['id']}?__proto__[polluted]=1&constructor[prototype][polluted]=1`,
        { key },
      )
      expect(read['details'].parameters).to.deep.equal(parameters)
      for (const path of ['/constructor', '/__proto__', '/hasOwnProperty', '/valueOf'])
        expect((await app.visit(path)).status, path).to.equal(404)
      for (const path of ['/api/constructor', '/api/__proto__', '/api/url/constructor'])
        expect((await app.get(path, { key })).status, path).to.equal(404)
      expect(({} as Record<string, unknown>)['polluted']).to.equal(undefined)
      expect(Object.prototype.toString.call([])).to.equal('[object Array]')
    })
  })

  describe('in unknown fields', () => {
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
      const body = { ...more('canary28c'), email: 'mass@example.com', username: 'mass', password: 'correct horse 1' }
      const { json: made } = await app.post('/register', { body })
      const mine = String(made['api_key'])
      const before = await app.get('/api/account', { key: mine })
      expect(before.json['data']).to.include({ id: made['id'], status: 'pro', username: 'mass' })
      const update = { ...more('canary28d'), username: 'other', password: 'correct horse 2' }
      expect((await app.put('/api/account/update', { key: mine, body: update })).status).to.equal(200)
      const after = await app.get('/api/account', { key: mine })
      // its password has changed
      const { revision } = after.json['data'] as { readonly revision: number }
      expect(after.json).to.deep.equal({ ...before.json, data: { ...(before.json['data'] as object), revision } })
      expect(await inLog('canary28')).to.equal(0)
    })
  })

  describe('slow headers', () => {
    it('time out after ten seconds, also when the client goes on sending', async () => {
      const said = await slow.ended()
      expect(slow.open()).to.equal(0)
      for (const answer of said) expect(answer).to.match(/^(HTTP\/1\.1 408 .*)?$/s)
    }).timeout(300_000)
  })

  it('closes a connection without a request, and answers nothing', async () => {
    const { hostname, port } = new URL(app.address)
    const unused = connect({ port: Number(port), host: hostname })
    expect(await text(unused)).to.equal('')
  }).timeout(300_000)
})

interface Slow {
  readonly open: () => number
  /** Resolves once the server has closed all connections, with what it sent on each. */
  readonly ended: () => Promise<readonly string[]>
  readonly close: () => void
}

/** Opens connections that send a header line every second and never finish. */
const openSlow = async (address: string, count: number): Promise<Slow> => {
  const { hostname, port } = new URL(address)
  const sockets: Socket[] = []
  for (let i = 0; i < count; i++) {
    // the client keeps its half of the connection open when the server has closed the other one
    const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true })
    socket.on('error', () => {})
    await once(socket, 'connect')
    socket.write('GET /slow HTTP/1.1\r\nHost: x\r\n')
    sockets.push(socket)
  }
  const open = () => sockets.filter(({ readyState }) => readyState === 'open')
  const dribble = setInterval(
    () => sockets.filter(({ writable }) => writable).forEach((socket) => socket.write('X-Slow: 1\r\n')),
    1000,
  )
  const said = sockets.map(async (socket) => {
    let text = ''
    socket.setEncoding('utf8').on('data', (part: string) => (text += part))
    // `once` would fail with the error of a connection that was reset
    await new Promise((closed) => socket.once('close', closed))
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
