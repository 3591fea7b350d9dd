import { expect } from 'chai'
import { startTestApp } from '../../../support/app.ts'
import { until } from '../../../support/client.ts'
import { long, useLinks } from '../../../support/links.ts'
import { wire } from '../../../support/raw.ts'

describe('a link with a password', () => {
  const { app, add, update, clicks, post } = useLinks()
  const word = 'öpen sesame & more'
  const form = (password: string) => String(new URLSearchParams({ password }))
  const unlock = async (path: string, password = word) => {
    const answer = await post(path, form(password))
    const cookie = answer.headers.get('Set-Cookie') ?? ''
    return { ...answer, cookie: cookie.split(';')[0]!, attributes: cookie.split('; ').slice(1) }
  }

  it('shows a form that posts to the same address, and does not count the request', async () => {
    const { id, path } = await add({ password: word })
    const { status, headers, text } = await app().visit(path)
    expect(status).to.equal(200)
    expect(headers.get('Location')).to.equal(null)
    expect(headers.get('Cache-Control')).to.include('no-store')
    expect(text).to.match(/<form method="post">.*name="password"\s+type="password"/s)
    expect(text).not.to.include(long).and.not.to.include('example.com')
    const { cookie } = await unlock(path)
    await app().visit(path, { Cookie: cookie })
    expect(
      await until(
        () => clicks(id),
        (n) => n > 0,
      ),
    ).to.equal(1)
  })

  it('responds 401 with the form and no cookie to a wrong password', async () => {
    const { path } = await add({ password: word })
    for (const body of [form('wrong'), form(''), '', 'pass=word', 'password', form(word.toUpperCase())]) {
      const { status, headers, text } = await post(path, body)
      expect([status, headers.get('Set-Cookie'), headers.get('Location')], body).to.deep.equal([401, null, null])
      expect(text).to.include('<form').and.to.include('This password is not correct.')
    }
  })

  it('responds 303 with a cookie for an hour to the right password, and then counts the click', async () => {
    const { id, path } = await add({ password: word })
    const { status, headers, cookie, attributes } = await unlock(`${path}?utm=x`)
    expect([status, headers.get('Location')]).to.deep.equal([303, `${path}?utm=x`])
    expect(attributes).to.have.members(['Path=/', 'Max-Age=3600', 'HttpOnly', 'SameSite=Lax'])
    expect(cookie).not.to.include('sesame')
    const visit = await app().visit(path, { Cookie: `other=1; ${cookie}; more=2` })
    expect([visit.status, visit.headers.get('Location')]).to.deep.equal([302, long])
    expect(
      await until(
        () => clicks(id),
        (n) => n > 0,
      ),
    ).to.equal(1)
    expect((await app().visit(path)).status, 'without the cookie').to.equal(200)
  })

  it('does not accept the cookie of another link, nor a forged one', async () => {
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
      expect((await app().visit(two.path, { Cookie: given })).status, given).to.equal(200)
    expect((await app().visit(one.path, { Cookie: `ll_${one.id}=${later}.${mac}` })).status).to.equal(200)
    expect((await app().visit(one.path, { Cookie: cookie })).status).to.equal(302)
  })

  it('asks again when its password changes, and no longer when it is removed', async () => {
    const { id, path } = await add({ password: word })
    const { cookie } = await unlock(path)
    expect((await app().visit(path, { Cookie: cookie })).status).to.equal(302)
    await update(id, { password: 'another' })
    expect((await app().visit(path, { Cookie: cookie })).status).to.equal(200)
    expect((await post(path, form(word))).status).to.equal(401)
    expect((await unlock(path, 'another')).status).to.equal(303)
    await update(id, { password: '' })
    expect((await app().visit(path)).status).to.equal(302)
  })

  it('asks as soon as it gets a password', async () => {
    const { id, path } = await add()
    expect((await app().visit(path)).status).to.equal(302)
    await update(id, { password: word })
    expect((await app().visit(path)).status).to.equal(200)
  })

  it('answers HEAD like GET', async () => {
    const { path } = await add({ password: word })
    const { status, headers, text } = await app().ask('HEAD', path)
    expect([status, headers.get('Location'), text]).to.deep.equal([200, null, ''])
  })

  it('accepts ten wrong passwords in ten minutes from one address, then responds 429', async () => {
    const [one, two] = [await add({ password: word }), await add({ password: word })]
    for (let i = 0; i < 10; i++) expect((await post(one.path, form('wrong'))).status).to.equal(401)
    for (const password of ['wrong', word]) {
      const { status, headers, text } = await post(one.path, form(password))
      expect([status, headers.get('Set-Cookie')]).to.deep.equal([429, null])
      expect(Number(headers.get('Retry-After'))).to.be.within(1, 600)
      expect(text)
        .to.include('Too many attempts')
        .and.match(/for the next (10|9) minutes\./)
      expect(text)
        .to.match(/Try again after <time datetime="[^"]*Z"\s*>\d\d:\d\d UTC<\/time/)
        .and.not.include('<form')
    }
    expect((await unlock(two.path)).status, 'another link').to.equal(303)
  })

  it('does not count right passwords as tries', async () => {
    const { path } = await add({ password: word })
    for (let i = 0; i < 12; i++) expect((await unlock(path)).status).to.equal(303)
    expect((await post(path, form('wrong'))).status).to.equal(401)
  })

  it('accepts a password of any 1,024 characters', async () => {
    const password = '密'.repeat(1024)
    const { path } = await add({ password })
    expect((await unlock(path, password)).status).to.equal(303)
  })

  it('responds 413 to a longer one, and keeps the connection usable', async () => {
    const { path } = await add({ password: word })
    const start = (method: string, more: string) => `${method} ${path} HTTP/1.1\r\nHost: x\r\n${more}\r\n\r\n`
    const body = 'x'.repeat(1_000_000)
    const said = await wire(
      app().address,
      start('POST', `Content-Length: ${body.length}`) + body + start('GET', 'Connection: close'),
    )
    expect(said.match(/HTTP\/1\.1 \d+/g)).to.deep.equal(['HTTP/1.1 413', 'HTTP/1.1 200'])
    expect(said).to.include('This password is too long')
  })

  it('sets its cookie for https only', async () => {
    const secure = await startTestApp({ BASE_URL: 'https://go.example' }, app().connection)
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
