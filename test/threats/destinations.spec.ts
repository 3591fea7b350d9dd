import { expect } from 'chai'
import { startTestApp, type TestApp } from '../support/app.ts'
import { until } from '../support/client.ts'
import type { Answer } from '../support/client.ts'
import { send, wire } from '../support/raw.ts'
import { appUrls, unsafeUrls } from '../data/unsafe-urls.ts'

const long = 'https://example.com/a?b=c#d'

describe('the destination of a link', () => {
  let app: TestApp
  /** another process of the same service, with another host */
  let second: TestApp
  let key: string
  let made: { id: number; alias: string }
  const add = (body: object) => app.post('/api/url/add', { key, body: { url: long, ...body } })
  const update = (body: object) => app.put(`/api/url/${made.id}/update`, { key, body: { url: long, ...body } })
  const head = () => app.domainHead()
  /** The fields of a link that have a URL. */
  const fields: Record<string, (url: string) => object> = {
    url: (url) => ({ url }),
    geotarget: (link) => ({ geotarget: [{ location: 'Canada', link }] }),
    devicetarget: (link) => ({ devicetarget: [{ device: 'ios', link }] }),
    browsertarget: (link) => ({ browsertarget: [{ browser: 'Safari', link }] }),
    languagetarget: (link) => ({ languagetarget: [{ language: 'pt', link }] }),
    metaimage: (metaimage) => ({ metaimage }),
  }
  const expectRefused = async (field: string, url: string, ...how: ((body: object) => Promise<Answer>)[]) => {
    for (const way of how) {
      const { status, json } = await way(fields[field]!(url))
      expect(status, `${field} ${JSON.stringify(url)}`).to.equal(400)
      expect(json['message'], JSON.stringify(url)).to.match(new RegExp(`^\`${field}`))
    }
  }

  before(async () => {
    app = await startTestApp({ BASE_URL: 'https://go.xn--bcher-kva.example' })
    second = await startTestApp({ BASE_URL: 'https://later.example' }, app.connection)
    key = (await app.register()).key
    const { json } = await add({ custom: 'made' })
    made = { id: Number(json['id']), alias: 'made' }
  })
  after(async () => {
    await second.close()
    await app.close()
  })

  it('is never anything but a web address, in any field and disguise', async () => {
    const written = await head()
    expect(unsafeUrls.length).to.be.at.least(60)
    for (const field of Object.keys(fields)) {
      // an empty image means none
      const urls = field === 'metaimage' ? [...unsafeUrls.filter(Boolean), ...appUrls] : [...unsafeUrls]
      const ways = field === 'url' ? [[add, update]] : [[add], [update]]
      while (urls.length > 0)
        await Promise.all(urls.splice(0, 20).map((url, i) => expectRefused(field, url, ...ways[i % ways.length]!)))
    }
    expect(await app.domainEventsAfter(written)).to.equal(0)
    expect((await app.visit('/made')).headers.get('Location')).to.equal(long)
  }).timeout(300_000)

  describe('and the addresses of this service', () => {
    const ours = [
      'https://go.xn--bcher-kva.example/made',
      'http://go.xn--bcher-kva.example',
      'https://go.bücher.example/x',
      'https://GO.BÜCHER.EXAMPLE/',
      'https://go.xn--bcher-kva.example./made',
      'https://go.xn--bcher-kva.example:8443/made',
      'https://www.go.xn--bcher-kva.example/made',
      'https://go.b%C3%BCcher.example/made',
      'https://ｇｏ.bücher.example/made',
      'https://go。bücher。example/made',
      'go.bücher.example/made',
    ]

    it('is refused on create and update when it is one of them, in any spelling', async () => {
      const written = await head()
      for (const field of ['url', 'geotarget', 'devicetarget', 'browsertarget', 'languagetarget'])
        for (const url of ours) await expectRefused(field, url, add, update)
      expect(await app.domainEventsAfter(written)).to.equal(0)
    })

    it('is refused when it names this machine and a port of ours, in any spelling', async () => {
      const { port } = new URL(app.address)
      for (const host of [
        'localhost',
        '127.0.0.1',
        '127.1',
        '0x7f000001',
        '[::1]',
        '[::ffff:127.0.0.1]',
        '0.0.0.0',
        'LOCALHOST.',
      ])
        await expectRefused('url', `http://${host}:${port}/made`, add, update)
    })

    it('responds 410 and counts no click when the request came by the host of the destination, under any name', async () => {
      // a name or an address of a proxy, which no setting mentions
      const seen = 'links.internal.example:8080'
      const { json } = await add({ url: `http://${seen}/circle-here`, custom: 'circle-here' })
      const statusAt = async (Host: string) =>
        /^HTTP\/1.1 (\d+)/.exec(
          await wire(app.address, `GET /circle-here HTTP/1.1\r\nHost: ${Host}\r\nConnection: close\r\n\r\n`),
        )?.[1]
      for (const host of [seen, 'LINKS.internal.example:8080']) expect(await statusAt(host), host).to.equal('410')
      for (const host of ['links.internal.example', 'links.internal.example:81', 'other.example'])
        expect(await statusAt(host), host).to.equal('302')
      const clicks = async () => (await app.get(`/api/url/${json['id']}/stats`, { key })).json['data'].total.visits
      expect(await until(clicks, (n) => n >= 3)).to.equal(3)
    })

    it('is accepted on similar hosts, which belong to others', async () => {
      for (const url of [
        'https://xn--bcher-kva.example/',
        'https://a.go.xn--bcher-kva.example/',
        'https://nogo.xn--bcher-kva.example/',
      ])
        expect((await add({ url })).status, url).to.equal(200)
    })

    it('responds 410 and counts no click once it has become one of them', async () => {
      const { json } = await add({ url: 'https://later.example/x', custom: 'circle' })
      expect((await app.visit('/circle')).status).to.equal(302)
      for (const method of ['GET', 'HEAD', 'GET']) {
        const { status, headers } = await second.ask(method, '/circle')
        expect([status, headers.get('Location')]).to.deep.equal([410, null])
        expect(headers.get('Cache-Control')).to.include('no-store')
      }
      const asJson = await second.visit('/circle', { Accept: 'application/json' })
      expect([asJson.status, asJson.json['error']]).to.deep.equal([410, 1])
      await app.put(`/api/url/${json['id']}/update`, { key, body: { url: long } })
      const { headers } = await until(
        () => second.visit('/circle'),
        ({ status }) => status === 302,
      )
      expect(headers.get('Location')).to.equal(long)
    })
  })

  it('is reached by https only on the host of an https BASE_URL', async () => {
    const header = async (Host: string, path: string) =>
      (await send(app.address, 'GET', path, { headers: { Host } })).headers['strict-transport-security']?.join()
    for (const path of ['/made', '/unknown', '/api/account', '/healthz'])
      expect(await header('go.xn--bcher-kva.example', path), path).to.equal('max-age=15552000')
    expect(await header('brand.example', '/made')).to.equal(undefined)
  })

  it('is never chosen by the request', async () => {
    const evil = 'https://evil.example/'
    for (const name of 'url u to next target dest destination redirect redirect_uri redir_url return returnTo go link q'.split(
      ' ',
    )) {
      const { status, headers } = await app.visit(`/made?${name}=${encodeURIComponent(evil)}`)
      expect([status, headers.get('Location')], name).to.deep.equal([302, long])
    }
    for (const path of ['/made?//evil.example', '/made?@evil.example', `/made?${evil}`, '/made?#https://evil.example'])
      expect((await app.visit(path)).headers.get('Location'), path).to.equal(long)
    for (const path of [
      '//evil.example/made',
      '/made/https://evil.example',
      '/https://evil.example',
      '/\\evil.example',
      '/made%2f%2fevil.example',
    ])
      expect((await send(app.address, 'GET', path)).headers['location'], path).to.equal(undefined)
    for (const headers of [
      { 'X-Original-URL': evil },
      { 'X-Rewrite-URL': evil },
      { Referer: evil },
      { 'X-Forwarded-Host': 'evil.example' },
    ])
      expect((await app.visit('/made', headers)).headers.get('Location')).to.equal(long)
  })

  describe('cannot inject a header', () => {
    const plain = ['cache-control', 'connection', 'content-length', 'date', 'keep-alive', 'location']

    it('by a stored field', async () => {
      for (const [i, [url, location]] of [
        ['https://example.com/%0d%0aSet-Cookie:x=1', 'https://example.com/%0d%0aSet-Cookie:x=1'],
        // the low bytes of these characters are CR and LF
        ['https://example.com/\u010d\u010aSet-Cookie:x=1', 'https://example.com/%C4%8D%C4%8ASet-Cookie:x=1'],
        ['https://example.com/?\u560d\u560a', 'https://example.com/?%E5%98%8D%E5%98%8A'],
      ].entries()) {
        const field = '\r\nSet-Cookie: x=1'
        const body = { title: field, metatitle: field, description: field, parameters: [{ name: field, value: field }] }
        expect((await add({ url, custom: `crlf-${i}`, ...body })).status).to.equal(200)
        const { headers } = await send(app.address, 'GET', `/crlf-${i}`, { headers: { Connection: 'keep-alive' } })
        expect(headers['location']?.[0]).to.satisfy((sent: string) => sent.startsWith(location!), `location of ${url}`)
        expect(headers['location']).to.have.length(1)
        expect(plain).to.include.members(Object.keys(headers))
      }
    })

    it('by an alias', async () => {
      for (const custom of ['a\r\nSet-Cookie:x=1', 'a%0d%0aSet-Cookie:x=1', 'a\u010d\u010a', 'a\nb'])
        expect((await add({ custom })).status).to.equal(400)
    })

    it('by the request', async () => {
      for (const method of ['GET', 'POST'])
        for (const path of [
          '/%0d%0aSet-Cookie:x=1',
          '/made%0d%0aSet-Cookie:x=1',
          '/made?%0d%0aSet-Cookie:x=1',
          '/made?\u010d',
        ]) {
          const bytes = Buffer.from(`${method} ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
          const [top = ''] = (await wire(app.address, bytes)).split('\r\n\r\n')
          expect(top, path).to.match(/^HTTP\/1\.1 (302|303|400|404) /)
          expect(top.toLowerCase(), path).not.to.match(/\nset-cookie/)
        }
    })
  })
})
