import { expect } from 'chai'
import { startTestApp, type TestApp } from '../support/app.ts'
import { browser, until } from '../support/client.ts'
import { useLinks } from '../support/links.ts'
import { send, wire } from '../support/raw.ts'

const long = 'https://example.com/'
const [canada, states] = ['24.48.0.1', '8.8.8.8']

describe('a request', () => {
  /** behind one proxy */
  const { app, key, add: addLink } = useLinks({ TRUST_PROXY: '1' })
  /** the same service without a proxy, with a rate limit */
  let direct: TestApp
  /** the same service behind a proxy on this machine */
  let proxied: TestApp
  before(async () => {
    direct = await startTestApp({ RATE_LIMIT_PER_MINUTE: '30' }, app().connection)
    proxied = await startTestApp({ RATE_LIMIT_PER_MINUTE: '30', TRUST_PROXY: '127.0.0.1, ::1' })
  })
  after(async () => {
    await direct.close()
    await proxied.close()
  })

  const add = () => addLink({ url: long })
  const statistics = async (id: number, clicks: number) =>
    (
      await until(
        () => app().get(`/api/url/${id}`, { key: key() }),
        ({ json }) => json['data'].clicks >= clicks,
      )
    ).json['data']

  describe('with another host in it', () => {
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

    it('does not change the short address that the API returns', async () => {
      const body = JSON.stringify({ url: long })
      for (const host of hosts)
        for (const headers of [
          { Host: host },
          { 'X-Forwarded-Host': host },
          { Forwarded: `host=${host}` },
          { 'X-Host': host, 'X-Original-Host': host },
        ] as Record<string, string>[]) {
          const { status, text } = await send(app().address, 'POST', '/api/url/add', {
            body,
            headers: { Authorization: key(), ...headers },
          })
          expect(status, text).to.equal(200)
          const { short, shorturl, id } = JSON.parse(text) as { short: string; shorturl: string; id: number }
          expect(new URL(short).origin).to.equal(app().app.baseUrl)
          expect(shorturl).to.equal(short)
          const read = await send(app().address, 'GET', `/api/url/${id}`, {
            headers: { Authorization: key(), ...headers },
          })
          expect(read.text).not.to.include('evil')
        }
    })

    it('is served as on our own host, and the other host is never repeated', async () => {
      const { path } = await add()
      for (const host of hosts)
        for (const at of [path, '/no-such-alias', '/']) {
          const { headers, text } = await send(app().address, 'GET', at, { headers: { Host: host } })
          expect(`${text} ${Object.values(headers).flat().join()}`, host).not.to.match(/evil|script>/)
          if (at === path) expect(headers['location'], host).to.deep.equal([long])
        }
    })

    it('is served when it has one before the path, too', async () => {
      const { path } = await add()
      for (const start of [
        `GET http://evil.example${path} HTTP/1.1\r\nHost: evil.example`,
        `GET HTTP://evil.example${path}?x HTTP/1.1\r\nHost: go.example`,
      ]) {
        const said = await wire(app().address, `${start}\r\nConnection: close\r\n\r\n`)
        expect(said, start)
          .to.match(/^HTTP\/1\.1 302 .*\r\nLocation: https:\/\/example\.com\/\r\n/s)
          .and.not.to.include('evil')
      }
      const body = JSON.stringify({ url: long })
      const said = await wire(
        app().address,
        `POST http://evil.example/api/url/add HTTP/1.1\r\nHost: evil.example\r\nAuthorization: ${key()}\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
      )
      expect(said)
        .to.match(/^HTTP\/1\.1 200 /)
        .and.include(`"shorturl":"${app().app.baseUrl}/`)
        .and.not.include('evil')
    })
  })

  describe('with a forged client address', () => {
    it('is attributed to its connection when there is no proxy: limit, country and visitor', async () => {
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

    it('is answered with any X-Forwarded-For, and the rate limit counts the connection', async () => {
      const left = []
      for (const junk of ['x'.repeat(6600), 'unknown', '1.2.3.4.5:6', '\u00fc'.repeat(2000), `${'7,'.repeat(5000)}7`]) {
        const { status, headers } = await proxied.get('/api/urls', { headers: { 'X-Forwarded-For': junk } })
        expect(status, junk.slice(0, 20)).to.equal(401)
        left.push(Number(headers.get('X-RateLimit-Remaining')))
        expect((await proxied.visit('/', { 'X-Forwarded-For': junk })).status).to.equal(200)
      }
      expect(left).to.deep.equal([29, 28, 27, 26, 25])
    })

    it('is attributed to the address that the trusted proxy saw', async () => {
      const { id, path } = await add()
      for (const forwarded of [
        `${states}, ${canada}`,
        `${states},1.2.3.4 , ${canada}`,
        `evil, ${canada}`,
        `,,${canada}`,
      ])
        await app().visit(path, { 'X-Forwarded-For': forwarded, 'CF-IPCountry': 'US' })
      await send(app().address, 'GET', path, {
        headers: { 'User-Agent': browser, 'X-Forwarded-For': [states, canada] },
      })
      const data = await statistics(id, 5)
      expect(data).to.include({ clicks: 5, uniqueClicks: 1 })
      expect(data.topCountries).to.deep.equal({ Canada: '5' })
    })
  })
})
