import { expect } from 'chai'
import { account as accounts } from '../../../src/commands/accounts/account.ts'
import { systemMetadata } from '../../../src/events/event.ts'
import { streamId } from '../../../src/events/streams.ts'
import { type TestApp, startTestApp } from '../../support/app.ts'
import { openBrowser } from '../../support/issuerbrowser.ts'
import { startStubIssuer, type StubIssuer } from '../../support/issuer.ts'
import { query } from '../../support/faults.ts'
import { ownPort } from '../../support/ports.ts'
import { type Smtp, startSmtp } from '../../support/smtp.ts'

const password = 'correct horse 1'
const own = { current_password: password }

describe('accounts that an issuer signs in to', () => {
  let stub: StubIssuer
  let app: TestApp
  const settings = (more: Readonly<Record<string, string>> = {}) => ({
    OIDC_ISSUER: stub.address,
    OIDC_CLIENT_ID: 'linkledger',
    OIDC_CLIENT_SECRET: 'a secret',
    OIDC_NAME: 'Example ID',
    OIDC_LOGOUT: 'on',
    ...more,
  })
  before(async () => {
    stub = await startStubIssuer()
    app = await startTestApp(settings())
  })
  beforeEach(() => stub.does({}))
  after(async () => {
    await app.close()
    await stub.close()
  })

  const browserOf = (of = app) => openBrowser(of.app.baseUrl)
  type Browser = ReturnType<typeof browserOf>
  let n = 0
  const newPerson = () => ({
    sub: `person-${++n}`,
    email: `p${n}@example.com`,
    email_verified: true,
    name: `Person ${n}`,
  })
  /** Signs in as a browser does. Returns what the service answers in the end. */
  const enter = async (browser: Browser, who: object, path = '/oidc/sign-in?to=/dashboard/links') => {
    stub.knows({ ...who })
    const begun = await browser.open(path)
    expect(begun.status, await begun.text()).to.equal(303)
    return browser.open(stub.answerTo(begun.headers.get('Location')))
  }
  const accountOf = async (browser: Browser) => (await browser.ask('GET', '/api/account')).json['data']
  const codeOf = async (answer: Response) => (JSON.parse(await answer.text()) as { code: string }).code
  const register = async (email: string) => {
    const { json } = await app.post('/register', { body: { email, password } })
    const browser = browserOf()
    expect((await browser.ask('POST', '/api/session', { email, password })).status).to.equal(200)
    return { browser, id: Number(json['id']), key: String(json['api_key']) }
  }
  /** Lets a session go on in the place to which it was led. */
  const goTo = async (browser: Browser, who: object, path: string, proof: object = {}) => {
    stub.knows({ ...who })
    const { status, json, text } = await browser.ask('POST', path, { to: '/dashboard/account', ...proof })
    expect(status, text).to.equal(200)
    return browser.open(stub.answerTo(String(json['address'])))
  }

  it('are made by the first sign-in, and entered by the next, on another browser, too', async () => {
    const who = newPerson()
    const [one, other] = [browserOf(), browserOf()]
    const answer = await enter(one, who)
    expect([answer.status, answer.headers.get('Location')]).to.deep.equal([303, '/dashboard/links'])
    const made = await accountOf(one)
    expect(made).to.include({ email: who.email })
    await enter(other, { sub: who.sub })
    expect((await accountOf(other)).id).to.equal(made.id)
    const { state } = await app.app.ledger.handler.load(accounts, made.id as number)
    expect(state).to.include({ password: null, email: who.email })
    expect(state.keys.keys).to.deep.equal([])
  })

  it('have no address when the issuer names none, and keep who they are from the log', async () => {
    const who = { sub: 'nobody-in-particular', name: 'Nobody' }
    const browser = browserOf()
    await enter(browser, who)
    const { id, email } = await accountOf(browser)
    expect(email).to.equal('')
    const rows = (await query(
      app.connection,
      `select type, data::text as data from log.events where stream = '${streamId('account', Number(id))}' order by revision`,
    )) as { type: string; data: string }[]
    expect(rows.map(({ type }) => type)).to.deep.equal(['AccountRegisteredByIdentity', 'IdentityAdded'])
    for (const secret of [who.sub, who.name, stub.address])
      expect(rows.map((row) => row.data).join()).not.to.include(secret)
  })

  it('have one account when a person signs in twice at once', async () => {
    const who = newPerson()
    const browsers = [browserOf(), browserOf(), browserOf()]
    await Promise.all(browsers.map((browser) => enter(browser, who)))
    const ids = await Promise.all(browsers.map(async (browser) => (await accountOf(browser)).id))
    expect(new Set(ids).size).to.equal(1)
  })

  it('are entered by no part of a page, and by no link of another site while another account has a session', async () => {
    // given a person who is signed in with a password
    const { browser, id } = await register(newPerson().email)
    const led = async (sent: Readonly<Record<string, string>>) => {
      const answer = await browser.open('/oidc/sign-in?to=/dashboard/links', {
        'Sec-Fetch-Site': 'cross-site',
        ...sent,
      })
      return answer.headers.get('Location')
    }
    // when a page of another site leads to the sign-in, then it is not begun, and their session goes on
    expect(await led({})).to.equal('/dashboard/links')
    expect((await accountOf(browser)).id).to.equal(id)
    // and when the page embeds it as an image or a frame, then no sign-in begins
    await browser.ask('DELETE', '/api/session')
    expect(await led({ 'Sec-Fetch-Dest': 'image', 'Sec-Fetch-Mode': 'no-cors' })).to.equal('/dashboard/links')
    expect(await led({ 'Sec-Fetch-Dest': 'iframe' })).to.equal('/dashboard/links')
    expect(await led({})).to.include(stub.address)
  })

  it('are not entered by the address alone, and the page explains how to link the identity', async () => {
    const who = newPerson()
    await register(who.email)
    const answer = await enter(browserOf(), who)
    expect(answer.status).to.equal(403)
    expect(await codeOf(answer)).to.equal('taken')
    const unverified = await enter(browserOf(), { ...newPerson(), email_verified: false })
    expect(await codeOf(unverified)).to.equal('unverified')
  })

  it('are linked by a session that has entered its password, and then entered', async () => {
    const who = newPerson()
    const { browser, id } = await register(`own-${who.email}`)
    expect((await goTo(browser, who, '/api/identity/add', own)).headers.get('Location')).to.equal('/dashboard/account')
    const { json } = await browser.ask('GET', '/api/identities')
    expect(json['data']).to.deep.equal({
      identities: [{ id: 1, issuer: stub.address, subject: who.sub, name: who.name, current: false }],
      password: true,
    })
    const other = browserOf()
    await enter(other, who)
    expect((await accountOf(other)).id).to.equal(id)
    // of another account, it is not linked
    const second = await register(`second-${who.email}`)
    expect(await codeOf(await goTo(second.browser, who, '/api/identity/add', own))).to.equal('linked')
  })

  it('need the password itself to be linked, a code where there is a second factor, and a session', async () => {
    const { browser, id, key } = await register(newPerson().email)
    const code = async (body: object) => (await browser.ask('POST', '/api/identity/add', body)).json
    expect(await code({})).to.include({ code: 'required', field: 'current_password' })
    expect(await code({ current_password: 'wrong horse 1' })).to.include({ code: 'wrong_password' })
    expect((await app.post('/api/identity/add', { key, body: own })).json['code']).to.equal('not_dashboard')
    const add = { type: 'AddSecondFactor', id, secret: 'JBSWY3DPEHPK3PXP', recovery: [] } as const
    await app.app.ledger.handler.handle(accounts, add, systemMetadata(id))
    expect(await code(own)).to.include({ second_factor: true })
  })

  it('are left with the identity: its sessions end, and it enters no more', async () => {
    const who = newPerson()
    const { browser, id } = await register(`own-${who.email}`)
    await goTo(browser, who, '/api/identity/add', own)
    const other = browserOf()
    await enter(other, who)
    expect((await browser.ask('DELETE', '/api/identity/1/delete')).status).to.equal(200)
    expect((await browser.ask('DELETE', '/api/identity/1/delete')).status).to.equal(404)
    expect((await other.ask('GET', '/api/account')).status).to.equal(401)
    await enter(other, who)
    expect((await accountOf(other)).id).not.to.equal(id)
  })

  it('keep their last identity while they have no password', async () => {
    const who = newPerson()
    const browser = browserOf()
    await enter(browser, who)
    expect((await browser.ask('DELETE', '/api/identity/1/delete')).json['code']).to.equal('confirmation_needed')
    await goTo(browser, who, '/api/session/confirm/identity')
    expect((await browser.ask('DELETE', '/api/identity/1/delete')).json['code']).to.equal('last_identity')
    expect((await browser.ask('PUT', '/api/account/update', { password })).status).to.equal(200)
    expect((await browser.ask('DELETE', '/api/identity/1/delete')).status).to.equal(200)
  })

  it('widen rights after a fresh sign-in of the same person only', async () => {
    const who = newPerson()
    const browser = browserOf()
    await enter(browser, who)
    const makeKey = () => browser.ask('POST', '/api/key/add', { name: 'x', scopes: ['account'] })
    expect((await makeKey()).json['code']).to.equal('confirmation_needed')
    expect(await codeOf(await goTo(browser, newPerson(), '/api/session/confirm/identity'))).to.equal('other')
    stub.does({ claims: { auth_time: Math.floor(Date.now() / 1000) - 3600 } })
    expect(await codeOf(await goTo(browser, who, '/api/session/confirm/identity'))).to.equal('fresh')
    stub.does({ claims: { auth_time: undefined } })
    expect(await codeOf(await goTo(browser, who, '/api/session/confirm/identity'))).to.equal('fresh')
    stub.does({})
    expect((await makeKey()).status).to.equal(403)
    await goTo(browser, who, '/api/session/confirm/identity')
    expect((await makeKey()).json).to.include({ error: 0, id: 2 })
  })

  it('are not entered with an answer of another browser, or with one that was used', async () => {
    const who = newPerson()
    const [one, other] = [browserOf(), browserOf()]
    stub.knows(who)
    const begun = await one.open('/oidc/sign-in')
    const back = stub.answerTo(begun.headers.get('Location'))
    expect(await codeOf(await other.open(back))).to.equal('begin')
    // a person who has begun a sign-in of their own
    await other.open('/oidc/sign-in')
    expect(await codeOf(await other.open(back))).to.equal('begin')
    const kept = one.cookie('linkledger_oidc')
    expect((await one.open(back)).status).to.equal(303)
    expect(await codeOf(await one.open(back))).to.equal('begin')
    one.keep('linkledger_oidc', kept ?? '')
    expect(await codeOf(await one.open(back))).to.equal('answer')
  })

  it('are not entered with a forged answer, which the log names', async () => {
    for (const mischief of [{ forged: true }, { header: { alg: 'none' } }, { claims: { nonce: 'x' } }]) {
      stub.does(mischief)
      const browser = browserOf()
      const answer = await enter(browser, newPerson())
      expect([answer.status, await codeOf(answer)]).to.deep.equal([400, 'answer'])
      expect((await browser.ask('GET', '/api/account')).status).to.equal(401)
    }
  })

  it('stay open while the issuer is away, and signing in says so with 503', async () => {
    const who = newPerson()
    const browser = browserOf()
    await enter(browser, who)
    const other = browserOf()
    stub.knows(who)
    const begun = await other.open('/oidc/sign-in')
    const back = stub.answerTo(begun.headers.get('Location'))
    stub.does({ away: true })
    const answer = await other.open(back)
    expect([answer.status, answer.headers.get('Retry-After'), await codeOf(answer)]).to.deep.equal([503, '30', 'away'])
    expect((await browser.ask('GET', '/api/account')).status).to.equal(200)
    stub.does({})
    expect((await enter(other, who)).status).to.equal(303)
  })

  it('lead to the sign-out of the issuer after their own', async () => {
    const browser = browserOf()
    await enter(browser, newPerson())
    const { json } = await browser.ask('DELETE', '/api/session')
    const address = new URL(String(json['address']))
    expect(address.origin + address.pathname).to.equal(`${stub.address}/logout`)
    expect(address.searchParams.get('post_logout_redirect_uri')).to.equal(`${app.app.baseUrl}/dashboard`)
    expect((await browser.ask('GET', '/api/account')).status).to.equal(401)
  })

  it('lead on to the dashboard only, never to another site', async () => {
    for (const to of [
      'https://evil.example.com',
      '//evil.example.com',
      '/dashboard//evil.example.com',
      '/dashboard/\\evil',
    ]) {
      const answer = await enter(browserOf(), newPerson(), `/oidc/sign-in?to=${encodeURIComponent(to)}`)
      const location = answer.headers.get('Location') ?? ''
      expect(new URL(location, app.app.baseUrl).origin, to).to.equal(new URL(app.app.baseUrl).origin)
    }
  })

  it('are neither entered nor linked once they are disabled', async () => {
    const who = newPerson()
    const browser = browserOf()
    await enter(browser, who)
    const id = Number((await accountOf(browser)).id)
    const { handler } = app.app.ledger
    await handler.handle(accounts, { type: 'DisableAccount', id }, systemMetadata(id))
    expect(await codeOf(await enter(browserOf(), who))).to.equal('disabled')
  })

  it('begin on the host to which the issuer leads back', async () => {
    const { port } = new URL(app.app.baseUrl)
    const answer = await fetch(`http://127.0.0.1:${port}/oidc/sign-in?to=/dashboard`, { redirect: 'manual' })
    expect(answer.headers.get('Location')).to.equal(`${app.app.baseUrl}/oidc/sign-in?to=/dashboard`)
  })

  it('are left at once by sessions of an issuer that the settings do not name any more, and not by others', async () => {
    // given sessions of an issuer, and of a password
    const who = newPerson()
    const browser = browserOf()
    await enter(browser, who)
    const { browser: own } = await register(`left-${who.email}`)
    const others = [{}, settings({ OIDC_ISSUER: 'https://other.example.com' }), settings()]
    const found: (readonly number[])[] = []
    // when services start without it, with another one, and with it
    for (const now of others) {
      const service = await startTestApp({ ROLES: 'http,relay', ...now }, app.connection)
      const statusOf = async (of: Browser) => {
        const there = browserOf(service)
        there.keep('linkledger_session', of.cookie('linkledger_session') ?? '')
        return (await there.ask('GET', '/api/account')).status
      }
      found.push([await statusOf(browser), await statusOf(own)])
      await service.close()
    }
    // then its sessions count with it alone
    expect(found).to.deep.equal([
      [401, 200],
      [401, 200],
      [200, 200],
    ])
  })

  describe('of a service without passwords and without registration', () => {
    let closed: TestApp
    before(async () => {
      stub.does({ away: true })
      // it starts although the issuer is away
      closed = await startTestApp(settings({ PASSWORD_SIGN_IN: 'off', OIDC_REGISTRATION: 'off' }))
      stub.does({})
    })
    after(() => closed.close())

    it('refuses passwords, and says so', async () => {
      const browser = browserOf(closed)
      for (const [path, body] of [
        ['/api/session', { email: 'ann@example.com', password }],
        ['/register', { email: 'ann@example.com', password }],
        ['/api/account/reset', { email: 'ann@example.com' }],
      ] as const) {
        const { status, json } = await browser.ask('POST', path, body)
        expect([status, json['code']], path).to.deep.equal([403, 'passwords_off'])
      }
    })

    it('makes no account by a sign-in', async () => {
      const answer = await enter(browserOf(closed), newPerson())
      expect([answer.status, await codeOf(answer)]).to.deep.equal([403, 'unknown'])
    })
  })
})

describe('accounts that a verified address enters', () => {
  let stub: StubIssuer
  let smtp: Smtp
  let app: TestApp
  before(async () => {
    stub = await startStubIssuer()
    smtp = await startSmtp()
    const port = String(await ownPort())
    app = await startTestApp({
      PORT: port,
      BASE_URL: `http://localhost:${port}`,
      OIDC_ISSUER: stub.address,
      OIDC_CLIENT_ID: 'linkledger',
      OIDC_LINK_VERIFIED_EMAIL: 'on',
      SMTP_URL: smtp.url,
      SMTP_FROM: 'links@short.example',
    })
  })
  after(async () => {
    await app.close()
    await smtp.close()
    await stub.close()
  })

  it('are those without a second factor and without the mark of an operator', async () => {
    const { handler } = app.app.ledger
    const enter = async (who: object) => {
      const browser = openBrowser(app.app.baseUrl)
      stub.knows({ ...who })
      const begun = await browser.open('/oidc/sign-in')
      const answer = await browser.open(stub.answerTo(begun.headers.get('Location')))
      return answer.status === 303 ? Number((await browser.ask('GET', '/api/account')).json['data'].id) : answer.status
    }
    const person = (n: number) => ({ sub: `s${n}`, email: `s${n}@example.com`, email_verified: true })
    const own = await enter(person(1))
    // a person with another subject has the address of an account now
    expect(await enter({ ...person(1), sub: 'renamed' })).to.equal(own)
    await handler.handle(accounts, { type: 'MarkOperator', id: own }, systemMetadata(own))
    expect(await enter({ ...person(1), sub: 'third' })).to.equal(403)
    expect(await enter({ ...person(1), sub: 'fourth', email_verified: false })).to.equal(403)
  })
})
