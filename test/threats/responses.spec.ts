import { expect } from 'chai'
import { inSeconds, secondsLater } from '../support/clock.ts'
import { useLinks } from '../support/links.ts'

const long = 'https://example.com/'

describe('responses to visitors', () => {
  const { app, key, add: addLink } = useLinks({ TRUST_PROXY: '1' })
  const add = (body: object = {}) => addLink({ url: long, ...body })
  const page = {
    'cache-control': 'private, no-store',
    'content-security-policy':
      /^default-src 'none'; style-src 'sha256-[\w+/=]+'( 'sha256-[\w+/=]+')?; (script-src 'sha256-[\w+/=]+'; )?img-src 'self'; form-action 'self'( http: https:)?; base-uri 'none'; frame-ancestors 'none'$/,
    'content-type': 'text/html; charset=utf-8',
    'content-encoding': /^(br|gzip)$/,
    'cross-origin-opener-policy': 'same-origin-allow-popups',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    vary: 'Accept, Accept-Encoding, Accept-Language',
  }
  const transport = ['connection', 'content-length', 'date', 'keep-alive']

  it('have exactly these headers, by status', async () => {
    const [open, locked] = [await add(), await add({ password: 'sesame' })]
    const expired = await add({ expiry: inSeconds(60) })
    const form = { 'Content-Type': 'application/x-www-form-urlencoded' }
    for (const [status, wanted, method, path, body] of [
      [302, { 'cache-control': 'private, no-store', location: long }, 'GET', open.path],
      [302, { 'cache-control': 'private, no-store', location: long }, 'HEAD', open.path],
      [303, { 'cache-control': 'private, no-store', location: open.path }, 'POST', open.path],
      [200, { ...page, 'cache-control': 'private, no-cache', etag: /^W\/"[\w-]{22}"$/ }, 'GET', '/'],
      [200, page, 'GET', locked.path],
      [401, page, 'POST', locked.path, 'password=wrong'],
      [404, page, 'GET', '/no-such-alias'],
      [404, page, 'GET', '/api-docs/x'],
      [405, { ...page, allow: 'GET, HEAD, POST, OPTIONS' }, 'PUT', open.path],
      [410, page, 'GET', expired.path],
      [413, page, 'POST', locked.path, 'x'.repeat(20_000)],
    ] as [number, Record<string, string | RegExp>, string, string, string?][]) {
      const ask = () => app().ask(method, path, body === undefined ? {} : { body, headers: form })
      const { headers, ...answer } = await (path === expired.path ? secondsLater(61, ask) : ask())
      expect(answer.status, `${method} ${path}`).to.equal(status)
      const given = Object.fromEntries([...headers].filter(([name]) => !transport.includes(name)))
      expect(given, `${method} ${path}`).to.have.all.keys(Object.keys(wanted))
      for (const [name, value] of Object.entries(wanted))
        if (typeof value === 'string') expect(given[name], `${method} ${path} ${name}`).to.equal(value)
        else expect(given[name]).to.match(value)
    }
  })

  it('never repeat the request, except the short address of a link that does not exist', async () => {
    const canary = 'canary37'
    const asked = `<u>${canary}</u>`
    for (const headers of [{}, { Accept: 'application/json' }]) {
      for (const path of [`/${canary}`, `/x/${canary}`, `/?${canary}`, `/x?a=${canary}`, `/%3Cscript%3E${canary}`])
        expect(
          (await app().visit(path, { ...headers, Referer: canary, 'X-Request-Id': canary })).text.replace(asked, ''),
        ).not.to.include(canary)
      for (const path of [`/api/${canary}`, `/api/url/${canary}`, `/api/urls?order=${canary}`]) {
        const { text, headers: given } = await app().get(path, {
          key: key(),
          headers: { ...headers, 'X-Request-Id': canary },
        })
        // a client finds its own id of the request again, in that header only
        const others = [...given].filter(([name]) => name !== 'x-request-id')
        expect(text + JSON.stringify(others)).not.to.include(canary)
      }
    }
    const { text } = await app().post('/api/url/add', {
      key: key(),
      body: { url: canary, custom: `${canary} `, type: canary },
    })
    expect(text).not.to.include(canary)
  })
})
