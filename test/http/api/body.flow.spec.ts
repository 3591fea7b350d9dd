import { expect } from 'chai'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { type RawAnswer, send } from '../../support/raw.ts'

const long = 'https://example.com/'

describe('a request body', () => {
  let app: TestApp
  let key: string
  before(async () => {
    app = await startTestApp()
    key = (await app.register()).key
  })
  after(() => app.close())
  const add = async (by = key) => Number((await app.post('/api/url/add', { key: by, body: { url: long } })).json['id'])

  const post = (body: string | Buffer, headers: Record<string, string>) =>
    send(app.address, 'POST', '/api/url/add', { body, headers: { Authorization: key, ...headers } })
  const status = async (answer: Promise<RawAnswer>) => (await answer).status
  const good = JSON.stringify({ url: long })

  it('is JSON with that content type or none', async () => {
    expect(await status(post(good, {}))).to.equal(200)
    for (const type of ['application/json', 'application/json; charset=utf-8', 'Application/JSON;charset=UTF-8'])
      expect(await status(post(good, { 'Content-Type': type })), type).to.equal(200)
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'text/json',
      'application/jsonx',
      'application/json-patch+json',
    ])
      expect(await status(post(good, { 'Content-Type': type })), type).to.equal(415)
  })

  it('is sent without a coding, whose name has no letter case', async () => {
    for (const [coding, answer] of [
      ['Identity', 200],
      ['identity', 200],
      ['GZIP', 415],
    ] as const)
      expect(await status(post(good, { 'Content-Encoding': coding })), coding).to.equal(answer)
  })

  it('counts as an empty object when it is missing', async () => {
    for (const headers of [{}, { 'Content-Type': 'application/json' }] as Record<string, string>[]) {
      const { status, text } = await post('', headers)
      expect([status, JSON.parse(text)]).to.deep.equal([
        400,
        { error: 1, message: '`url` is required.', code: 'required', field: 'url', params: {} },
      ])
    }
  })

  it('is at most 64 KiB large', async () => {
    const padded = (bytes: number) => good.replace('}', `,"x":"${'x'.repeat(bytes - good.length - 7)}"}`)
    expect(Buffer.byteLength(padded(65_536))).to.equal(65_536)
    expect(await status(post(padded(65_536), {}))).to.equal(200)
    expect(await status(post(padded(65_537), {}))).to.equal(413)
  })

  it('may contain any character', async () => {
    const title = 'Käse 🧀 \u202e \ufffd \\u0007 "x"'
    const made = await app.post('/api/url/add', { key, body: { url: long, title } })
    expect(made.json['error'], made.text).to.equal(0)
    expect((await app.get(`/api/url/${made.json['id']}`, { key })).json['details'].title).to.equal(title)
  })

  it('is ignored by routes without a body', async () => {
    const id = await add()
    for (const [method, path] of [
      ['GET', '/api/urls'],
      ['GET', `/api/url/${id}`],
      ['DELETE', `/api/url/${id}/delete`],
    ] as const) {
      const headers = { Authorization: key, 'Content-Type': 'text/plain', 'Content-Encoding': 'br' }
      const { status, text } = await send(app.address, method, path, { headers, body: '{"broken' })
      expect(status, `${method} ${path} ${text}`).to.equal(200)
    }
  })
})
