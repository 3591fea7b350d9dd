import { expect } from 'chai'
import { request } from 'node:http'
import { claimedIdentity } from '../../../src/commands/accounts/register.ts'
import { account as accounts } from '../../../src/commands/accounts/account.ts'
import { systemMetadata } from '../../../src/events/event.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { openBrowser } from '../../support/issuerbrowser.ts'

const password = 'correct horse 1'
const header = 'X-Forwarded-Email'

describe('people whom a proxy in front signs in', () => {
  /** the proxy is on this machine */
  let app: TestApp
  /** the same service, of which the proxy is elsewhere */
  let around: TestApp
  before(async () => {
    app = await startTestApp({ AUTH_PROXY_HEADER: header, AUTH_PROXY_NETWORKS: '127.0.0.0/8, ::1', TRUST_PROXY: '1' })
    const settings = { AUTH_PROXY_HEADER: header, AUTH_PROXY_NETWORKS: '192.0.2.0/24', TRUST_PROXY: '1' }
    around = await startTestApp(settings, app.connection)
  })
  after(async () => {
    await around.close()
    await app.close()
  })

  let n = 0
  const newName = () => `p${++n}@example.com`
  /** Returns a browser behind the proxy, which names a person in each request. It may name another person later. */
  const browserOf = (name: string | undefined, of = app) => {
    const added: Record<string, string> = {}
    const names = (now: string | undefined) => {
      delete added[header]
      if (now !== undefined) added[header] = now
    }
    names(name)
    const browser = openBrowser(of.app.baseUrl, added)
    return { ...browser, names, enter: () => browser.open('/account/proxy?to=/dashboard/links') }
  }
  const idOf = async (browser: ReturnType<typeof browserOf>) => {
    const { json, status } = await browser.ask('GET', '/api/account')
    return status === 200 ? Number(json['data'].id) : status
  }
  const codeOf = async (answer: Response) => (JSON.parse(await answer.text()) as { code: string }).code
  const count = async () => {
    const { rows } = await app.app.ledger.db.raw<{ rows: readonly { n: string }[] }>(
      `select count(*) as n from log.events where type like 'AccountRegistered%'`,
    )
    return Number(rows[0]?.n)
  }
  const register = async (email: string) => {
    const { json } = await app.post('/register', { body: { email, password } })
    return { id: Number(json['id']), key: String(json['api_key']) }
  }
  /** Opens the sign-in with headers as they are, and returns the status. */
  const openWith = (headers: Readonly<Record<string, string | string[]>>, of = app): Promise<number> =>
    new Promise((resolve, reject) => {
      const { hostname, port } = new URL(of.address)
      request({ hostname, port, path: '/account/proxy', headers: { Host: new URL(of.app.baseUrl).host, ...headers } })
        .on('response', (answer) => {
          answer.resume()
          resolve(answer.statusCode ?? 0)
        })
        .on('error', reject)
        .end()
    })

  it('get an account with the first sign-in, and enter it with the next, by the name alone', async () => {
    const name = newName()
    const [one, other] = [browserOf(name), browserOf(name)]
    const answer = await one.enter()
    expect([answer.status, answer.headers.get('Location')]).to.deep.equal([303, '/dashboard/links'])
    const id = await idOf(one)
    await other.enter()
    expect(await idOf(other)).to.equal(id)
    const { state } = await app.app.ledger.handler.load(accounts, id)
    expect(state).to.include({ password: null, email: name })
    const { json } = await one.ask('GET', '/api/identities')
    expect(json['data']).to.deep.equal({
      identities: [{ id: 1, issuer: 'proxy', subject: name, name, current: true }],
      password: false,
    })
    // a user name is no address
    const user = browserOf(`user-${++n}`)
    await user.enter()
    expect((await user.ask('GET', '/api/account')).json['data']).to.include({ email: '' })
  })

  it('are not signed in by a name from another network, with any X-Forwarded-For', async () => {
    const before = await count()
    const name = newName()
    for (const forwarded of [undefined, '192.0.2.7', '127.0.0.1, 192.0.2.7']) {
      const headers = { [header]: name, ...(forwarded !== undefined && { 'X-Forwarded-For': forwarded }) }
      expect(await openWith(headers, around)).to.equal(403)
    }
    expect(await codeOf(await browserOf(name, around).enter())).to.equal('proxy')
    expect(await count()).to.equal(before)
  })

  it('are not signed in without exactly one name of at most 255 characters', async () => {
    const before = await count()
    for (const value of [
      [],
      [''],
      ['   '],
      ['a@example.com', 'b@example.com'],
      ['a@example.com', 'a@example.com'],
      ['a@example.com, b@example.com'],
      ['x'.repeat(256)],
      [`${'x'.repeat(9000)}@example.com`],
      ['a\t@example.com'],
      ['\u00E9'],
    ])
      expect(await openWith({ [header]: value }), String(value).slice(0, 40)).to.equal(403)
    expect(await count()).to.equal(before)
    expect(await openWith({ [header]: Buffer.from(`é-${++n}`).toString('latin1') })).to.equal(303)
  })

  it('are not signed in by a name that differs from a known one by a space at its ends', async () => {
    // given a person whom the proxy has named
    const name = newName()
    await browserOf(name).enter()
    const before = await count()
    const statusOf = (value: string) => openWith({ [header]: Buffer.from(value).toString('latin1') })
    // when it names them with a blank of Unicode, which HTTP does not cut, then they are not signed in
    for (const blank of ['\u00A0', '\u2003', '\u3000', '\uFEFF', '\u2028', '\u0085'])
      for (const value of [`${name}${blank}`, `${blank}${name}`, `${blank} ${name}`, `${name} ${blank}`])
        expect(await statusOf(value), JSON.stringify(value)).to.equal(403)
    // and spaces and tabs around a name are none of it
    expect([await statusOf(` \t${name}\t `), await count()]).to.deep.equal([303, before])
  })

  it('keep a session only while the proxy names them with each request', async () => {
    const [ann, bob] = [newName(), newName()]
    const browser = browserOf(ann)
    for (const now of [bob, undefined, '', `${ann}, ${bob}`, ann.toUpperCase()]) {
      browser.names(ann)
      await browser.enter()
      const id = await idOf(browser)
      expect(id, String(now)).to.not.equal(401)
      browser.names(now)
      expect(await idOf(browser), String(now)).to.equal(401)
      // it has ended: the right name does not bring it back
      browser.names(ann)
      expect(await idOf(browser), String(now)).to.equal(401)
    }
  })

  it('have a session that cannot be used around the proxy, and that goes on behind it', async () => {
    const name = newName()
    const browser = browserOf(name)
    await browser.enter()
    const id = await idOf(browser)
    const cookie = browser.cookie('linkledger_session') ?? ''
    const thief = browserOf(name, around)
    thief.keep('linkledger_session', cookie)
    expect(await idOf(thief)).to.equal(401)
    expect(await idOf(browser)).to.equal(id)
  })

  it('do not enter an account by its address: a person who is signed in to it, or an operator, links it', async () => {
    const email = newName()
    const { id } = await register(email)
    expect(await codeOf(await browserOf(email).enter())).to.equal('taken')
    const browser = browserOf(email)
    expect((await browser.ask('POST', '/api/session', { email, password })).status).to.equal(200)
    expect((await browser.ask('POST', '/api/identity/add', {})).status).to.equal(400)
    const proof = { current_password: password, to: '/dashboard/account' }
    const linked = await browser.ask('POST', '/api/identity/add', proof)
    expect([linked.status, linked.json['address']]).to.deep.equal([200, '/dashboard/account'])
    const next = browserOf(email)
    await next.enter()
    expect(await idOf(next)).to.equal(id)
    // the name of another account stays with it
    const other = await register(newName())
    const { handler, keys } = app.app.ledger
    const identity = claimedIdentity(keys.service, { issuer: 'proxy', subject: `op-${n}`, name: null })
    await handler.handle(accounts, { type: 'AddIdentity', id: other.id, identity }, systemMetadata(other.id))
    const byOperator = browserOf(`op-${n}`)
    await byOperator.enter()
    expect(await idOf(byOperator)).to.equal(other.id)
    browser.names(`op-${n}`)
    expect((await browser.ask('POST', '/api/identity/add', proof)).status).to.equal(400)
  })

  it('leave a session alone that a password has opened, and the keys of others', async () => {
    const email = newName()
    const { id, key } = await register(email)
    const browser = browserOf(newName())
    expect((await browser.ask('POST', '/api/session', { email, password })).status).to.equal(200)
    // the proxy names Bob, and Ann is signed in with her password
    expect(await idOf(browser)).to.equal(id)
    expect((await app.get('/api/account', { key, headers: { [header]: newName() } })).json['data'].id).to.equal(id)
    // signing in by the proxy is another session
    await browser.enter()
    expect(await idOf(browser)).to.not.equal(id)
  })

  it('confirm wider rights by a new request through the proxy', async () => {
    const browser = browserOf(newName())
    await browser.enter()
    await app.app.ledger.db.raw(`update state.sessions set confirmed_at = now() - interval '11 minutes'`)
    const add = () => browser.ask('POST', '/api/key/add', { name: 'k', scopes: ['account'] })
    expect((await add()).status).to.equal(403)
    const { json } = await browser.ask('POST', '/api/session/confirm/identity', { to: '/dashboard/keys' })
    expect(json['address']).to.equal('/account/proxy?to=%2Fdashboard%2Fkeys')
    expect((await browser.open(String(json['address']))).headers.get('Location')).to.equal('/dashboard/keys')
    expect((await add()).status).to.equal(200)
  })

  it('are signed in by no part of a page, and by no link of another site while another person has a session', async () => {
    const [before, name] = [await count(), newName()]
    // given a person whom the proxy knows, when a page of another site embeds the address as an image or a frame
    for (const [shownAs, mode] of [
      ['image', 'no-cors'],
      ['iframe', 'navigate'],
      ['empty', 'cors'],
    ] as const) {
      const sent = { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Dest': shownAs, 'Sec-Fetch-Mode': mode }
      const browser = browserOf(name)
      await browser.open('/account/proxy', sent)
      // then they have neither a session nor an account
      expect([await idOf(browser), await count()], shownAs).to.deep.equal([401, before])
    }
    // given a person who is signed in with a password, when a link of another site leads there
    const email = newName()
    const { id } = await register(email)
    const browser = browserOf(name)
    await browser.ask('POST', '/api/session', { email, password })
    const led = await browser.open('/account/proxy?to=/dashboard/links', { 'Sec-Fetch-Site': 'cross-site' })
    // then their session goes on, and the button of the dashboard ends it
    expect([led.headers.get('Location'), await idOf(browser)]).to.deep.equal(['/dashboard/links', id])
    await browser.enter()
    expect(await idOf(browser)).to.not.equal(id)
    // and who has no session is signed in by such a link
    const other = browserOf(name)
    await other.open('/account/proxy', { 'Sec-Fetch-Site': 'cross-site' })
    expect(await idOf(other)).to.equal(await idOf(browser))
  })

  it('are led to the dashboard only, never to another site', async () => {
    for (const to of [
      'https://evil.example/',
      '//evil.example',
      '/dashboard/../evil',
      '/dashboard/%2E%2e/evil',
      '/evil',
    ]) {
      const answer = await browserOf(newName()).open(`/account/proxy?to=${encodeURIComponent(to)}`)
      expect(answer.headers.get('Location'), to).to.equal('/dashboard')
    }
  })
})
