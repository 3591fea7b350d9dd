import { expect } from 'chai'
import type { TestApp } from '../../support/app.ts'
import { until } from '../../support/client.ts'
import { query, repeatable } from '../../support/faults.ts'
import { sizeOfPng } from '../../support/qr.ts'
import { qrClient, qrSetUp } from '../../support/clients/qr.ts'

const long = 'https://example.com/menu?table=7#wine'

describe(`public QR codes (${repeatable})`, () => {
  const { stage, start } = qrSetUp()
  let app: TestApp
  let key: string
  before(async () => void ({ app, key } = await start()))
  after(stage.clear)
  const { add, update, first, create, image, says, scans } = qrClient(
    () => app,
    () => key,
  )

  describe('the image of a QR code', () => {
    let path: string
    before(async () => ({ path } = await create({ type: 'text', data: 'Hello' })))

    it('is a PNG unless the client prefers or requests an SVG', async () => {
      const type = async (suffix = '', accept?: string) =>
        (await image(path + suffix, accept === undefined ? {} : { Accept: accept })).headers.get('Content-Type')
      const [png, svg] = ['image/png', 'image/svg+xml']
      for (const accept of [undefined, '*/*', 'image/*', 'image/png', 'image/png, image/svg+xml', 'application/json'])
        expect(await type('', accept), accept).to.equal(png)
      // what Chrome sends for an <img>
      expect(await type('', 'image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8')).to.equal(png)
      for (const accept of [svg, `${svg},*/*;q=0.8`, `image/png;q=0.5, ${svg}`, `IMAGE/SVG+XML`])
        expect(await type('', accept), accept).to.equal(svg)
      expect(await type('.svg', png)).to.equal(svg)
      expect(await type('.png', svg)).to.equal(png)
      expect((await image(path)).headers.get('Vary')).to.equal('Accept')
    })

    it('has the next larger of six sizes, from 64 to 2,048 pixels, so that few have to be drawn', async () => {
      const width = async (search: string) => sizeOfPng((await image(path + search)).bytes).width
      for (const [search, pixels] of [
        ['', 512],
        ['?size=64', 64],
        ['?size=65', 128],
        ['?size=700', 1024],
        ['?size=1025', 2048],
        ['?size=2048', 2048],
        ['?size=1', 64],
        ['?size=99999', 2048],
        ['?size=large', 512],
        ['?size=-5', 512],
        ['.png?size=100&x=y', 128],
      ] as const)
        expect(await width(search), search).to.equal(pixels)
      expect((await image(`${path}.svg?size=300`)).bytes.toString()).to.include('width="512"')
    })

    it('is drawn two hundred times a minute for one address, and served from the cache always', async () => {
      const from = { 'X-Forwarded-For': '198.51.100.76' }
      const codes = await Promise.all(Array.from({ length: 34 }, (_, n) => create({ type: 'text', data: `code ${n}` })))
      const addresses = codes.flatMap((code) =>
        [64, 128, 256, 512, 1024, 2048].map((size) => `${code.path}.svg?size=${size}`),
      )
      const statuses: number[] = []
      const ask = async (address: string) => (await image(address, from)).status
      for (let n = 0; n < addresses.length; n += 50)
        statuses.push(...(await Promise.all(addresses.slice(n, n + 50).map(ask))))
      expect(statuses.filter((status) => status === 200)).to.have.length(200)
      const { path: fresh } = await create({ type: 'text', data: 'fresh' })
      const refused = await image(fresh, from)
      expect(refused.status).to.equal(429)
      expect(Number(refused.headers.get('Retry-After'))).to.be.within(1, 60)
      expect((await image(addresses[statuses.indexOf(200)]!, from)).status, 'cached').to.equal(200)
      expect((await image(fresh)).status, 'another address').to.equal(200)
    })

    it('returns 304 to a client that has the current image', async () => {
      const { headers, bytes } = await image(path)
      const etag = headers.get('ETag') ?? ''
      expect(etag).to.match(/^"[\w-]+"$/)
      expect(headers.get('Cache-Control')).to.equal('public, max-age=60')
      for (const tag of [etag, `W/${etag}`, `"other", ${etag}`]) {
        const again = await image(path, { 'If-None-Match': tag })
        expect([again.status, again.bytes.length, again.headers.get('ETag')]).to.deep.equal([304, 0, etag])
      }
      expect((await image(path, { 'If-None-Match': '"other"' })).bytes.equals(bytes)).to.equal(true)
      const others = await Promise.all([`${path}.svg`, `${path}?size=1024`].map((other) => image(other)))
      expect(new Set([etag, ...others.map((other) => other.headers.get('ETag'))]).size).to.equal(3)
    })

    it('supports only GET and HEAD', async () => {
      const [get, head] = [await image(path), await image(path, {}, 'HEAD')]
      expect([head.status, head.bytes.length]).to.deep.equal([200, 0])
      expect(head.headers.get('Content-Length')).to.equal(String(get.bytes.length))
      const post = await image(path, {}, 'POST')
      expect([post.status, post.headers.get('Allow')]).to.deep.equal([405, 'GET, HEAD, OPTIONS'])
    })

    it('forbids scripts in a policy', async () => {
      const { headers } = await image(`${path}.svg`)
      expect(headers.get('X-Content-Type-Options')).to.equal('nosniff')
      expect(headers.get('Content-Security-Policy')).to.equal("default-src 'none'; img-src data:")
    })

    it('is found in any case of the alias', async () => {
      expect(await says(path.toUpperCase().replace('/QR/', '/qr/'))).to.equal('Hello')
    })
  })

  describe('scans of a QR code with a link', () => {
    const agents = {
      firefox: 'Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0',
      bot: 'Googlebot/2.1 (+http://www.google.com/bot.html)',
    }
    const scan = (path: string, address: string, headers: Record<string, string> = {}, method = 'GET') =>
      app.ask(method, `${path}/go`, {
        headers: { 'X-Forwarded-For': address, 'User-Agent': agents.firefox, ...headers },
      })

    it('are each counted when a person scans, and as unique once per person', async () => {
      const { id, path } = await create({ type: 'link', data: long })
      const none = (await app.get(`/api/qr/${id}`, { key })).json['data']
      expect(none).to.deep.equal({
        clicks: 0,
        uniqueClicks: 0,
        topCountries: {},
        topReferrers: {},
        topBrowsers: {},
        topOs: {},
        socialCount: { facebook: 0, twitter: 0, instagram: 0 },
      })
      await scan(path, '24.48.0.1')
      await scan(path, '24.48.0.1')
      await scan(path, '81.2.69.142', { Referer: 'https://www.instagram.com/p/1' })
      await scan(path, '8.8.8.8', { Referer: 'https://t.co/abc' })
      // none of these is a scan by a person
      await scan(path, '8.8.8.8', { 'User-Agent': agents.bot })
      await scan(path, '8.8.8.8', { 'Sec-Purpose': 'prefetch' })
      await scan(path, '8.8.8.8', {}, 'HEAD')
      await scan(path, '8.8.8.8', { Referer: 'https://facebook.com/' })
      const { data, details: shown } = await scans(id, 5)
      expect(shown.scans).to.equal(5)
      expect(data).to.deep.equal({
        clicks: 5,
        uniqueClicks: 3,
        topCountries: { Canada: '2', 'United States': '2', 'United Kingdom': '1' },
        topReferrers: { Direct: '2', 'facebook.com': '1', 'instagram.com': '1', 'twitter.com': '1' },
        topBrowsers: { Firefox: '5' },
        topOs: { Linux: '5' },
        socialCount: { facebook: 1, twitter: 1, instagram: 1 },
      })
      expect(await first()).to.include({ id, scans: 5 })
    })

    it('are counted separately from clicks on a link with the same id and from scans of other codes', async () => {
      const { json } = await app.post('/api/url/add', { key, body: { url: long } })
      const [one, two] = [await create({ type: 'link', data: long }), await create({ type: 'link', data: long })]
      await scan(one.path, '24.48.0.1')
      await scan(two.path, '24.48.0.1')
      await scan(two.path, '24.48.0.1')
      await app.visit(new URL(String(json['short'])).pathname)
      await scans(one.id, 1)
      await scans(two.id, 2)
      const links = await until(
        async () => (await app.get('/api/urls', { key })).json['data'].urls,
        ([link]) => link.clicks === 1,
      )
      expect(links.map((link: { clicks: number }) => link.clicks)).to.deep.equal([1])
    })

    it('record the revision and the destination', async () => {
      const { id, path } = await create({ type: 'link', data: long })
      await update(id, { data: 'https://example.com/two' })
      await scan(path, '24.48.0.1')
      await scans(id, 1)
      const [click] = await query<{ click: Record<string, unknown>; destination: string }>(
        app.connection,
        `select c as click, data->'destinations'->>(c->>'destination')::int as destination
         from log.events, json_array_elements(data->'clicks') c where type = 'LinkClicked' and c->'source'->>'id' = $1 and c->'source'->>'kind' = 'qr'`,
        [String(id)],
      )
      expect(click!.destination).to.equal('https://example.com/two')
      expect(click!.click).to.deep.include({ link: 0, revision: 1, rule: 'qr', source: { kind: 'qr', id } })
    })

    it('are counted separately from the clicks of the short link of another account that they lead to', async () => {
      const other = (await app.register()).key
      const { json } = await app.post('/api/url/add', { key: other, body: { url: long } })
      const { id, path } = await create({ type: 'link', data: json['short'] })
      const { headers } = await scan(path, '24.48.0.1')
      expect(headers.get('Location')).to.equal(json['short'])
      await app.visit(new URL(headers.get('Location') ?? '').pathname)
      await scans(id, 1)
      const link = () => app.get(`/api/url/${json['id']}`, { key: other })
      expect((await until(link, (read) => read.json['data'].clicks === 1)).json['data'].clicks).to.equal(1)
    })

    it('cannot loop', async () => {
      const { id, path } = await create({ type: 'link', data: long })
      for (const data of [`${app.app.baseUrl}${path}/go`, `${app.app.baseUrl}/qr/whatever`]) {
        expect((await update(id, { data })).json['message']).to.match(/^`data` must not lead to a QR code/)
        expect((await add({ type: 'link', data })).status).to.equal(400)
      }
    })
  })
})
