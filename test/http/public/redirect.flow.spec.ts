import { expect } from 'chai'
import { inSeconds, secondsLater } from '../../support/clock.ts'
import { long, useLinks } from '../../support/links.ts'
import { send } from '../../support/raw.ts'

const json = { Accept: 'application/json' }

describe('the public side', () => {
  const { app, key, add, update, clicksSoFar, post } = useLinks()

  describe('for a short link', () => {
    it('redirects to exactly the stored address', async () => {
      const { path } = await add()
      const { status, headers, text } = await app().visit(path)
      expect([status, text]).to.deep.equal([302, ''])
      expect(headers.get('Location')).to.equal(long)
      expect(headers.get('Cache-Control')).to.equal('private, no-store')
    })

    it('ignores the case of its alias', async () => {
      const { path } = await add()
      expect((await app().visit(path.toUpperCase())).headers.get('Location')).to.equal(long)
    })

    it('ignores the query', async () => {
      const { path } = await add()
      for (const query of ['?', '?utm_source=x', '?b=other#f', '?url=https://evil.example/'])
        expect((await app().visit(path + query)).headers.get('Location')).to.equal(long)
    })

    it('answers HEAD like GET and does not count it', async () => {
      const { id, path } = await add()
      for (let i = 0; i < 3; i++) {
        const { status, headers } = await app().ask('HEAD', path)
        expect([status, headers.get('Location')]).to.deep.equal([302, long])
      }
      expect(await clicksSoFar(id, path)).to.equal(0)
    })

    it('answers POST with one slash before an alias that has several: two, and a browser reads a host', async () => {
      const { path } = await add({ custom: '3221226219' })
      const { status, headers } = await post(`/${path}?a=1`, '')
      expect([status, headers.get('Location')]).to.deep.equal([303, `${path}?a=1`])
    })

    it('answers POST with the escapes of the request: a header cannot contain some letters', async () => {
      const { path } = await add({ forward: 'path' })
      for (const rest of ['%E4%B8%AD', '%0d%0aX', 'a%3Fb%23c']) {
        const { status, headers } = await post(`${path}/${rest}`, 'x=y')
        expect([status, headers.get('Location')]).to.deep.equal([303, `${path}/${rest}`])
      }
    })

    it('answers POST with 303 when it has no password, and does not count it', async () => {
      const { id, path } = await add()
      const { status, headers } = await post(path, 'password=x')
      expect([status, headers.get('Location'), headers.get('Set-Cookie')]).to.deep.equal([303, path, null])
      expect(await clicksSoFar(id, path)).to.equal(0)
    })

    it('responds 404 in JSON to a client that prefers it', async () => {
      const { status, headers, json: body } = await app().visit('/no-such-alias', json)
      expect(status).to.equal(404)
      expect(headers.get('Content-Type')).to.match(/^application\/json/)
      expect(body).to.have.all.keys('error', 'message')
      expect(body['error']).to.equal(1)
    })

    it('responds in JSON also when the client names the charset', async () => {
      for (const accept of ['application/json; charset=utf-8', 'application/json;charset=UTF-8, text/plain, */*'])
        expect((await app().visit('/no-such-alias', { Accept: accept })).json, accept).to.include({ error: 1 })
    })

    it('responds 404 with a page for any unknown path', async () => {
      for (const path of ['/no-such-alias', '/a/b', '/link-1//', '/%2flink-1', '/-', `/${'x'.repeat(65)}`]) {
        const { status, headers, text } = await app().visit(path, { Accept: 'text/html,application/json;q=0.9' })
        expect(status, path).to.equal(404)
        expect(headers.get('Content-Type')).to.equal('text/html; charset=utf-8')
        expect(headers.get('Cache-Control')).to.include('no-store')
        expect(text).to.match(/^<!doctype html>.*Link not found/s)
      }
    })

    it('is found with a slash at the end, too', async () => {
      const { path } = await add()
      for (const query of ['', '?utm=x'])
        expect((await app().visit(`${path}/${query}`)).headers.get('Location')).to.equal(long)
    })

    it('is found by other spellings of its address, and with pasted text around it', async () => {
      await add({ custom: 'my_link-1' })
      const found = [
        ...['/my%5Flink-1', '/my%5flink%2D1', '/%6dy_link%2d%31', '//my_link-1', '///my_link-1?x=1'],
        ...['/my_link-1.', '/my_link-1,', '/my_link-1)', '/my_link-1).', '/my_link-1%29', '/my_link-1;', "/my_link-1'"],
        ...['/my_link-1%20', '/my_link-1%E2%80%8B', '/my_link-1%EF%BB%BF', '/my_link-1%C2%A0', '/my_link-1%0A'],
        ...['/my_link-1%E2%80%9D', '/my_link-1%E3%80%82', '/my_link-1.?utm=x', '/my_link-1%3E', '/my_link-1*'],
      ]
      for (const path of found) expect((await app().visit(path)).headers.get('Location'), path).to.equal(long)
      const others = ['/my%2Flink-1', '/my_link-1%2F..', '/my_link-1.php', '/my_link-1-', '/.my_link-1', '/my.link-1']
      for (const path of others) expect((await app().visit(path)).status, path).to.equal(404)
    })

    it('is found when it was created after a miss', async () => {
      for (let i = 0; i < 2; i++) expect((await app().visit('/made-later')).status).to.equal(404)
      await add({ custom: 'made-later' })
      expect((await app().visit('/made-later')).headers.get('Location')).to.equal(long)
    })

    it('responds alike when it never existed and when it was deleted', async () => {
      const { id, path } = await add()
      await app().visit(path)
      await app().del(`/api/url/${id}/delete`, { key: key() })
      for (const headers of [{}, json]) {
        const { text } = await app().visit('/no-such-alias', headers)
        expect((await app().visit(path, headers)).text.replace(path.slice(1), 'no-such-alias')).to.equal(text)
      }
    })

    it('responds 405 to other methods, and to OPTIONS with those that it has', async () => {
      const { path } = await add()
      for (const method of ['PUT', 'DELETE', 'PATCH']) {
        const { status, headers } = await app().ask(method, path)
        expect([status, headers.get('Allow')], method).to.deep.equal([405, 'GET, HEAD, POST, OPTIONS'])
      }
      for (const at of [path, '/', '/no-such-alias', '/report', '/docs', '/openapi.json']) {
        const { status, headers, text } = await app().ask('OPTIONS', at)
        expect([status, text], at).to.deep.equal([204, ''])
        expect(headers.get('Allow')?.split(', '), at).to.include.members(['GET', 'HEAD', 'OPTIONS'])
      }
    })

    it('shows a page at the root', async () => {
      for (const path of ['/', '/?x=y']) {
        const { status, headers, text } = await app().visit(path)
        expect([status, headers.get('Content-Type')]).to.deep.equal([200, 'text/html; charset=utf-8'])
        expect(text).to.include('<h1>').and.include('href="/dashboard"')
      }
    })

    it('shows the way to the dashboard only on a host of the service', async () => {
      const { text } = await send(app().address, 'GET', '/', { headers: { Host: 'go.example.com' } })
      expect(text).to.include('<h1>').and.not.include('/dashboard')
    })

    it('is served on any host name that reaches the service', async () => {
      const { path } = await add()
      for (const host of ['go.example.com', '192.0.2.7:3000', 'localhost', '[::1]:80'])
        expect((await send(app().address, 'GET', path, { headers: { Host: host } })).headers['location']).to.deep.equal(
          [long],
        )
    })
  })

  describe('for a link that has expired', () => {
    it('responds 410 with a page or in JSON, and does not count the request', async () => {
      const { id, path } = await add({ expiry: inSeconds(60) })
      expect((await app().visit(path)).status).to.equal(302)
      await secondsLater(61, async () => {
        const page = await app().visit(path)
        expect(page.status).to.equal(410)
        expect(page.headers.get('Content-Type')).to.equal('text/html; charset=utf-8')
        expect(page.text).to.include('This link has expired')
        const body = await app().visit(path, json)
        expect(body.status).to.equal(410)
        expect(body.json).to.deep.equal({ error: 1, message: 'This link has expired' })
        for (const method of ['HEAD', 'POST']) expect((await app().ask(method, path)).status, method).to.equal(410)
      })
      await update(id, { expiry: '' })
      expect(await clicksSoFar(id, path)).to.equal(1)
    })

    it('no longer asks for its password', async () => {
      const { path } = await add({ expiry: inSeconds(60), password: 'sesame' })
      await secondsLater(61, async () => {
        const { text } = await app().visit(path)
        expect(text).to.include('This link has expired').and.not.to.include('<form')
        expect((await post(path, 'password=sesame')).status).to.equal(410)
      })
    })
  })
})
