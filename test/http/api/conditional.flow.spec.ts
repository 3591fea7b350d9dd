import { expect } from 'chai'
import { routes } from '../../../src/http/routes.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { bodies } from '../../support/bodies.ts'
import { type Answer, until } from '../../support/client.ts'
import { atOneMoment } from '../../support/clock.ts'

/** Routes that a path makes look like those of one resource with a revision. */
const others = new Map([
  ['get /api/channel/:id', 'a list of items'],
  ['put /api/key/:id/update', 'a part of the account'],
  ['delete /api/key/:id/delete', 'a part of the account'],
])
const named = routes.map((route) => ({ ...route, name: `${route.method} ${route.path}` }))
const ofOne = named.filter(
  ({ path, name }) => /^\/api\/[a-z]+\/:id(\/update|\/delete)?$/.test(path) && !others.has(name),
)
const kinds = Object.keys(bodies).filter((kind) => kind !== 'key')
const kindOf = (path: string) => path.split('/')[2]!

describe('conditional requests', () => {
  let app: TestApp
  let key: string
  let stranger: string
  before(async () => {
    app = await startTestApp()
    key = (await app.register()).key
    stranger = (await app.register()).key
  })
  after(() => app.close())

  const create = async (kind: string): Promise<{ id: number; revision: number }> => {
    const { json, text } = await app.post(`/api/${kind}/add`, { key, body: bodies[kind]![0]() })
    expect(json, text).to.include({ error: 0 })
    return json as { id: number; revision: number }
  }
  const route = (kind: string, method: string) =>
    ofOne.find(({ path, method: by }) => kindOf(path) === kind && by === method)?.path
  const ask = (method: string, path: string, id: number, headers = {}, body?: object, by = key) =>
    app.ask(method.toUpperCase(), path.replace(':id', String(id)), { key: by, headers, ...(body ? { body } : {}) })
  const change = (kind: string, id: number, match: string, body = bodies[kind]![1], by = key) =>
    ask('put', route(kind, 'put')!, id, { 'If-Match': match }, body, by)
  const tagOf = ({ headers }: Answer) => headers.get('ETag') ?? ''
  const readLink = (id: number, headers = {}) => ask('get', '/api/url/:id', id, headers)

  it('work on every route of the document that reads or changes one resource', () => {
    const missing = ofOne.filter(({ single, path }) => !single && kinds.includes(kindOf(path)))
    expect(missing.map(({ name }) => name)).to.deep.equal([])
    expect(named.filter(({ single }) => single)).to.have.length.at.least(kinds.length * 2)
  })

  for (const kind of kinds)
    it(`read and change one ${kind} by its revision`, async () => {
      const { id, revision } = await create(kind)
      const read = route(kind, 'get')
      const tag = read ? tagOf(await ask('get', read, id)) : `"${revision}"`
      expect(tag).to.match(new RegExp(`^"${revision}[".-]`))
      for (const known of read ? ['TAG', 'W/TAG', '*', '"other", W/TAG, "x"'] : []) {
        const askAgain = async () => {
          const now = tagOf(await ask('get', read!, id))
          return { now, answer: await ask('get', read!, id, { 'If-None-Match': known.replace('TAG', now) }) }
        }
        // a webhook moves on by itself, also between two requests
        const { now, answer } = await until(askAgain, ({ now, answer }) => tagOf(answer) === now)
        expect([answer.status, answer.text, tagOf(answer)], known).to.deep.equal([304, '', now])
      }
      for (const wrong of [`"${revision + 1}"`, `W/${tag}`, '"x"', '"-1"']) {
        const answer = await change(kind, id, wrong)
        expect([answer.status, answer.json['revision']], wrong).to.deep.equal([412, revision])
      }
      expect((await change(kind, id, String(revision))).json['message']).to.match(/^`If-Match` must be an ETag/)
      const changed = await change(kind, id, `"x", ${tag}`)
      expect([changed.status, changed.json['revision']], changed.text).to.deep.equal([200, revision + 1])
      if (read) expect((await ask('get', read, id, { 'If-None-Match': tag })).status).to.equal(200)
      const remove = (match: string, by = key) =>
        ask('delete', route(kind, 'delete')!, id, { 'If-Match': match }, undefined, by)
      expect((await remove(tag)).status).to.equal(412)
      expect((await remove('"0"', stranger)).status).to.equal(404)
      expect((await remove(`"${revision + 1}"`)).status).to.equal(200)
      expect((await remove('*')).status).to.equal(404)
    })

  it('let one of twenty simultaneous changes succeed; without a condition, all of them', async () => {
    const { id } = await create('url')
    const titles = Array.from({ length: 20 }, (_, n) => `t${n}`)
    const body = (title: string) => ({ url: 'https://example.com/', title })
    const conditional = await Promise.all(titles.map((title) => change('url', id, '"0"', body(title))))
    const with200 = conditional.filter(({ status }) => status === 200)
    const with412 = conditional.filter(({ status, json }) => status === 412 && json['revision'] === 1)
    expect([with200.length, with412.length]).to.deep.equal([1, 19])
    // a busy service may ask to send one again, which is safe with a key: 409 says that the first one still runs
    const freely = (title: string) =>
      until(
        () =>
          ask('put', route('url', 'put')!, id, { 'If-Match': '*', 'Idempotency-Key': title }, body(`${title} again`)),
        ({ status }) => status !== 503 && status !== 409,
      )
    const free = await Promise.all(titles.map(freely))
    expect(new Set(free.map(({ status }) => status))).to.deep.equal(new Set([200]))
    expect((await readLink(id)).json['details'].revision).to.equal(21)
    const gone = await Promise.all(titles.map(() => ask('delete', '/api/url/:id/delete', id, { 'If-Match': '"21"' })))
    expect(gone.filter(({ status }) => status === 200)).to.have.length(1)
  })

  it('never return 304 when anything in the response has changed, also data outside of the resource', async () => {
    const [pixel, channel] = [await create('pixel'), await create('channel')]
    const { id } = (await app.post('/api/url/add', { key, body: { url: 'https://a.example/', pixels: [pixel.id] } }))
      .json
    let tag = tagOf(await readLink(id))
    for (const [method, path] of [
      ['POST', `/api/channel/${channel.id}/assign/links/${id}`],
      ['DELETE', `/api/channel/${channel.id}/delete`],
      ['DELETE', `/api/pixel/${pixel.id}/delete`],
    ] as const) {
      expect((await readLink(id, { 'If-None-Match': tag })).status, path).to.equal(304)
      await app.ask(method, path, { key })
      const answer = await readLink(id, { 'If-None-Match': tag })
      expect([answer.status, tagOf(answer) === tag], path).to.deep.equal([200, false])
      expect(tagOf(answer)).to.match(/^"0\.0-/)
      tag = tagOf(answer)
    }
  })

  it('are obeyed for the account, and refused where nothing has a revision', async () => {
    const own = await app.register()
    const update = (match: string, email: string) =>
      app.put('/api/account/update', { key: own.key, headers: { 'If-Match': match }, body: { email } })
    const read = await app.get('/api/account', { key: own.key })
    const address = (name: string) => `${name}-${own.email}`
    expect((await update('"0"', address('a'))).status).to.equal(412)
    expect((await update(tagOf(read), address('b'))).status).to.equal(200)
    const add = await app.post('/api/url/add', {
      key,
      headers: { 'If-Match': '*' },
      body: { url: 'https://a.example/' },
    })
    expect([add.status, add.json['message']]).to.deep.equal([
      400,
      'This address does not support `If-Match`: leave it out.',
    ])
  })

  // the time of the last use of a key is not to change between two requests
  it('answer HEAD like GET without a body, and OPTIONS with the methods, on every path', () =>
    atOneMoment(async () => {
      for (const { path, method, public: open } of named) {
        const at = path.replaceAll(':type', 'links').replaceAll(/:\w+/g, '999999')
        const options = await app.ask('OPTIONS', at)
        expect([options.status, options.text], at).to.deep.equal([204, ''])
        expect(options.headers.get('Allow')?.split(', '), at).to.include.members([method.toUpperCase(), 'OPTIONS'])
        if (method !== 'get' || open) continue
        const [get, head] = [await app.get(at, { key }), await app.ask('HEAD', at, { key })]
        expect(head.text).to.equal('')
        for (const name of ['Content-Length', 'Content-Type', 'ETag', 'Link', 'Cache-Control'])
          expect(head.headers.get(name), `${at} ${name}`).to.equal(get.headers.get(name))
        expect(head.status, at).to.equal(get.status)
      }
      expect((await app.ask('OPTIONS', '/api/nothing')).status).to.equal(404)
    }))

  it('fail in the form of RFC 9457 for a client that accepts it', async () => {
    const headers = { Accept: 'application/json, application/problem+json;q=0.5' }
    const { status, json, headers: sent } = await app.post('/api/url/add', { key, headers, body: { url: 5 } })
    expect(sent.get('Content-Type')).to.match(/^application\/problem\+json/)
    const { detail, ...rest } = json
    expect(detail).to.match(/^`url` must be /)
    expect({ status, ...rest }).to.deep.equal({
      type: 'about:blank',
      title: 'Bad Request',
      status: 400,
      instance: `urn:uuid:${sent.get('X-Request-Id')}`,
      error: 1,
      message: detail,
      code: 'wrong_type',
      field: 'url',
      params: { what: 'string' },
    })
    const unknown = await app.get('/api/url/999999', { headers })
    expect([unknown.status, unknown.json['title'], 'field' in unknown.json]).to.deep.equal([401, 'Unauthorized', false])
  })
})
