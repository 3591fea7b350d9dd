import { expect } from 'chai'
import { account as accounts } from '../../../../src/commands/accounts/account.ts'
import { systemMetadata } from '../../../../src/events/event.ts'
import { streamId } from '../../../../src/events/streams.ts'
import { type TestApp, startTestApp } from '../../../support/app.ts'
import { type Algorithm, newAuthenticator } from '../../../support/authenticator.ts'
import { until } from '../../../support/client.ts'
import { query } from '../../../support/faults.ts'
import { oneTimeLink, postForm } from '../../../support/forms.ts'
import { openBrowser } from '../../../support/issuerbrowser.ts'
import { startStubIssuer, type StubIssuer } from '../../../support/issuer.ts'
import { keepLines } from '../../../support/logger.ts'
import { ownPort } from '../../../support/ports.ts'
import { type Smtp, startSmtp } from '../../../support/smtp.ts'

const password = 'correct horse 1'
const own = { current_password: password }

type Browser = ReturnType<typeof openBrowser>
const optionsOf = async (browser: Browser, path: string, body?: object) => {
  const { status, json, text } = await browser.ask('POST', path, body)
  expect(status, text).to.equal(200)
  return json['options'] as never
}
/** The cookie in which a browser has a challenge. */
const cookieOf = ({ challenge }: { readonly challenge: string }) => `linkledger_passkey_${challenge.slice(0, 8)}`
const codeFor = (wrong: object) => ('challenge' in wrong ? 'wrong_passkey.challenge' : 'wrong_passkey')
const codeOf = ({ json }: { readonly json: Readonly<Record<string, unknown>> }) => {
  const what = (json['params'] as { what?: string } | undefined)?.what
  return [json['code'], ...(what === undefined ? [] : [what])].join('.')
}

describe('accounts that passkeys sign in to', () => {
  const { lines, logger } = keepLines()
  let app: TestApp
  before(async () => {
    app = await startTestApp({}, undefined, {}, logger)
  })
  after(() => app.close())

  const browserOf = () => openBrowser(app.app.baseUrl)
  const originOf = () => new URL(app.app.baseUrl).origin
  const authenticator = (algorithm?: Algorithm) => newAuthenticator(originOf(), algorithm)
  type Passkey = ReturnType<typeof authenticator>
  let n = 0
  const register = async () => {
    const email = `ann${++n}@passkeys.example`
    const { json } = await app.post('/register', { body: { email, password } })
    const browser = browserOf()
    expect((await browser.ask('POST', '/api/session', { email, password })).status).to.equal(200)
    return { browser, email, id: Number(json['id']), key: String(json['api_key']) }
  }
  const add = async (browser: Browser, passkey: Passkey, name?: string) => {
    const options = await optionsOf(browser, '/api/passkey/begin', own)
    return browser.ask('POST', '/api/passkey/add', { passkey: passkey.create(options), ...(name && { name }) })
  }
  const withPasskey = async (algorithm?: Algorithm) => {
    const who = await register()
    const passkey = authenticator(algorithm)
    const { status, text, json } = await add(who.browser, passkey)
    expect(status, text).to.equal(200)
    return { ...who, passkey, number: Number(json['id']) }
  }
  const signInWith = async (browser: Browser, passkey: Passkey, wrong = {}) => {
    const options = await optionsOf(browser, '/api/session/passkey/begin')
    return browser.ask('POST', '/api/session/passkey', { passkey: passkey.get(options, wrong) })
  }
  const isIn = async (browser: Browser) => (await browser.ask('GET', '/api/account')).status === 200
  const sharesOf = async (browser: Browser) => (await browser.ask('GET', '/api/passkeys')).json['data'].passkeys
  const addSecondFactor = (id: number) =>
    app.app.ledger.handler.handle(
      accounts,
      { type: 'AddSecondFactor', id, secret: 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP', recovery: [] },
      systemMetadata(id),
    )

  it('are entered without a password, by every kind of key, in a session of their own', async () => {
    for (const algorithm of ['ES256', 'EdDSA', 'RS256'] as const) {
      const { id, passkey } = await withPasskey(algorithm)
      const other = browserOf()
      const answer = await signInWith(other, passkey)
      expect(answer.status, answer.text).to.equal(200)
      expect(answer.json['id']).to.equal(id)
      expect((await other.ask('GET', '/api/account')).json['data'].id).to.equal(id)
      expect((await sharesOf(other))[0]).to.include({ current: true })
    }
  })

  it('have several, each with a name and the time of its last use, which can be renamed and removed', async () => {
    const { browser } = await register()
    const [one, other] = [authenticator(), authenticator()]
    expect((await add(browser, one, 'Phone')).json['id']).to.equal(1)
    await add(browser, other)
    await signInWith(browserOf(), one)
    const [first, second] = await sharesOf(browser)
    expect(first).to.include({ id: 1, name: 'Phone', current: false })
    expect(first.lastused).not.to.equal('')
    expect(second).to.include({ id: 2, lastused: '' })
    expect(second.name).not.to.equal('')
    const renamed = await browser.ask('PUT', '/api/passkey/1/update', { name: 'Key ring' })
    expect(renamed.status, renamed.text).to.equal(200)
    expect(codeOf(await browser.ask('PUT', '/api/passkey/1/update', { name: '  ' }))).to.equal('empty')
    expect(codeOf(await browser.ask('PUT', '/api/passkey/9/update', { name: 'x' }))).to.equal('not_found.passkey')
    const removed = await browser.ask('DELETE', '/api/passkey/2/delete')
    expect(removed.status, removed.text).to.equal(200)
    expect(codeOf(await browser.ask('DELETE', '/api/passkey/2/delete'))).to.equal('not_found.passkey')
    expect((await sharesOf(browser)).map((row: { name: string }) => row.name)).to.deep.equal(['Key ring'])
    expect(codeOf(await signInWith(browserOf(), other))).to.equal('wrong_passkey.unknown')
  })

  it('keep the data of a passkey encrypted in the log, also its name', async () => {
    const { id, browser, passkey } = await withPasskey()
    await browser.ask('PUT', '/api/passkey/1/update', { name: 'A telling name' })
    const { state } = await app.app.ledger.handler.load(accounts, id)
    const rows = (await query(
      app.connection,
      `select type, data::text as data from log.events where stream = '${streamId('account', id)}' order by revision`,
    )) as { type: string; data: string }[]
    expect(rows.map(({ type }) => type)).to.include.members(['PasskeyAdded', 'PasskeyRenamed'])
    const all = rows.map((row) => row.data).join()
    for (const secret of [passkey.id, state.passkeys[0]!.publicKey!, 'A telling name'])
      expect(all).not.to.include(secret)
  })

  it('need the password itself for another one, a code where there is a second factor, and a session', async () => {
    const { browser, id, key } = await withPasskey()
    const begin = async (body: object) => (await browser.ask('POST', '/api/passkey/begin', body)).json
    expect(await begin({})).to.include({ code: 'required', field: 'current_password' })
    expect(await begin({ current_password: 'wrong horse 1' })).to.include({ code: 'wrong_password' })
    expect((await app.post('/api/passkey/begin', { key, body: own })).json['code']).to.equal('not_dashboard')
    await addSecondFactor(id)
    expect(await begin(own)).to.include({ second_factor: true })
  })

  it('use a passkey in place of a code: to sign in, to confirm a session, and to widen rights', async () => {
    const { browser, email, id, passkey } = await withPasskey()
    await addSecondFactor(id)
    const other = browserOf()
    expect((await other.ask('POST', '/api/session', { email, password })).json['second_factor']).to.equal(true)
    const get = async (path: string, of: Browser) => passkey.get(await optionsOf(of, path))
    const entered = await other.ask('POST', '/api/session', {
      email,
      password,
      passkey: await get('/api/session/passkey/begin', other),
    })
    expect(entered.status, entered.text).to.equal(200)
    const step = '/api/session/confirm/passkey/begin'
    const confirmed = await browser.ask('POST', '/api/session/confirm', { password, passkey: await get(step, browser) })
    expect(confirmed.status, confirmed.text).to.equal(200)
    const begun = await browser.ask('POST', '/api/passkey/begin', { ...own, passkey: await get(step, browser) })
    expect(begun.status, begun.text).to.equal(200)
    // the wrong password is refused although the passkey is right
    const wrong = { email, password: 'wrong horse 1', passkey: await get('/api/session/passkey/begin', other) }
    expect(codeOf(await other.ask('POST', '/api/session', wrong))).to.equal('wrong_password.sign_in')
    const removed = await browser.ask('POST', '/api/account/totp/delete', { ...own, passkey: await get(step, browser) })
    expect(removed.status, removed.text).to.equal(200)
  })

  it('enter an account with a second factor without a code: a passkey has verified two factors already', async () => {
    const { id, passkey } = await withPasskey()
    await addSecondFactor(id)
    expect((await signInWith(browserOf(), passkey)).status).to.equal(200)
  })

  it('are asked, entered, confirmed and given passkeys each time, also with the same Idempotency-Key', async () => {
    // given an account, and two browsers that send the same key with every request
    const { passkey } = await withPasskey()
    const once = { 'Idempotency-Key': '"same"' }
    const browsers = [openBrowser(app.app.baseUrl, once), openBrowser(app.app.baseUrl, once)]
    // when both sign in, then both are signed in
    for (const browser of browsers) {
      const entered = await signInWith(browser, passkey)
      expect([entered.status, await isIn(browser)], entered.text).to.deep.equal([200, true])
    }
    // and when both confirm their sessions, and add a passkey, then both have done so
    await query(app.connection, `update state.sessions set confirmed_at = null`)
    for (const browser of browsers) {
      const options = await optionsOf(browser, '/api/session/confirm/passkey/begin')
      await browser.ask('POST', '/api/session/confirm/passkey', { passkey: passkey.get(options) })
      const added = await add(browser, authenticator())
      expect(added.status, added.text).to.equal(200)
    }
    expect(await sharesOf(browsers[0]!)).to.have.length(3)
  })

  it('confirm a session by a passkey of the same account only, without its password', async () => {
    const { browser, passkey } = await withPasskey()
    const stranger = await withPasskey()
    const session = browserOf()
    await signInWith(session, passkey)
    await query(app.connection, `update state.sessions set confirmed_at = null`)
    expect(codeOf(await session.ask('GET', '/api/account/export'))).to.equal('confirmation_needed.passkey')
    const confirm = async (of: Passkey, on: Browser) => {
      const options = await optionsOf(on, '/api/session/confirm/passkey/begin')
      return on.ask('POST', '/api/session/confirm/passkey', { passkey: of.get(options, { userHandle: null }) })
    }
    expect(codeOf(await confirm(stranger.passkey, session))).to.equal('wrong_passkey.other')
    expect((await confirm(passkey, session)).status).to.equal(200)
    // such a session changes the password, and adds another passkey, by that alone
    const begun = await session.ask('POST', '/api/passkey/begin', {})
    expect(begun.status, begun.text).to.equal(200)
    expect((await confirm(passkey, browser)).status).to.equal(200)
  })

  it('refuse a wrong password that is sent, also where a session needs none', async () => {
    // given a session that a passkey has just opened
    const { passkey } = await withPasskey()
    const session = browserOf()
    await signInWith(session, passkey)
    const change = async (body: object) =>
      (await session.ask('PUT', '/api/account/update', { password: 'another horse 2', ...body })).status
    // when it changes the password with a wrong one, then it is refused
    expect(await change({ current_password: 'wrong horse 1' })).to.equal(400)
    expect([await change(own), await change({})]).to.deep.equal([200, 200])
  })

  it('are left with the passkey: its sessions end, and it enters no more', async () => {
    const { browser, passkey, number } = await withPasskey()
    const session = browserOf()
    await signInWith(session, passkey)
    expect(await isIn(session)).to.equal(true)
    const removed = await browser.ask('DELETE', `/api/passkey/${number}/delete`)
    expect(removed.status, removed.text).to.equal(200)
    expect([await isIn(session), await isIn(browser)]).to.deep.equal([false, true])
    expect(codeOf(await signInWith(session, passkey))).to.equal('wrong_passkey.unknown')
  })

  it('ask a session that has entered its password long ago to confirm it before a passkey is removed', async () => {
    const { browser, number } = await withPasskey()
    await query(app.connection, `update state.sessions set confirmed_at = null`)
    expect(codeOf(await browser.ask('DELETE', `/api/passkey/${number}/delete`))).to.equal('confirmation_needed')
  })

  it('have one account each: a passkey that another one has is refused', async () => {
    const { passkey } = await withPasskey()
    const other = await register()
    expect(codeOf(await add(other.browser, passkey))).to.equal('taken.passkey')
  })

  it('are not entered with an answer of another site, of a frame, without a finger or a PIN, or with a wrong signature', async () => {
    const { passkey, id } = await withPasskey()
    const stranger = await withPasskey()
    const handle = async (browser: Browser) =>
      ((await optionsOf(browser, '/api/passkey/begin', own)) as { user: { id: string } }).user.id
    for (const wrong of [
      { origin: 'https://evil.example' },
      { origin: originOf().replace('http:', 'https:') },
      { rpId: 'evil.example' },
      { crossOrigin: true },
      { verified: false },
      { forged: true },
      { type: 'webauthn.create' },
      { challenge: Buffer.alloc(32).toString('base64url') },
      { userHandle: await handle(stranger.browser) },
      { userHandle: null },
    ]) {
      const browser = browserOf()
      expect(codeOf(await signInWith(browser, passkey, wrong)), JSON.stringify(wrong)).to.equal(codeFor(wrong))
      expect(await isIn(browser)).to.equal(false)
    }
    expect(id).not.to.equal(stranger.id)
  })

  it('get no passkey by such an answer either', async () => {
    const { browser } = await register()
    for (const wrong of [
      { origin: 'https://evil.example' },
      { rpId: 'evil.example' },
      { crossOrigin: true },
      { verified: false },
      { type: 'webauthn.get' },
      { challenge: Buffer.alloc(32).toString('base64url') },
    ]) {
      const options = await optionsOf(browser, '/api/passkey/begin', own)
      const answer = await browser.ask('POST', '/api/passkey/add', { passkey: authenticator().create(options, wrong) })
      expect(codeOf(answer), JSON.stringify(wrong)).to.equal(codeFor(wrong))
    }
    for (const attestationObject of ['', 'oA', Buffer.alloc(9000, 0x81).toString('base64url')]) {
      const options = await optionsOf(browser, '/api/passkey/begin', own)
      const made = authenticator().create(options)
      const passkey = { ...made, response: { ...made.response, attestationObject } }
      expect(codeOf(await browser.ask('POST', '/api/passkey/add', { passkey }))).to.equal('wrong_passkey')
    }
    expect(await sharesOf(browser)).to.deep.equal([])
  })

  it('ignore the attestation of an authenticator', async () => {
    const { browser } = await register()
    for (const fmt of ['packed', 'tpm', 'fido-u2f', 'android-safetynet', 'made-up']) {
      const options = await optionsOf(browser, '/api/passkey/begin', own)
      const attStmt = new Map([['x5c', [Buffer.from('an invalid certificate')]]])
      const passkey = authenticator().create(options, { attestation: { fmt, attStmt } })
      const { status, text } = await browser.ask('POST', '/api/passkey/add', { passkey })
      expect(status, `${fmt} ${text}`).to.equal(200)
    }
  })

  it('take a challenge once, also of two answers at once, and only in the browser and session that has asked', async () => {
    const { browser, passkey } = await withPasskey()
    const one = browserOf()
    const options = await optionsOf(one, '/api/session/passkey/begin')
    const cookie = one.cookie(cookieOf(options))!
    // another browser has an answer to this challenge, but not the cookie
    const body = () => ({ passkey: passkey.get(options) })
    expect(codeOf(await browserOf().ask('POST', '/api/session/passkey', body()))).to.equal('wrong_passkey.challenge')
    const copies = Array.from({ length: 6 }, () => {
      const copy = browserOf()
      copy.keep(cookieOf(options), cookie)
      return copy
    })
    const answers = await Promise.all(copies.map((copy) => copy.ask('POST', '/api/session/passkey', body())))
    expect(answers.filter(({ status }) => status === 200)).to.have.length(1)
    for (const answer of answers.filter(({ status }) => status !== 200))
      expect(codeOf(answer)).to.equal('wrong_passkey.challenge')
    // one that was begun without a session is no answer in one, and one to add is none to sign in
    const begun = await optionsOf(browser, '/api/session/passkey/begin')
    const confirming = await browser.ask('POST', '/api/session/confirm/passkey', { passkey: passkey.get(begun) })
    expect(codeOf(confirming)).to.equal('wrong_passkey.challenge')
    const adding = (await optionsOf(browser, '/api/passkey/begin', own)) as { challenge: string }
    const options2 = { challenge: adding.challenge, rpId: new URL(app.app.baseUrl).hostname }
    const used = await browser.ask('POST', '/api/session/passkey', { passkey: passkey.get(options2) })
    expect(codeOf(used)).to.equal('wrong_passkey.challenge')
  })

  it('keep the challenge of each page of a browser, and a few of them only', async () => {
    // given a browser in which several pages have begun to sign in
    const { passkey } = await withPasskey()
    const browser = browserOf()
    const begin = () => optionsOf(browser, '/api/session/passkey/begin')
    const pages: { readonly challenge: string; readonly rpId: string }[] = []
    for (let page = 0; page < 9; page++) pages.push(await begin())
    const send = (options: (typeof pages)[number], wrong = {}) =>
      browser.ask('POST', '/api/session/passkey', { passkey: passkey.get(options, wrong) })
    // when all but the oldest answer, in order, then each is right, independent of the others
    const similar = { challenge: `${pages[8]!.challenge.slice(0, 8)}${'A'.repeat(35)}` }
    expect(codeOf(await send(pages[0]!))).to.equal('wrong_passkey.challenge')
    for (const page of [1, 3, 2, 7]) expect((await send(pages[page]!)).status, String(page)).to.equal(200)
    // and a challenge that only begins as one of them is none
    expect(codeOf(await send(pages[8]!, similar))).to.equal('wrong_passkey')
    expect(browser.cookie(cookieOf(pages[8]!))).to.equal(undefined)
  })

  it('refuse a signature counter that goes back, and say so in the log', async () => {
    const { passkey, id, number } = await withPasskey()
    passkey.count(40)
    expect((await signInWith(browserOf(), passkey)).status).to.equal(200)
    for (const counter of [40, 41, 0]) {
      const browser = browserOf()
      expect(codeOf(await signInWith(browser, passkey, { counter }))).to.equal('wrong_passkey.counter')
      expect(await isIn(browser)).to.equal(false)
    }
    const told = lines.filter(({ why }) => why === 'counter')
    expect(told.map(({ problem }) => problem)).to.deep.equal(
      [40, 41, 0].map((counter) => `passkey ${number} of account ${id} has counted to ${counter} only`),
    )
  })

  it('do not sign in when they are disabled, and lose their passkeys when they are erased', async () => {
    const { id, passkey } = await withPasskey()
    const { handler } = app.app.ledger
    await handler.handle(accounts, { type: 'DisableAccount', id }, systemMetadata(id))
    expect(codeOf(await signInWith(browserOf(), passkey))).to.equal('account_disabled')
    await handler.handle(accounts, { type: 'EnableAccount', id }, systemMetadata(id))
    await handler.handle(accounts, { type: 'EraseAccount', id }, systemMetadata(id))
    expect(codeOf(await signInWith(browserOf(), passkey))).to.equal('wrong_passkey.unknown')
    await until(
      () => query(app.connection, `select number from state.passkeys where account = ${id}`),
      (rows) => (rows as unknown[]).length === 0,
    )
  })

  it('are asked only from pages of the service', async () => {
    const { passkey } = await withPasskey()
    const browser = browserOf()
    const options = await optionsOf(browser, '/api/session/passkey/begin')
    const elsewhere = { 'Sec-Fetch-Site': 'cross-site', Origin: 'https://evil.example' }
    for (const path of ['/api/session/passkey', '/api/session/passkey/begin']) {
      const { status, json } = await app.post(path, { body: { passkey: passkey.get(options) }, headers: elsewhere })
      expect([status, json['code']]).to.deep.equal([403, 'not_dashboard'])
    }
  })
})

describe('accounts without a password that passkeys sign in to', () => {
  let app: TestApp
  let [stub, smtp]: [StubIssuer, Smtp] = [] as never
  before(async () => {
    ;[stub, smtp] = await Promise.all([startStubIssuer(), startSmtp()])
    const port = String(await ownPort())
    app = await startTestApp({
      PORT: port,
      BASE_URL: `http://localhost:${port}`,
      OIDC_ISSUER: stub.address,
      OIDC_CLIENT_ID: 'linkledger',
      OIDC_CLIENT_SECRET: 'a secret',
      PASSWORD_SIGN_IN: 'off',
      SMTP_URL: smtp.url,
      SMTP_FROM: 'Short links <links@short.example>',
    })
  })
  after(async () => {
    await app.close()
    await Promise.all([stub.close(), smtp.close()])
  })
  const email = 'ann@example.com'
  const mailed = (subject: string) =>
    until(
      async () => smtp.mails.find(({ to, headers }) => to === email && headers['subject']?.startsWith(subject)),
      Boolean,
    )
  const passkeys = [0, 1].map(() => newAuthenticator('http://unknown.example'))
  const enter = async () => {
    stub.knows({ sub: 'ann', email, email_verified: true, name: 'Ann' })
    const browser = openBrowser(app.app.baseUrl)
    const begun = await browser.open('/oidc/sign-in?to=/dashboard')
    await browser.open(stub.answerTo(begun.headers.get('Location')))
    return browser
  }

  it('notify the owner by mail when one is added or removed', async () => {
    const { origin } = new URL(app.app.baseUrl)
    const browser = await enter()
    expect(codeOf(await browser.ask('POST', '/api/passkey/begin', {}))).to.equal('confirmation_needed.identity')
    await query(app.connection, `update state.sessions set confirmed_at = now()`)
    for (const passkey of passkeys) {
      const options = await optionsOf(browser, '/api/passkey/begin', {})
      const added = await browser.ask('POST', '/api/passkey/add', { passkey: passkey.create(options, { origin }) })
      expect(added.status, added.text).to.equal(200)
    }
    expect((await mailed('A new passkey'))?.text).to.include('anyone who has it can sign in')
    expect((await browser.ask('DELETE', '/api/passkey/2/delete')).status).to.equal(200)
    expect((await mailed('A passkey was removed'))?.text).to.include('does not sign in any more')
  })

  it('confirm another address in a browser that is signed in to them, and in no other', async () => {
    // given an account without a password, which has asked for another address
    const browser = await enter()
    await query(app.connection, `update state.sessions set confirmed_at = now()`)
    const other = 'ann@example.org'
    expect((await browser.ask('PUT', '/api/account/update', { email: other })).status).to.equal(200)
    const mail = await until(async () => smtp.mails.find(({ to }) => to === other), Boolean)
    const { path, token } = oneTimeLink(/http:\S+/.exec(mail?.text ?? '')?.[0] ?? '')
    const addressOf = async () => (await browser.ask('GET', '/api/account')).json['data'].email
    const send = async (session?: string) => {
      const headers = { 'Sec-Fetch-Site': 'same-origin', ...(session && { Cookie: `linkledger_session=${session}` }) }
      return (await postForm(app.app.baseUrl + path, { t: token }, headers)).status
    }
    expect(await (await browser.open(`${path}?t=${token}`)).text()).to.not.include('name="password"')
    // when the link is sent by a browser without a session, or with one of another person, then nothing changes
    stub.knows({ sub: 'bob', email: 'bob@example.com', email_verified: true, name: 'Bob' })
    const bob = openBrowser(app.app.baseUrl)
    const begun = await bob.open('/oidc/sign-in')
    await bob.open(stub.answerTo(begun.headers.get('Location')))
    expect((await bob.ask('GET', '/api/account')).json['data'].email).to.equal('bob@example.com')
    expect([await send(), await send(bob.cookie('linkledger_session')), await addressOf()]).to.deep.equal([
      400,
      400,
      email,
    ])
    // and when by one with a session of the account, then that has the address
    expect([await send(browser.cookie('linkledger_session')), await addressOf()]).to.deep.equal([200, other])
  })

  it('are entered while passwords are off, and keep their last passkey', async () => {
    const { origin } = new URL(app.app.baseUrl)
    const browser = openBrowser(app.app.baseUrl)
    expect(codeOf(await browser.ask('POST', '/api/session', { email, password }))).to.equal('passwords_off')
    const options = await optionsOf(browser, '/api/session/passkey/begin')
    const entered = await browser.ask('POST', '/api/session/passkey', {
      passkey: passkeys[0]!.get(options, { origin }),
    })
    expect(entered.status, entered.text).to.equal(200)
    expect((await browser.ask('DELETE', '/api/identity/1/delete')).status).to.equal(200)
    expect(codeOf(await browser.ask('DELETE', '/api/passkey/1/delete'))).to.equal('last_identity.passkey')
    expect((await browser.ask('GET', '/api/account')).status).to.equal(200)
  })
})
