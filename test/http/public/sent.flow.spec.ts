import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { PNG } from 'pngjs'
import { expect } from 'chai'
import { send } from '../../support/raw.ts'
import { useInterstitials } from '../../support/interstitials.ts'

describe('how public pages are sent', () => {
  const { app, create, add, visit } = useInterstitials({
    OPERATOR_NAME: 'Example & Co',
    OPERATOR_EMAIL: 'help@example.com',
    SECURITY_CONTACT: 'security@example.com',
    IMPRINT_URL: 'https://example.com/imprint',
    PRIVACY_URL: 'https://example.com/privacy',
  })

  it('is in the language of the visitor, which caches must know', async () => {
    for (const [language, title] of Object.entries({
      'de-CH, en;q=0.8': 'Link nicht gefunden',
      fr: 'Lien introuvable',
      'es-MX': 'Enlace no encontrado',
      'pl, en': 'Link not found',
    })) {
      const { text, headers } = await visit('/no-such-alias', { 'Accept-Language': language })
      expect(text).to.include(`<html lang="${language.startsWith('pl') ? 'en' : language.slice(0, 2)}">`)
      expect(text).to.include(`<title>${title}</title>`)
      expect(headers.get('Vary')).to.equal('Accept, Accept-Encoding, Accept-Language')
    }
    const { json } = await visit('/no-such-alias', { 'Accept-Language': 'de', Accept: 'application/json' })
    expect(json).to.deep.equal({ error: 1, message: 'Link not found' })
  })

  it('names the operator of the settings, and where to report a link', async () => {
    const { path } = await add({ password: 'sesame' })
    const { text } = await visit(path)
    expect(text).to.include('<b>Example &amp; Co</b>').and.include('href="mailto:help@example.com"')
    expect(text).to.include('href="https://example.com/imprint"').and.include('href="https://example.com/privacy"')
    const reported = encodeURIComponent(new URL(app().address).host + path)
    expect(text).to.include(`href="/report?link=${reported}"`)
    expect((await visit('/no-such-alias')).text).not.to.include('/report')
  })

  it('is compressed as the browser accepts it, but a redirect is not, nor a page with a signature', async () => {
    const get = (path: string, encoding: string) =>
      send(app().address, 'GET', path, { headers: { 'Accept-Encoding': encoding } })
    const { body: plain } = await get('/', 'identity')
    for (const [accepted, encoding, decode] of [
      ['gzip, deflate, br', 'br', brotliDecompressSync],
      ['gzip', 'gzip', gunzipSync],
    ] as const) {
      const { headers, body } = await get('/', accepted)
      expect(headers['content-encoding']).to.deep.equal([encoding])
      expect(body.length).to.be.below(plain.length / 2)
      expect(decode(body).toString()).to.equal(plain.toString())
    }
    const overlay = await create('overlay', { type: 'newsletter', name: 'n', message: 'News' })
    const { headers } = await get((await add({ type: `overlay-${overlay}` })).path, 'br')
    expect(headers).not.to.have.property('content-encoding')
    const redirect = await get((await add()).path, 'br')
    expect(redirect.status).to.equal(302)
    expect(redirect.headers).not.to.have.any.keys('content-encoding', 'vary', 'etag')
  })

  it('is kept by the browser where it shows nothing of one visit, and is sent again when it has changed', async () => {
    const first = await visit('/')
    const etag = first.headers.get('ETag') ?? ''
    const again = await visit('/', { 'If-None-Match': `"other", ${etag}` })
    expect([again.status, again.text, again.headers.get('ETag')]).to.deep.equal([304, '', etag])
    expect((await visit('/', { 'If-None-Match': etag, 'Accept-Language': 'de' })).status).to.equal(200)
    expect((await visit('/no-such-alias')).headers.get('ETag')).to.equal(null)
  })

  it('says where vulnerabilities are reported, as long as the operator has said it', async () => {
    const { status, text, headers } = await visit('/.well-known/security.txt')
    expect([status, headers.get('Content-Type')]).to.deep.equal([200, 'text/plain; charset=utf-8'])
    const [, expires = ''] = /^Contact: mailto:security@example\.com\nExpires: (.+)\n$/.exec(text) ?? []
    expect((Date.parse(expires) - Date.now()) / 86_400_000, text).to.be.within(150, 365)
    expect((await send(app().address, 'POST', '/.well-known/security.txt')).status).to.equal(405)
  })

  it('has an icon, which is kept for a day', async () => {
    const { status, headers, body } = await send(app().address, 'GET', '/favicon.ico')
    expect([status, headers['content-type']]).to.deep.equal([200, ['image/png']])
    expect(PNG.sync.read(body)).to.include({ width: 32, height: 32 })
    const again = await visit('/favicon.ico', { 'If-None-Match': String(headers['etag']?.[0]) })
    expect([again.status, again.headers.get('Cache-Control')]).to.deep.equal([304, 'public, max-age=86400'])
  })
})
