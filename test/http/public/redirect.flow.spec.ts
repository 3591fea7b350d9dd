import { expect } from 'chai'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { until } from '../../support/client.ts'
import { inSeconds, secondsLater } from '../../support/clock.ts'
import { send, wire } from '../../support/raw.ts'

const long = 'https://example.com/a?b=c&d=%20#e'
const json = { Accept: 'application/json' }

describe('a visitor', () => {
  let app: TestApp
  let key: string
  let made = 0
  const add = async (body: object = {}) => {
    const { json, text } = await app.post('/api/url/add', {
      key,
      body: { url: long, custom: `visit-${++made}`, ...body },
    })
    expect(json['error'], text).to.equal(0)
    return { id: json['id'] as number, path: new URL(json['short']).pathname }
  }
  const update = async (id: number, body: object) => {
    const { status, text } = await app.put(`/api/url/${id}/update`, { key, body: { url: long, ...body } })
    expect(status, text).to.equal(200)
  }
  const clicks = async (id: number) => (await app.get(`/api/url/${id}`, { key })).json['data'].clicks as number
  /** Clicks stand in the log in their order, so once a further one is counted, all before it are. */
  const clicksSoFar = async (id: number, path: string) => {
    await app.visit(path)
    const before = await clicks(id)
    return (
      (await until(
        () => clicks(id),
        (n) => n > before,
      )) - 1
    )
  }
  const post = (path: string, body: string, headers: Record<string, string> = {}) =>
    app.post(path, { body, headers: { 'Content-Type': 'application/x-www-form-urlencoded', ...headers } })

  before(async () => {
    app = await startTestApp()
    key = (await app.register()).key
  })
  after(() => app.close())

  describe('of a short link', () => {
    it('is sent on to exactly the stored address', async () => {
      const { path } = await add()
      const { status, headers, text } = await app.visit(path)
      expect([status, text]).to.deep.equal([302, ''])
      expect(headers.get('Location')).to.equal(long)
      expect(headers.get('Cache-Control')).to.equal('private, no-store')
    })

    it('is sent on whatever the case of the alias', async () => {
      const { path } = await add()
      expect((await app.visit(path.toUpperCase())).headers.get('Location')).to.equal(long)
    })

    it('takes nothing of the query along', async () => {
      const { path } = await add()
      for (const query of ['?', '?utm_source=x', '?b=other#f', '?url=https://evil.example/'])
        expect((await app.visit(path + query)).headers.get('Location')).to.equal(long)
    })

    it('may ask with HEAD, which is answered alike and not counted', async () => {
      const { id, path } = await add()
      for (let i = 0; i < 3; i++) {
        const { status, headers } = await app.ask('HEAD', path)
        expect([status, headers.get('Location')]).to.deep.equal([302, long])
      }
      expect(await clicksSoFar(id, path)).to.equal(0)
    })

    it('who posts to one without password is told to follow it', async () => {
      const { id, path } = await add()
      const { status, headers } = await post(path, 'password=x')
      expect([status, headers.get('Location'), headers.get('Set-Cookie')]).to.deep.equal([303, path, null])
      expect(await clicksSoFar(id, path)).to.equal(0)
    })

    it('is answered in JSON with an object when nothing is there', async () => {
      const { status, headers, json: body } = await app.visit('/no-such-alias', json)
      expect(status).to.equal(404)
      expect(headers.get('Content-Type')).to.match(/^application\/json/)
      expect(body).to.have.all.keys('error', 'message')
      expect(body['error']).to.equal(1)
    })

    it('is answered with a page when nothing is there', async () => {
      for (const path of [
        '/no-such-alias',
        '/a/b',
        '/visit-1/',
        '/%76isit-1',
        '/-',
        `/${'x'.repeat(65)}`,
        '/favicon.ico',
      ]) {
        const { status, headers, text } = await app.visit(path, { Accept: 'text/html,application/json;q=0.9' })
        expect(status, path).to.equal(404)
        expect(headers.get('Content-Type')).to.equal('text/html; charset=utf-8')
        expect(headers.get('Cache-Control')).to.include('no-store')
        expect(text).to.match(/^<!doctype html>.*Link not found/s)
      }
    })

    it('finds a link that was made after it was asked for in vain', async () => {
      for (let i = 0; i < 2; i++) expect((await app.visit('/made-later')).status).to.equal(404)
      await add({ custom: 'made-later' })
      expect((await app.visit('/made-later')).headers.get('Location')).to.equal(long)
    })

    it('is answered alike whether a link never was or is no more', async () => {
      const { id, path } = await add()
      await app.visit(path)
      await app.del(`/api/url/${id}/delete`, { key })
      for (const headers of [{}, json])
        expect((await app.visit(path, headers)).text).to.equal((await app.visit('/no-such-alias', headers)).text)
    })

    it('may only use GET, HEAD and POST', async () => {
      const { path } = await add()
      for (const method of ['PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
        const { status, headers } = await app.ask(method, path)
        expect([status, headers.get('Allow')], method).to.deep.equal([405, 'GET, HEAD, POST'])
      }
    })

    it('finds a plain page at the root', async () => {
      for (const path of ['/', '/?x=y']) {
        const { status, headers, text } = await app.visit(path)
        expect([status, headers.get('Content-Type')]).to.deep.equal([200, 'text/html; charset=utf-8'])
        expect(text).to.include('<h1>')
      }
    })

    it('is served on any name that the service is reached by', async () => {
      const { path } = await add()
      for (const host of ['go.example.com', '192.0.2.7:3000', 'localhost', '[::1]:80'])
        expect((await send(app.address, 'GET', path, { headers: { Host: host } })).headers['location']).to.deep.equal([
          long,
        ])
    })
  })

  describe('of a link that has expired', () => {
    it('is told so, in a page or in JSON, and is not counted', async () => {
      const { id, path } = await add({ expiry: inSeconds(60) })
      expect((await app.visit(path)).status).to.equal(302)
      await secondsLater(61, async () => {
        const page = await app.visit(path)
        expect(page.status).to.equal(410)
        expect(page.headers.get('Content-Type')).to.equal('text/html; charset=utf-8')
        expect(page.text).to.include('This link has expired')
        const body = await app.visit(path, json)
        expect(body.status).to.equal(410)
        expect(body.json).to.deep.equal({ error: 1, message: 'This link has expired' })
        for (const method of ['HEAD', 'POST']) expect((await app.ask(method, path)).status, method).to.equal(410)
      })
      await update(id, { expiry: '' })
      expect(await clicksSoFar(id, path)).to.equal(1)
    })

    it('is not asked for its password any more', async () => {
      const { path } = await add({ expiry: inSeconds(60), password: 'sesame' })
      await secondsLater(61, async () => {
        const { text } = await app.visit(path)
        expect(text).to.include('This link has expired').and.not.to.include('<form')
        expect((await post(path, 'password=sesame')).status).to.equal(410)
      })
    })
  })

  describe('of a protected link', () => {
    const word = 'öpen sesame & more'
    const form = (password: string) => String(new URLSearchParams({ password }))
    const unlock = async (path: string, password = word) => {
      const answer = await post(path, form(password))
      const cookie = answer.headers.get('Set-Cookie') ?? ''
      return { ...answer, cookie: cookie.split(';')[0]!, attributes: cookie.split('; ').slice(1) }
    }

    it('is shown a form, which posts to the same address, and is not counted', async () => {
      const { id, path } = await add({ password: word })
      const { status, headers, text } = await app.visit(path)
      expect(status).to.equal(200)
      expect(headers.get('Location')).to.equal(null)
      expect(headers.get('Cache-Control')).to.include('no-store')
      expect(text).to.match(/<form method="post">.*name="password" type="password"/s)
      expect(text).not.to.include(long).and.not.to.include('example.com')
      const { cookie } = await unlock(path)
      await app.visit(path, { Cookie: cookie })
      expect(
        await until(
          () => clicks(id),
          (n) => n > 0,
        ),
      ).to.equal(1)
    })

    it('who is wrong sees the form again with 401, and gets no cookie', async () => {
      const { path } = await add({ password: word })
      for (const body of [form('wrong'), form(''), '', 'pass=word', 'password', form(word.toUpperCase())]) {
        const { status, headers, text } = await post(path, body)
        expect([status, headers.get('Set-Cookie'), headers.get('Location')], body).to.deep.equal([401, null, null])
        expect(text).to.include('<form').and.to.include('This password is not correct.')
      }
    })

    it('who is right is sent to the same address with a cookie for an hour, and then goes on and is counted', async () => {
      const { id, path } = await add({ password: word })
      const { status, headers, cookie, attributes } = await unlock(`${path}?utm=x`)
      expect([status, headers.get('Location')]).to.deep.equal([303, `${path}?utm=x`])
      expect(attributes).to.have.members(['Path=/', 'Max-Age=3600', 'HttpOnly', 'SameSite=Lax'])
      expect(cookie).not.to.include('sesame')
      const visit = await app.visit(path, { Cookie: `other=1; ${cookie}; more=2` })
      expect([visit.status, visit.headers.get('Location')]).to.deep.equal([302, long])
      expect(
        await until(
          () => clicks(id),
          (n) => n > 0,
        ),
      ).to.equal(1)
      expect((await app.visit(path)).status, 'without the cookie').to.equal(200)
    })

    it('may not use the cookie of another link, nor one that was made up or altered', async () => {
      const [one, two] = [await add({ password: word }), await add({ password: word })]
      const { cookie } = await unlock(one.path)
      const [, value = ''] = cookie.split('=')
      const [ends, mac] = value.split('.')
      const later = Number(ends) + 3600
      for (const given of [
        `ll_${two.id}=${value}`,
        cookie,
        `ll_${two.id}=`,
        `ll_${two.id}=${later}.${mac}`,
        `ll_${two.id}=x.y`,
      ])
        expect((await app.visit(two.path, { Cookie: given })).status, given).to.equal(200)
      expect((await app.visit(one.path, { Cookie: `ll_${one.id}=${later}.${mac}` })).status).to.equal(200)
      expect((await app.visit(one.path, { Cookie: cookie })).status).to.equal(302)
    })

    it('is asked again when the password is changed, and never again when it is taken away', async () => {
      const { id, path } = await add({ password: word })
      const { cookie } = await unlock(path)
      expect((await app.visit(path, { Cookie: cookie })).status).to.equal(302)
      await update(id, { password: 'another' })
      expect((await app.visit(path, { Cookie: cookie })).status).to.equal(200)
      expect((await post(path, form(word))).status).to.equal(401)
      expect((await unlock(path, 'another')).status).to.equal(303)
      await update(id, { password: '' })
      expect((await app.visit(path)).status).to.equal(302)
    })

    it('is asked as soon as a link that was open gets a password', async () => {
      const { id, path } = await add()
      expect((await app.visit(path)).status).to.equal(302)
      await update(id, { password: word })
      expect((await app.visit(path)).status).to.equal(200)
    })

    it('is asked with HEAD too', async () => {
      const { path } = await add({ password: word })
      const { status, headers, text } = await app.ask('HEAD', path)
      expect([status, headers.get('Location'), text]).to.deep.equal([200, null, ''])
    })

    it('has ten wrong tries in ten minutes, from one address and on one link', async () => {
      const [one, two] = [await add({ password: word }), await add({ password: word })]
      for (let i = 0; i < 10; i++) expect((await post(one.path, form('wrong'))).status).to.equal(401)
      for (const password of ['wrong', word]) {
        const { status, headers, text } = await post(one.path, form(password))
        expect([status, headers.get('Set-Cookie')]).to.deep.equal([429, null])
        expect(Number(headers.get('Retry-After'))).to.be.within(1, 600)
        expect(text).to.include('<form')
      }
      expect((await unlock(two.path)).status, 'another link').to.equal(303)
    })

    it('who was right does not use up tries', async () => {
      const { path } = await add({ password: word })
      for (let i = 0; i < 12; i++) expect((await unlock(path)).status).to.equal(303)
      expect((await post(path, form('wrong'))).status).to.equal(401)
    })

    it('may have a password of any 1,024 characters', async () => {
      const password = '密'.repeat(1024)
      const { path } = await add({ password })
      expect((await unlock(path, password)).status).to.equal(303)
    })

    it('may not send more, and can go on with the same connection after it', async () => {
      const { path } = await add({ password: word })
      const start = (method: string, more: string) => `${method} ${path} HTTP/1.1\r\nHost: x\r\n${more}\r\n\r\n`
      const body = 'x'.repeat(1_000_000)
      const said = await wire(
        app.address,
        start('POST', `Content-Length: ${body.length}`) + body + start('GET', 'Connection: close'),
      )
      expect(said.match(/HTTP\/1\.1 \d+/g)).to.deep.equal(['HTTP/1.1 413', 'HTTP/1.1 200'])
      expect(said).to.include('This password is too long')
    })
  })

  describe('over https', () => {
    it('gets a cookie for https only', async () => {
      const secure = await startTestApp({ BASE_URL: 'https://go.example' }, app.connection)
      try {
        const { path } = await add({ password: 'sesame' })
        const { headers } = await secure.post(path, {
          body: 'password=sesame',
          headers: { 'Content-Type': 'text/plain' },
        })
        expect(headers.get('Set-Cookie')).to.match(/; Secure$/)
      } finally {
        await secure.close()
      }
    })
  })
})
