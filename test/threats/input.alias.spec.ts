import { expect } from 'chai'
import { events } from '../../src/events/index.ts'
import { routes } from '../../src/http/routes.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { query } from '../support/faults.ts'

const long = 'https://example.com/'

describe('hostile input as an alias', () => {
  let app: TestApp
  let key: string
  before(async () => {
    app = await startTestApp()
    key = (await app.register()).key
  })
  after(() => app.close())
  const add = (body: unknown) => app.post('/api/url/add', { key, body })
  const head = () => app.domainHead()

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

  it('must be ASCII, so that no two aliases look alike', async () => {
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

  it('cannot be a reserved path, or one that clients request by themselves', async () => {
    const written = await head()
    const ours = [...routes.map(({ path }) => path), '/healthz', '/readyz'].map((path) => path.split('/')[1]!)
    const words =
      'api qr metrics health healthz ready readyz live admin login logout static assets u c p r robots favicon sitemap index well-known true null undefined docs openapi asyncapi app dashboard register log report privacy imprint terms abuse security support www keys webhooks internal'
    for (const word of new Set([...ours, ...words.split(' ')]))
      for (const alias of [word, word.toUpperCase(), word[0]!.toUpperCase() + word.slice(1)]) await refused(alias)
    expect(await head()).to.equal(written)
  })

  it('cannot address a stream or a path', async () => {
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
    for (const custom of ['link-1', 'account-1', 'claim-alias-0-x', 'log-1'])
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
