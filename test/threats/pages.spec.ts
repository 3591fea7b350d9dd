import { expect } from 'chai'
import { payloads, payloadUrls } from '../data/payloads.ts'
import { useLinks } from '../support/links.ts'

const benign = 'An ordinary text'
const directives = (headers: Headers) =>
  headers
    .get('Content-Security-Policy')
    ?.replaceAll(/'sha256-[\w+/=]{44}'( 'sha256-[\w+/=]{44}')*/g, `'sha256'`)
    .split('; ')

describe('stored texts on public pages', () => {
  const { app, key, api } = useLinks({ TRUST_PROXY: '1' })
  const addBio = async () => {
    await api('/api/bio/add', { name: benign, alias: 'page', title: benign, description: benign, links: [] })
    return '/page'
  }

  it('are not shown before the password of their link was given', async () => {
    for (const text of payloads.filter((_, i) => i % 6 === 0)) {
      const fields = { title: text, description: text, metatitle: text, metadescription: text }
      const { short } = await api('/api/url/add', { url: payloadUrls[1], password: text, ...fields })
      const { status, text: page } = await app().visit(new URL(String(short)).pathname)
      expect(status).to.equal(200)
      expect(page).not.to.include('canary')
    }
  })

  it('in an address are not repeated on the 404 page', async () => {
    const { username } = (await app().get('/api/account', { key: key() })).json['data'] as { username: string }
    // of an address, only what could be a short link is shown
    const asked = /<p class="asked">.*?<\/p>/s
    const { text: page } = await app().visit('/nothing-here')
    for (const [i, text] of payloads.entries()) {
      const encoded = encodeURIComponent(text)
      // an address gets 60 lookups a minute
      const from = { 'X-Forwarded-For': `192.0.2.${i}` }
      for (const path of [
        `/${encoded}`,
        `/nothing-here?q=${encoded}`,
        `/r/${encoded}`,
        `/u/${username}/${encoded}-1`,
      ]) {
        const answer = await app().visit(path, from)
        expect(answer.text.replace(asked, ''), path).to.equal(page.replace(asked, ''))
        expect(asked.exec(answer.text)?.[0], path).to.match(
          /^<p class="asked">\s*<bdi class="address">[\w.:]+(\/<u>[\w/-]+<\/u>)?<\/bdi>\s*<\/p>$/,
        )
      }
    }
  })

  it('are returned by the API as JSON only, in which no window of another page can do anything', async () => {
    for (const text of payloads.slice(0, 5)) {
      const { id } = await api('/api/bio/add', { name: text, links: [] })
      for (const path of [`/api/bio/${id}`, '/api/bio?limit=1']) {
        const { headers, json, text: body } = await app().get(path, { key: key(), headers: { Accept: 'text/html' } })
        expect(headers.get('Content-Type')).to.equal('application/json; charset=utf-8')
        expect(headers.get('X-Content-Type-Options')).to.equal('nosniff')
        expect(headers.get('Content-Security-Policy')).to.match(/^default-src 'none'; .*; sandbox$/)
        expect(headers.get('Cross-Origin-Opener-Policy')).to.equal('same-origin')
        expect(body).to.include(JSON.stringify(text))
        expect(json['error']).to.be.oneOf([0, '0'])
      }
    }
  })

  it('are on pages that run no script of others, load nothing and cannot be framed', async () => {
    const { short } = await api('/api/url/add', { url: 'https://example.com/', password: 'open sesame' })
    const { list } = await api('/api/campaign/add', { name: benign, public: true })
    const [protected_, listed] = [short, list].map((url) => new URL(String(url)).pathname)
    for (const path of ['/', '/nothing-here', await addBio(), listed!, protected_!]) {
      const { headers } = await app().visit(path)
      expect(directives(headers), path).to.have.members([
        "default-src 'none'",
        "style-src 'sha256'",
        "img-src 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
        // the button that shows the password
        ...(path === protected_ ? ["script-src 'sha256'"] : []),
        // the form of a password leads on to the destination of the link
        path === protected_ ? "form-action 'self' http: https:" : "form-action 'self'",
      ])
      expect(headers.get('X-Content-Type-Options'), path).to.equal('nosniff')
      expect(headers.get('Referrer-Policy'), path).to.equal('no-referrer')
      expect(headers.get('Content-Type'), path).to.equal('text/html; charset=utf-8')
      const cacheable = path === '/' || path === listed
      expect(headers.get('Cache-Control'), path).to.equal(`private, no-${cacheable ? 'cache' : 'store'}`)
      expect(headers.get('Set-Cookie'), path).to.equal(null)
    }
  })
})
