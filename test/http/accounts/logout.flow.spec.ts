import { createHmac } from 'node:crypto'
import { expect } from 'chai'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { until } from '../../support/client.ts'
import { postForm } from '../../support/forms.ts'
import { startStubIssuer, type StubIssuer } from '../../support/issuer.ts'
import { openBrowser } from '../../support/issuerbrowser.ts'
import { startProvider } from '../../support/oidcprovider.ts'
import { ownPort } from '../../support/ports.ts'

const password = 'correct horse 1'
const path = '/oidc/backchannel-logout'
type Browser = ReturnType<typeof openBrowser>
const isSignedIn = async (browser: Browser) => (await browser.ask('GET', '/api/account')).status === 200

describe('sessions that the issuer ends', () => {
  let stub: StubIssuer
  let app: TestApp
  let second: TestApp
  before(async () => {
    stub = await startStubIssuer()
    const settings = { OIDC_ISSUER: stub.address, OIDC_CLIENT_ID: 'linkledger', OIDC_CLIENT_SECRET: 'a secret' }
    app = await startTestApp(settings)
    second = await startTestApp({ ...settings, ROLES: 'http,relay' }, app.connection)
  })
  beforeEach(() => stub.does({}))
  after(async () => {
    await second.close()
    await app.close()
    await stub.close()
  })

  let n = 0
  const newSub = () => `person-${++n}`
  const enter = async (sub: string, sid?: string, of = app, browser = openBrowser(of.app.baseUrl)) => {
    stub.knows({ sub, ...(sid !== undefined && { sid }) })
    const begun = await browser.open('/oidc/sign-in')
    expect((await browser.open(stub.answerTo(begun.headers.get('Location')))).status).to.equal(303)
    expect(await isSignedIn(browser)).to.equal(true)
    return browser
  }
  const send = async (token: string, of = app) => {
    const { headers, status, text } = await postForm(of.address + path, { logout_token: token })
    expect(headers.get('Cache-Control')).to.equal('no-store')
    const json = (text === '' ? {} : JSON.parse(text)) as { error?: string; error_description?: string }
    return { headers, status, ...json }
  }
  const areSignedIn = (...browsers: readonly Browser[]) => Promise.all(browsers.map(isSignedIn))

  it('are all of a person in all processes, and none of another person', async () => {
    // given a person with two sessions, on two processes, and another person
    const sub = newSub()
    const [one, two, other] = [await enter(sub), await enter(sub, 'a session', second), await enter(newSub())]
    // when the issuer says that the person has signed out
    expect((await send(stub.logoutToken({ sub }))).status).to.equal(200)
    // then both have ended, and that of the other one goes on
    expect(await areSignedIn(one, two, other)).to.deep.equal([false, false, true])
  })

  it('are the one that it names, with the person or alone, and those of which it has named none', async () => {
    const sub = newSub()
    const sessions = [
      await enter(sub, 'first'),
      await enter(sub, 'second'),
      await enter(sub, 'third'),
      await enter(sub),
    ]
    expect((await send(stub.logoutToken({ sid: 'first' }))).status).to.equal(200)
    expect(await areSignedIn(...sessions)).to.deep.equal([false, true, true, true])
    expect((await send(stub.logoutToken({ sub, sid: 'second' }))).status).to.equal(200)
    expect(await areSignedIn(...sessions)).to.deep.equal([false, false, true, false])
  })

  /** Returns the result of a sign-in whose session the issuer ends before the person returns. */
  const endedOnTheWay = async (path: string, who: object, token: string) => {
    const browser = openBrowser(app.app.baseUrl)
    let goOn = () => {}
    stub.knows({ ...who })
    stub.does({ pause: new Promise<void>((resolve) => (goOn = resolve)) })
    const begun = await browser.open(path)
    const asked = stub.used.length
    const coming = browser.open(stub.answerTo(begun.headers.get('Location')))
    await until(async () => stub.used.slice(asked).includes('/userinfo'), Boolean)
    expect((await send(token)).status).to.equal(200)
    goOn()
    const { status } = await coming
    return { browser, status }
  }

  it('are also those that a sign-in opens which was under way at that moment', async () => {
    const known = newSub()
    await enter(known)
    const cases = [
      [{ sub: known, sid: 'way-1' }, { sid: 'way-1' }],
      [{ sub: known, sid: 'way-2' }, { sub: known }],
      [
        { sub: known, sid: 'way-3' },
        { sub: known, sid: 'way-3' },
      ],
      [{ sub: known }, { sub: known }],
      [{ sub: known }, { sub: known, sid: 'way-4' }],
      [{ sub: newSub(), sid: 'way-5' }, { sid: 'way-5' }],
    ] as const
    for (const [who, ended] of cases) {
      const { browser, status } = await endedOnTheWay('/oidc/sign-in', who, stub.logoutToken(ended))
      expect([status, await isSignedIn(browser)], JSON.stringify(ended)).to.deep.equal([403, false])
      stub.does({})
    }
  })

  it('are none that a sign-in opens which was under way when another one ended, or comes after', async () => {
    const sub = newSub()
    const cases = [
      [{ sub, sid: 'own-1' }, { sid: 'other-1' }],
      [
        { sub, sid: 'own-2' },
        { sub, sid: 'other-2' },
      ],
      [{ sub }, { sid: 'other-3' }],
      [{ sub }, { sub: newSub() }],
    ] as const
    for (const [who, ended] of cases) {
      const { browser, status } = await endedOnTheWay('/oidc/sign-in', who, stub.logoutToken(ended))
      expect([status, await isSignedIn(browser)], JSON.stringify(ended)).to.deep.equal([303, true])
      stub.does({})
    }
    await send(stub.logoutToken({ sub }))
    await enter(sub)
    await enter(sub, 'own-3')
  })

  it('are also one that is confirmed by a session there which ends at that moment', async () => {
    const sub = newSub()
    const browser = await enter(sub, 'confirmed-before')
    const { json } = await browser.ask('POST', '/api/session/confirm/identity', {})
    let goOn = () => {}
    stub.knows({ sub, sid: 'confirmed-after' })
    stub.does({ pause: new Promise<void>((resolve) => (goOn = resolve)) })
    const asked = stub.used.length
    const coming = browser.open(stub.answerTo(json['address']))
    await until(async () => stub.used.slice(asked).includes('/userinfo'), Boolean)
    expect((await send(stub.logoutToken({ sid: 'confirmed-after' }))).status).to.equal(200)
    goOn()
    await coming
    expect(await isSignedIn(browser)).to.equal(false)
  })

  it('are found by the session with which it has signed a person in again', async () => {
    const sub = newSub()
    const browser = await enter(sub, 'before')
    stub.knows({ sub, sid: 'after' })
    const { json } = await browser.ask('POST', '/api/session/confirm/identity', {})
    expect((await browser.open(stub.answerTo(json['address']))).status).to.equal(303)
    expect((await send(stub.logoutToken({ sid: 'before' }))).status).to.equal(200)
    expect(await isSignedIn(browser)).to.equal(true)
    expect((await send(stub.logoutToken({ sid: 'after' }))).status).to.equal(200)
    expect(await isSignedIn(browser)).to.equal(false)
  })

  it('are not those that a password has opened', async () => {
    const email = 'both@example.com'
    await app.post('/register', { body: { email, password } })
    const own = openBrowser(app.app.baseUrl)
    await own.ask('POST', '/api/session', { email, password })
    const sub = newSub()
    stub.knows({ sub })
    const { json } = await own.ask('POST', '/api/identity/add', { current_password: password })
    await own.open(stub.answerTo(json['address']))
    const browser = await enter(sub)
    expect((await send(stub.logoutToken({ sub }))).status).to.equal(200)
    expect(await areSignedIn(own, browser)).to.deep.equal([true, false])
  })

  it('have ended already where the issuer names a person without a session', async () => {
    expect((await send(stub.logoutToken({ sub: 'nobody' }))).status).to.equal(200)
    expect((await send(stub.logoutToken({ sid: 'none' }))).status).to.equal(200)
  })

  describe('by a token that is not right', () => {
    const now = Math.floor(Date.now() / 1000)
    const event = 'http://schemas.openid.net/event/backchannel-logout'
    type Made = Parameters<StubIssuer['logoutToken']>
    const refused: readonly (readonly [title: string, claims: Made[0], made: Made[1], says: RegExp])[] = [
      ['for another client', { aud: 'other' }, {}, /aud/],
      ['of another issuer', { iss: 'https://evil.example.com' }, {}, /iss/],
      ['without a signature (alg none)', {}, { header: { alg: 'none' } }, /must be signed/],
      ['signed with the secret of the client (HS256)', {}, { header: { alg: 'HS256' } }, /must be signed/],
      ['signed with another key', {}, { forged: true }, /signature/],
      ['signed with a key that there is not', {}, { header: { alg: 'RS256', kid: 'other' } }, /no applicable key/],
      ['that has a nonce, as an ID token', { nonce: 'x' }, {}, /nonce/],
      ['without events', { events: undefined }, {}, /events/],
      ['with another event', { events: { 'http://schemas.openid.net/event/other': {} } }, {}, /events/],
      ['with an event that is no object', { events: { [event]: true } }, {}, /events/],
      ['without a person', { sub: undefined }, {}, /sub/],
      ['that has ended', { exp: now - 60 }, {}, /exp/],
      ['that is old', { iat: now - 400, exp: undefined }, {}, /iat/],
      ['of tomorrow', { iat: now + 86_400, exp: now + 90_000 }, {}, /iat/],
      ['without a time', { iat: undefined }, {}, /iat/],
      ['without an id', { jti: undefined }, {}, /jti/],
      ['with an endless id', { jti: 'x'.repeat(501) }, {}, /jti/],
    ]
    for (const [title, claims, made, says] of refused)
      it(`${title} go on`, async () => {
        const sub = newSub()
        const browser = await enter(sub)
        const { status, error, error_description: why } = await send(stub.logoutToken({ sub, ...claims }, made))
        expect([status, error]).to.deep.equal([400, 'invalid_request'])
        expect(why).to.match(says)
        expect(await isSignedIn(browser)).to.equal(true)
      })

    it('that was used before go on', async () => {
      const sub = newSub()
      const token = stub.logoutToken({ sub })
      expect((await send(token)).status).to.equal(200)
      const browser = await enter(sub)
      expect(await send(token, second)).to.include({ status: 400, error: 'invalid_request' })
      expect(await isSignedIn(browser)).to.equal(true)
    })

    it('that is no token, or one of two, go on', async () => {
      const right = stub.logoutToken({ sub: 'nobody' })
      const twice = [right, right].map((one) => `logout_token=${one}`).join('&')
      const form = 'application/x-www-form-urlencoded'
      const sent: readonly (readonly [body: string, type: string])[] = [
        ['', form],
        ['logout_token=', form],
        ['logout_token=a.b.c', form],
        [`logout_token=${Buffer.from('{"alg":"RS256"}').toString('base64url')}.e30.`, form],
        [`logout_token=${'x'.repeat(8193)}`, form],
        [`logout_token=${'x'.repeat(1_000_000)}`, form],
        [twice, form],
        [`logout_token=${right}`, 'text/plain'],
        [JSON.stringify({ logout_token: right }), 'application/json'],
      ]
      for (const [body, type] of sent) {
        const answer = await fetch(app.address + path, { method: 'POST', headers: { 'Content-Type': type }, body })
        expect([answer.status, answer.headers.get('Cache-Control')], body.slice(0, 40)).to.deep.equal([400, 'no-store'])
        expect(JSON.parse(await answer.text())).to.include({ error: 'invalid_request' })
      }
      const read = await fetch(`${app.address}${path}?logout_token=${right}`)
      expect([read.status, read.headers.get('Allow')]).to.deep.equal([405, 'POST'])
    })
  })

  it('go on while the keys of the issuer are unavailable, and the issuer gets 503 to try again', async () => {
    // given a process that has not read the keys of the issuer
    const fresh = await startTestApp(
      { OIDC_ISSUER: stub.address, OIDC_CLIENT_ID: 'linkledger', OIDC_CLIENT_SECRET: 'a secret', ROLES: 'http,relay' },
      app.connection,
    )
    try {
      const sub = newSub()
      const browser = await enter(sub)
      const token = stub.logoutToken({ sub })
      // when the issuer sends a token, but not its keys, then it is told to try again
      stub.does({ away: true })
      const { headers, ...answer } = await send(token, fresh)
      expect(answer).to.include({ status: 503, error: 'temporarily_unavailable' })
      expect(headers.get('Retry-After')).to.equal('30')
      expect(await isSignedIn(browser)).to.equal(true)
      // and the same token ends the session later
      stub.does({})
      expect((await send(token, fresh)).status).to.equal(200)
      expect(await isSignedIn(browser)).to.equal(false)
    } finally {
      await fresh.close()
    }
  })

  it('are asked about at most 6,000 times in ten minutes by a network', async () => {
    const { db } = app.app.ledger
    await send('x.y.z')
    await db('state.rate_limits').where('key', 'like', 'logout %').update({ count: 6000 })
    const { headers, status } = await send(stub.logoutToken({ sub: 'nobody' }))
    expect(status).to.equal(429)
    expect(Number(headers.get('Retry-After'))).to.be.within(1, 600)
    await db('state.rate_limits').where('key', 'like', 'logout %').delete()
  })
})

describe('sessions of a real issuer', () => {
  for (const named of [false, true])
    it(`end when a person signs out there, ${named ? 'with the name of the session' : 'by the person'}`, async () => {
      const port = String(await ownPort())
      const baseUrl = `http://localhost:${port}`
      const logout = { uri: baseUrl + path, named }
      const provider = await startProvider(`${baseUrl}/oidc/callback`, 'RS256', logout)
      const { address: OIDC_ISSUER, clientId, clientSecret } = provider
      const client = { OIDC_ISSUER, OIDC_CLIENT_ID: clientId, OIDC_CLIENT_SECRET: clientSecret }
      const app = await startTestApp({ PORT: port, BASE_URL: baseUrl, ...client })
      try {
        const browser = openBrowser(baseUrl)
        const begun = await browser.open('/oidc/sign-in')
        const back = await provider.follow(begun.headers.get('Location') ?? '')
        expect((await browser.open(`/oidc/callback?${back.toString()}`)).status).to.equal(303)
        expect(await isSignedIn(browser)).to.equal(true)
        await provider.signOut()
        expect(await isSignedIn(browser)).to.equal(false)
      } finally {
        await app.close()
        await provider.close()
      }
    })

  it('have no such address without an issuer', async () => {
    const app = await startTestApp()
    try {
      const token = createHmac('sha256', 'x').digest('base64url')
      expect((await postForm(app.address + path, { logout_token: token })).status).to.be.oneOf([404, 405])
    } finally {
      await app.close()
    }
  })
})
