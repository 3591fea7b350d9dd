import { expect } from 'chai'
import { operatorContext } from '../../../src/app/operator/caller.ts'
import { block } from '../../../src/commands/operator/block.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { until } from '../../support/client.ts'

const mail = 'mailto:ann@example.com?subject=Hello'
const iphone = 'Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) Safari/604.1'

describe('a link to an address that another program opens', () => {
  let app: TestApp
  let key: string
  before(async () => {
    app = await startTestApp({ ALLOWED_SCHEMES: 'myapp' })
    ;({ key } = await app.register())
  })
  after(() => app.close())

  const add = (body: object) => app.post('/api/url/add', { key, body: { url: 'https://example.com/', ...body } })
  const made = async (body: object) => {
    const { json, text } = await add(body)
    expect(json['error'], text).to.equal(0)
    return json['id'] as number
  }
  const details = async (id: number) => (await app.get(`/api/url/${id}`, { key })).json['details']

  it('redirects to it, and counts the click by it', async () => {
    const id = await made({ url: mail, custom: 'mail' })
    const { status, headers } = await app.visit('/mail?x=1')
    expect([status, headers.get('Location')]).to.deep.equal([302, mail])
    expect(await details(id)).to.include({ longurl: mail })
    const destinations = async () =>
      (await app.get(`/api/url/${id}/revisions`, { key })).json['data'].revisions[0].sent as { destination: string }[]
    expect((await until(destinations, (sent) => sent.length > 0))[0]?.destination).to.equal(mail)
  })

  it('leads some visitors to an app that the operator allows, and others to the web', async () => {
    const rules = { devicetarget: [{ device: 'iphone', link: 'MyApp://open/7' }] }
    const id = await made({ custom: 'opens', ...rules })
    const to = async (agent: string) => (await app.visit('/opens', { 'User-Agent': agent })).headers.get('Location')
    expect(await to(iphone)).to.equal('myapp://open/7')
    expect(await to('curl/8.1')).to.equal('https://example.com/')
    expect(await details(id)).to.deep.include({ device: { iphone: 'myapp://open/7' } })
  })

  it('shows previewers no page with it, and people none either', async () => {
    await made({
      url: 'tel:+15550100199',
      custom: 'call',
      metatitle: 'Call us',
      metaimage: 'https://example.com/a.png',
    })
    for (const agent of ['facebookexternalhit/1.1', iphone]) {
      const { status, headers } = await app.visit('/call', { 'User-Agent': agent })
      expect([status, headers.get('Location')], agent).to.deep.equal([302, 'tel:+15550100199'])
    }
  })

  it('may need a password, whose form may lead on to it', async () => {
    await made({ url: mail, custom: 'secret', password: 'open sesame' })
    const { headers } = await app.visit('/secret')
    expect(headers.get('Content-Security-Policy')).to.include("form-action 'self' http: https: mailto:;")
  })

  it('has no scheme that the operator does not allow', async () => {
    for (const [body, message] of [
      [{ url: 'otherapp://x' }, '`url` must start with one of https, http, mailto, tel, sms, geo, myapp.'],
      [{ geotarget: [{ location: 'CA', link: 'otherapp://x' }] }, '`geotarget` must start with one of https'],
      [{ url: 'mailto:ann' }, '`url` must be a whole address, for example mailto:ann@example.com'],
      [{ url: 'javascript:alert(1)' }, '`url` must be a web address'],
      [{ expired_url: mail }, '`expired_url` must be a web address'],
      [{ metaimage: mail }, '`metaimage` must be a web address'],
      [{ variants: [{ url: mail }, { url: 'https://example.com/' }] }, '`variants.0.url` must be a web address'],
    ] as const) {
      const { status, json } = await add(body)
      expect(`${status} ${String(json['message'])}`).to.include(`400 ${message}`)
    }
  })

  const webOnly: Readonly<Record<string, object>> = {
    type: { type: 'frame' },
    parameters: { parameters: [{ name: 'a', value: 'b' }] },
    forward: { forward: true },
    variants: { variants: [{ url: 'https://example.com/a' }, { url: 'https://example.com/b' }] },
  }
  for (const [field, body] of Object.entries(webOnly))
    it(`cannot have ${field}, at once or later, and neither the other way round`, async () => {
      const message = `\`${field}\` cannot be used with a destination that starts with mailto:`
      expect((await add({ url: mail, ...body })).json['message']).to.include(message)
      const [there, web] = [await made({ url: mail }), await made(body)]
      const update = (id: number, changes: object) => app.put(`/api/url/${id}/update`, { key, body: changes })
      expect((await update(there, { url: mail, ...body })).json).to.deep.include({ field, code: 'not_supported' })
      const browsertarget = [{ browser: 'Safari', link: mail }]
      expect((await update(web, { url: 'https://example.com/', browsertarget })).json['message']).to.include(message)
      expect((await update(web, { url: mail, [field]: '' })).status).to.equal(200)
    })

  it('cannot have pixels', async () => {
    const pixel = await app.post('/api/pixel/add', { key, body: { type: 'fbpixel', name: 'Shop', tag: '1234567890' } })
    const { json } = await add({ url: mail, pixels: [pixel.json['id']] })
    expect(json['message']).to.include('`pixels` cannot be used with a destination that starts with mailto:')
  })

  it('ends where the operator blocks the host of a recipient', async () => {
    await made({ url: 'mailto:ann@evil.example', custom: 'evil' })
    await app.app.ledger.handler.handle(
      block,
      { type: 'Block', kind: 'host', value: 'evil.example', reason: 'it steals passwords' },
      operatorContext({ OPERATOR: 'ann' }, null),
    )
    await until(
      () => app.visit('/evil'),
      ({ status }) => status === 403,
    )
    for (const url of ['mailto:x@evil.example', 'mailto:x@good.example?bcc=y@evil.example', 'myapp://evil.example/'])
      expect((await add({ url })).json['message'], url).to.include('`url` must not lead to evil.example')
  })
})
