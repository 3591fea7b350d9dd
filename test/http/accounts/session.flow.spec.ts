import { expect } from 'chai'
import { TOTP } from 'otpauth'
import { account as accounts } from '../../../src/commands/accounts/account.ts'
import { systemMetadata } from '../../../src/events/event.ts'
import { routes } from '../../../src/http/routes.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { type Answer, until } from '../../support/client.ts'
import { atOneMoment } from '../../support/clock.ts'
import { query } from '../../support/faults.ts'
import { cookieIn, samePage, signIn } from '../../support/session.ts'

const password = 'correct horse 1'

describe('sessions of the dashboard', () => {
  let app: TestApp
  before(async () => {
    app = await startTestApp({ TRUST_PROXY: '1', DOMAIN_CHECK: 'off' })
  })
  after(() => app.close())

  const tryToSignIn = (body: object, headers: Readonly<Record<string, string>> = {}) =>
    app.post('/api/session', { body, headers: { ...samePage(app.address), ...headers } })
  /** The mark of a browser that has signed in, as it sends it back. */
  const marksIn = ({ headers }: Answer) =>
    headers
      .getSetCookie()
      .find((one) => one.startsWith('linkledger_browser_'))
      ?.split(';')[0] ?? ''
  const statusOf = async (answer: Promise<Answer>) => (await answer).status
  const reads = (cookie: string, headers: Readonly<Record<string, string>>) =>
    statusOf(app.get('/api/account', { headers: { Cookie: cookie, ...headers } }))

  it('open with e-mail and password, are listed, and end when they are signed out', async () => {
    const { email, id, username, key } = await app.register()
    const answer = await tryToSignIn({ email: email.toUpperCase(), password })
    expect(answer.json).to.include({ error: 0, id, username })
    expect(answer.headers.getSetCookie()[0]).to.match(
      /^linkledger_session=[\w-]{43}; Path=\/; Max-Age=2592000; HttpOnly; SameSite=Lax$/,
    )
    const [one, two] = [await signIn(app, email), await signIn(app, email)]
    expect((await one.ask('GET', '/api/account')).json['data']).to.include({ id, email })
    const listed = (await one.ask('GET', '/api/sessions')).json['data'].sessions as { id: number; current: boolean }[]
    expect(listed.map((row) => [row.id, row.current])).to.deep.equal([
      [two.id, false],
      [one.id, true],
      [answer.json['session'], false],
    ])
    // of another account, and of none
    const stranger = await signIn(app, (await app.register()).email)
    const foreign = await stranger.ask('DELETE', `/api/session/${two.id}`)
    const unknown = await stranger.ask('DELETE', '/api/session/999999')
    expect([foreign.status, foreign.text]).to.deep.equal([404, unknown.text])
    expect((await one.ask('DELETE', `/api/session/${two.id}`)).status).to.equal(200)
    expect((await two.ask('GET', '/api/account')).status).to.equal(401)
    const gone = await one.ask('DELETE', '/api/session')
    expect(gone.headers.get('Set-Cookie')).to.include('Max-Age=0')
    expect((await one.ask('GET', '/api/account')).status).to.equal(401)
    expect((await app.del('/api/sessions', { key })).status).to.equal(200)
    expect((await app.get('/api/sessions', { key })).json['data'].sessions).to.deep.equal([])
  })

  it('write as the owner, and history says so', async () => {
    const { email, id } = await app.register()
    const session = await signIn(app, email)
    const { json } = await session.ask('POST', '/api/url/add', { url: 'https://example.com/a' })
    expect(json['error']).to.equal(0)
    const [event] = await query<{ metadata: { actor: object; account: number } }>(
      app.connection,
      `select metadata from log.events where stream = 'link-${String(json['id'])}'`,
    )
    expect([event?.metadata.actor, event?.metadata.account]).to.deep.equal([{ kind: 'session' }, id])
    // with all rights: no key has to be there
    const added = await session.ask('POST', '/api/key/add', { name: 'x', scopes: ['read', 'account'] })
    expect(added.status, added.text).to.equal(200)
  })

  describe('of a visitor of another site', () => {
    let session: Awaited<ReturnType<typeof signIn>>
    before(async () => {
      session = await signIn(app, (await app.register()).email)
    })
    const from = { 'Sec-Fetch-Site': 'cross-site', Origin: 'https://evil.example' }

    it('are not used for requests that this site sends, whether they change or read something', async () => {
      const { cookie } = session
      const refused: readonly Readonly<Record<string, string>>[] = [
        from,
        { 'Sec-Fetch-Site': 'cross-site' },
        { 'Sec-Fetch-Site': 'same-site' },
        { 'Sec-Fetch-Site': 'none' },
        { Origin: 'https://evil.example' },
        { Origin: 'null' },
        { Origin: `${app.address}.evil.example` },
        { 'Sec-Fetch-Site': 'same-origin', Origin: 'https://evil.example' },
        // a window, which shows an answer
        { 'Sec-Fetch-Site': 'same-origin', 'Sec-Fetch-Mode': 'navigate', 'Sec-Fetch-Dest': 'document' },
      ]
      for (const headers of refused) {
        expect(await reads(cookie, headers), JSON.stringify(headers)).to.equal(401)
        const body = { url: 'https://example.com/' }
        const write = app.post('/api/url/add', { body, headers: { Cookie: cookie, ...headers } })
        expect(await statusOf(write), JSON.stringify(headers)).to.equal(401)
      }
      expect(await statusOf(app.post('/api/url/add', { body: {}, headers: { Cookie: cookie } }))).to.equal(401)
      expect((await session.ask('GET', '/api/urls')).json['data'].result).to.equal(0)
    })

    it('are used for pages of this service, also where browsers send no Sec-Fetch-Site', async () => {
      const { cookie } = session
      expect(await reads(cookie, { 'Sec-Fetch-Site': 'same-origin' })).to.equal(200)
      expect(await reads(cookie, {})).to.equal(200)
      const headers = { Cookie: cookie, Origin: app.address }
      expect(await statusOf(app.post('/api/url/add', { body: { url: 'https://example.com/' }, headers }))).to.equal(200)
    })

    it('cannot be opened by this site, so that no user works in another account by mistake', async () => {
      const { email } = await app.register()
      const answer = await tryToSignIn({ email, password }, from)
      expect([answer.status, cookieIn(answer)]).to.deep.equal([403, undefined])
    })
  })

  it('are never those that a browser had before it signed in', async () => {
    const { email } = await app.register()
    const planted = await signIn(app, email)
    const made = 'linkledger_session=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'
    for (const cookie of [made, planted.cookie]) {
      const answer = await tryToSignIn({ email, password }, { Cookie: cookie })
      expect(cookieIn(answer)).to.match(/^linkledger_session=[\w-]{43}$/)
      expect(cookieIn(answer)).not.to.equal(cookie)
      expect(await reads(cookie, {})).to.equal(401)
      // two cookies of one name: another one was put in front of ours
      expect(await reads(`${made}; ${cookieIn(answer)}`, {})).to.equal(401)
    }
  })

  it('are stored as hashes, and name no address', async () => {
    const email = 'once@example.com'
    const headers = { 'Idempotency-Key': '"once"' }
    expect((await app.post('/register', { body: { email, password }, headers })).status).to.equal(200)
    const { cookie } = await signIn(app, email)
    const token = cookie.split('=')[1] ?? ''
    const rows = JSON.stringify([
      await query(app.connection, `select s.*, encode(hash, 'escape') from state.sessions s`),
      await query(app.connection, 'select key from state.rate_limits'),
      await query(app.connection, 'select scope from state.idempotency'),
    ])
    expect(rows, 'the registration').to.match(/"scope":"other [\w-]{43}"/)
    expect(rows).not.to.include(token)
    expect(rows).not.to.include(email)
    expect(rows, 'the network that has signed in').not.to.include('127.0.0.1')
  })

  it('end with another password, which needs the old one, except the one that has set it', async () => {
    const { email, key } = await app.register()
    const [one, two] = [await signIn(app, email), await signIn(app, email)]
    const change = (body: object) => one.ask('PUT', '/api/account/update', body)
    const forgotten = await change({ password: 'another horse 2' })
    expect([forgotten.status, forgotten.json['message']]).to.deep.equal([400, '`current_password` is required.'])
    expect((await change({ email: 'x@example.org' })).status).to.equal(400)
    expect((await change({ password: 'another horse 2', current_password: 'wrong' })).status).to.equal(400)
    expect((await change({ password: 'another horse 2', current_password: password })).status).to.equal(200)
    expect([await reads(one.cookie, {}), await reads(two.cookie, {})]).to.deep.equal([200, 401])
    // for every way to set it, also where the table of sessions does not have it yet
    const before = (await app.app.ledger.handler.load(accounts, (await one.ask('GET', '/api/account')).json['data'].id))
      .state.password
    const id = Number((await app.get('/api/account', { key })).json['data'].id)
    const command = { type: 'UpdateAccount', id, password: `${before}x` } as const
    await app.app.ledger.handler.handle(accounts, command, systemMetadata(id))
    expect(await reads(one.cookie, {})).to.equal(401)
  })

  it('need their password again, after ten minutes, for steps to other rights, and for an export', async () => {
    const { email, key } = await app.register()
    const session = await signIn(app, email)
    const add = (body: object) =>
      session.ask('POST', '/api/webhook/add', { url: 'https://hooks.example.com/', ...body })
    const made = await session.ask('POST', '/api/key/add', { name: 'x', scopes: ['account'], expires: '2040-01-31' })
    const hook = await add({ events: ['ApiKeyAdded'] })
    const plain = await add({})
    const age = (confirmed: string) =>
      query(app.connection, `update state.sessions set confirmed_at = ${confirmed} where id = ${session.id}`)
    const [ofKey, ofHook] = [`/api/key/${made.json['id']}`, `/api/webhook/${hook.json['id']}`]
    const requests: readonly (readonly [string, string, object?])[] = [
      ['POST', '/api/key/add', { name: 'x', scopes: ['account'] }],
      ['POST', '/api/key/add', { name: 'x', scopes: ['read', 'webhooks'] }],
      ['PUT', `${ofKey}/update`, { expires: null }],
      ['POST', `${ofKey}/rotate`, {}],
      ['POST', '/api/key/1/rotate', {}],
      ['POST', '/api/webhook/add', { url: 'https://hooks.example.com/', events: ['ApiKeyAdded'] }],
      ['PUT', `/api/webhook/${plain.json['id']}/update`, { events: ['ApiKeyAdded'] }],
      ['PUT', `${ofHook}/update`, { url: 'https://other.example.com/' }],
      ['POST', `${ofHook}/rotate`, {}],
      ['GET', '/api/account/export'],
    ]
    // of a release before, the table does not say when the password was entered
    for (const confirmed of [`now() - interval '11 minutes'`, 'null']) {
      await age(confirmed)
      for (const [method, path, body] of requests) {
        const { status, json } = await session.ask(method, path, body)
        expect([status, json['code']], `${method} ${path}`).to.deep.equal([403, 'confirmation_needed'])
      }
    }
    // what it may do itself, it may give; and it may always limit
    for (const [method, path, body] of [
      ['POST', '/api/key/add', { name: 'x', scopes: ['read', 'write'] }],
      ['PUT', `${ofKey}/update`, { name: 'y', addresses: ['192.0.2.0/24'] }],
      ['PUT', `${ofHook}/update`, { events: ['LinkCreated'] }],
      ['POST', '/api/webhook/add', { url: 'https://hooks.example.com/' }],
    ] as const)
      expect((await session.ask(method, path, body)).status, path).to.equal(200)
    const back = [
      ['POST', `${ofKey}/restore`, { revision: 2 }],
      ['POST', `${ofHook}/restore`, { revision: 0 }],
    ] as const
    for (const [method, path, body] of back) {
      expect((await session.ask(method, path, body)).status, path).to.equal(403)
      expect((await session.ask(method, path, { ...body, dryRun: true })).status, path).to.equal(200)
    }

    const confirm = (body: object) => session.ask('POST', '/api/session/confirm', body)
    const wrong = await confirm({ password: 'wrong horse 1' })
    expect([wrong.status, wrong.json['field']]).to.deep.equal([400, 'password'])
    expect((await app.post('/api/session/confirm', { key, body: { password } })).status).to.equal(400)
    expect((await session.ask('GET', '/api/account/export')).status).to.equal(403)
    expect((await confirm({ password })).status).to.equal(200)
    for (const [method, path, body] of [...back, ...requests])
      expect((await session.ask(method, path, body)).status, path).to.equal(200)
  })

  it('do not work while the account is disabled, nor after it is erased', async () => {
    const { email, id } = await app.register()
    const session = await signIn(app, email)
    const handle = (type: 'DisableAccount' | 'EnableAccount' | 'EraseAccount') =>
      app.app.ledger.handler.handle(accounts, { type, id }, systemMetadata(id))
    await handle('DisableAccount')
    expect(await reads(session.cookie, {})).to.equal(403)
    expect((await tryToSignIn({ email, password })).status).to.equal(403)
    await handle('EnableAccount')
    expect(await reads(session.cookie, {})).to.equal(200)
    await handle('EraseAccount')
    expect(await reads(session.cookie, {})).to.equal(401)
  })

  it('are not opened, and do not work, on a branded domain', async () => {
    const { email, key } = await app.register()
    const { cookie } = await signIn(app, email)
    await app.post('/api/domain/add', { key, body: { domain: 'https://brand.example.org' } })
    const headers = { Host: 'brand.example.org', Origin: 'https://brand.example.org' }
    expect(await reads(cookie, { ...headers, 'Sec-Fetch-Site': 'same-origin' })).to.equal(401)
    expect((await tryToSignIn({ email, password }, headers)).status).to.equal(403)
  })

  it('cannot be told from those of unknown accounts by guessing, which ends after ten wrong passwords', async () => {
    const { email } = await app.register()
    const headers = { 'X-Forwarded-For': '198.51.100.77' }
    const wrong = { password: 'wrong horse 1' }
    for (const [n, address] of ['198.51.100.77', '198.51.100.78'].entries()) {
      const guess = (guessed: string) => tryToSignIn({ email: guessed, ...wrong }, { 'X-Forwarded-For': address })
      const answers = []
      for (let tries = 0; tries < 11; tries++) answers.push(await guess(n === 0 ? email : 'nobody@example.com'))
      expect(answers.map((one) => one.status)).to.deep.equal([...Array<number>(10).fill(400), 429])
      expect(answers[0]?.json['message']).to.equal('The e-mail address or the password is wrong.')
      expect(Number(answers[10]?.headers.get('Retry-After'))).to.be.within(1, 600)
    }
    // also the right one, from there; elsewhere the owner still signs in
    expect((await tryToSignIn({ email, password }, headers)).status).to.equal(429)
    expect((await tryToSignIn({ email, password }, { 'X-Forwarded-For': '198.51.100.79' })).status).to.equal(200)
  })

  it('are opened by a browser that had one before, despite guesses of others, also from many networks of IPv6', async () => {
    const { email } = await app.register()
    const first = await tryToSignIn({ email, password })
    const mark = marksIn(first)
    expect(mark).to.match(/^linkledger_browser_\d+=[\w-]{22}\.[\w-]{43}$/)
    const guess = (address: string, given = 'wrong horse 1') =>
      statusOf(tryToSignIn({ email, password: given }, { 'X-Forwarded-For': address }))
    // one site of IPv6 has 65,536 networks, and gets 20 guesses
    const ofSite = []
    for (let n = 0; n < 25; n++) ofSite.push(await guess(`2001:db8:1:${n.toString(16)}::1`))
    expect(ofSite.filter((status) => status === 400)).to.have.length(20)
    for (let n = 2; n < 102; n++) await guess(`2001:db8:${n.toString(16)}::1`)
    expect(await guess('198.51.100.99', password)).to.equal(429)
    const owner = { 'X-Forwarded-For': '198.51.100.99', Cookie: mark }
    const again = await tryToSignIn({ email, password }, owner)
    expect([again.status, marksIn(again)]).to.deep.equal([200, mark])
    // it is of this account and this browser only, and has ten guesses as well
    const { email: other } = await app.register()
    expect(
      (
        await tryToSignIn(
          { email, password },
          { ...owner, Cookie: mark.replace(/=./, (one) => (one === '=A' ? '=B' : '=A')) },
        )
      ).status,
    ).to.equal(429)
    const stranger = marksIn(await tryToSignIn({ email: other, password }))
    const forged = `${mark.split('=')[0]}=${stranger.split('=')[1]}`
    expect((await tryToSignIn({ email, password }, { ...owner, Cookie: forged })).status).to.equal(429)
    const own = []
    for (let n = 0; n < 11; n++) own.push(await statusOf(tryToSignIn({ email, password: 'wrong horse 1' }, owner)))
    expect(own).to.deep.equal([...Array<number>(10).fill(400), 429])
  })

  it('need a code where the account has a second factor, and no code works twice', () =>
    atOneMoment(async () => {
      const { email } = await app.register()
      const [owner, other] = [await signIn(app, email), await signIn(app, email)]
      const { secret } = (await owner.ask('POST', '/api/account/totp/secret', {})).json as { secret: string }
      const codeAt = (steps: number) => new TOTP({ secret }).generate({ timestamp: Date.now() + steps * 30_000 })
      const enable = (body: object) => owner.ask('POST', '/api/account/totp', { secret, ...body })
      expect((await enable({ code: codeAt(0) })).status).to.equal(400)
      expect((await enable({ code: '000000x', current_password: password })).json['message']).to.match(
        /^`code` is wrong/,
      )
      const enabled = await enable({ code: codeAt(-1), current_password: password })
      const [first = '', second = '', third = ''] = enabled.json['recovery_codes'] as string[]
      expect(enabled.json['recovery_codes']).to.have.length(10)
      // a session from before it does not outlive it
      expect([await reads(owner.cookie, {}), await reads(other.cookie, {})]).to.deep.equal([200, 401])
      const totp = async () => (await owner.ask('GET', '/api/account/totp')).json['data'] as object
      expect(await totp()).to.deep.equal({ enabled: true, recovery_codes: 10 })

      const enter = (code?: string, given = password) => tryToSignIn({ email, password: given, ...(code && { code }) })
      const without = await enter()
      expect([without.status, without.json['second_factor'], cookieIn(without)]).to.deep.equal([400, true, undefined])
      // who does not know the password does not learn that there is one
      expect((await enter(undefined, 'wrong horse 1')).json).not.to.have.property('second_factor')
      const code = codeAt(0)
      expect((await enter(code)).status).to.equal(200)
      const again = await enter(code)
      expect([again.status, again.json['message']]).to.deep.equal([
        400,
        '`code` was used already. Wait for the next one.',
      ])
      expect((await enter(codeAt(-1))).status).to.equal(400)

      const both = await Promise.all([enter(first.toUpperCase()), enter(first)])
      expect(both.map((one) => one.status)).to.have.members([200, 400])
      expect((await enter(first)).status).to.equal(400)
      expect((await enter(second)).status).to.equal(200)
      expect(await totp()).to.deep.equal({ enabled: true, recovery_codes: 8 })
      const guesses = []
      for (let n = 0; n < 12; n++) guesses.push((await enter('zzzzz-zzzzz')).status)
      expect(guesses.at(-1)).to.equal(429)

      expect((await owner.ask('POST', '/api/account/totp/delete', { current_password: 'x' })).status).to.equal(400)
      // the password alone removes or replaces no second factor
      const given = { current_password: password }
      const remove = (body: object) => owner.ask('POST', '/api/account/totp/delete', { ...given, ...body })
      for (const attempt of [
        remove({}),
        owner.ask('POST', '/api/account/totp', { secret, code: codeAt(0), ...given }),
      ]) {
        const { status, json } = await attempt
        expect([status, json['second_factor'], json['code']]).to.deep.equal([400, true, 'required_here'])
      }
      expect((await remove({ code: first })).status).to.equal(400)
      expect(await totp()).to.deep.include({ enabled: true })
      expect((await remove({ code: third })).status).to.equal(200)
      expect((await enter()).status).to.equal(200)
    }))

  it('have wrong codes counted for the account, and for each browser that had a right one', () =>
    atOneMoment(async () => {
      const { email } = await app.register()
      const before = marksIn(await tryToSignIn({ email, password }))
      const owner = await signIn(app, email)
      const { secret } = (await owner.ask('POST', '/api/account/totp/secret', {})).json as { secret: string }
      const code = new TOTP({ secret }).generate({ timestamp: Date.now() })
      const enabled = await owner.ask('POST', '/api/account/totp', { secret, code, current_password: password })
      const [recovery, second] = enabled.json['recovery_codes'] as string[]
      const mark = marksIn(await tryToSignIn({ email, password, code: recovery }))
      const wrong = code === '000000' ? '000001' : '000000'
      const guess = async (times: number, Cookie = '') => {
        const answers = []
        for (let n = 0; n < times; n++) {
          const from = { 'X-Forwarded-For': `192.0.2.${n + 1}`, ...(Cookie && { Cookie }) }
          answers.push(await statusOf(tryToSignIn({ email, password, code: wrong }, from)))
        }
        return answers
      }
      // the mark of before the second factor is none
      const strangers = [...(await guess(12, before)), ...(await guess(12))]
      expect(strangers).to.deep.equal([...Array<number>(20).fill(400), ...Array<number>(4).fill(429)])
      expect(await guess(11, mark)).to.deep.equal([...Array<number>(10).fill(400), 429])
      // a session that is open has a budget of its own
      expect((await owner.ask('POST', '/api/session/confirm', { password, code: second })).status).to.equal(200)
    }))

  it('have a cookie for this host and https alone where the service is on https, and count for no page over http', async () => {
    const secure = await startTestApp({ BASE_URL: 'https://go.example.com' }, app.connection)
    try {
      const { email } = await app.register()
      const headers = { Host: 'go.example.com', Origin: 'https://go.example.com', 'Sec-Fetch-Site': 'same-origin' }
      const answer = await secure.post('/api/session', { body: { email, password }, headers })
      expect(answer.headers.getSetCookie()[0]).to.match(
        /^__Host-linkledger_session=[\w-]{43}; Path=\/; Max-Age=2592000; HttpOnly; SameSite=Lax; Secure$/,
      )
      const cookie = cookieIn(answer) ?? ''
      const reads = (origin: string) =>
        secure.get('/api/account', { headers: { Host: 'go.example.com', Cookie: cookie, Origin: origin } })
      expect((await reads('https://go.example.com')).status).to.equal(200)
      // an attacker on the network made this page
      expect((await reads('http://go.example.com')).status).to.equal(401)
    } finally {
      await secure.close()
    }
  })

  it('are opened and work on the host of the service alone, which the dashboard leads to', async () => {
    const settings = { BASE_URL: 'https://go.example.com', OWN_HOSTS: 'links.example.net' }
    const hosted = await startTestApp(settings, app.connection)
    try {
      const { email } = await app.register()
      const enter = (host: string) =>
        hosted.post('/api/session', {
          body: { email, password },
          headers: { Host: host, Origin: `https://${host}`, 'Sec-Fetch-Site': 'same-origin' },
        })
      for (const host of ['evil.example', '192.0.2.7', 'go.example.com.evil.example']) {
        const refused = await enter(host)
        expect([refused.status, cookieIn(refused)], host).to.deep.equal([403, undefined])
        const page = await hosted.get('/dashboard/links?q=a', { headers: { Host: host } })
        expect([page.status, page.headers.get('Location')], host).to.deep.equal([
          302,
          'https://go.example.com/dashboard/links?q=a',
        ])
      }
      for (const host of ['links.example.net', 'localhost', 'go.example.com']) {
        const opened = await enter(host)
        expect(opened.status, host).to.equal(200)
        const headers = { Cookie: cookieIn(opened) ?? '', 'Sec-Fetch-Site': 'same-origin' }
        const read = async (on: string) =>
          (await hosted.get('/api/account', { headers: { ...headers, Host: on } })).status
        expect([await read(host), await read('evil.example')], host).to.deep.equal([200, 401])
        expect((await hosted.get('/dashboard', { headers: { Host: host } })).status, host).not.to.equal(302)
      }
    } finally {
      await hosted.close()
    }
  })

  it('do nothing about a person for the page of another person without access to their account', async () => {
    // given a page of Ann, in a browser in which Bob has signed in meanwhile
    const [ann, bob] = [await app.register(), await app.register()]
    const { ask } = await signIn(app, bob.email)
    const ofAnn = { 'Linkledger-Account': String(ann.id) }
    // when it asks for all that is about who is signed in
    const personal = routes.filter(({ person }) => person === true)
    expect(personal.map(({ path }) => path)).to.include.members([
      '/api/account/update',
      '/api/session',
      '/api/sessions',
    ])
    for (const { method, path } of personal) {
      const { status, json } = await ask(method.toUpperCase(), path.replace(':id', '1'), undefined, ofAnn)
      // then each request is refused, so that the page reloads
      expect([status, json['code'], json['params']], path).to.deep.equal([404, 'not_found', { what: 'account' }])
    }
    // which finds out who that is, and for whom all goes on
    expect((await ask('GET', '/api/account', undefined, ofAnn)).json['data'].id).to.equal(bob.id)
    const ofBob = { 'Linkledger-Account': String(bob.id) }
    expect((await ask('PUT', '/api/account/update', { timezone: 'Europe/Paris' }, ofBob)).status).to.equal(200)
  })

  it('have a rate limit of their own', async () => {
    const { email, key } = await app.register()
    const session = await signIn(app, email)
    const limit = (answer: Answer) => answer.headers.get('X-RateLimit-Limit')
    expect(limit(await session.ask('GET', '/api/account'))).to.equal('600')
    expect(limit(await app.get('/api/account', { key }))).to.equal('1000000')
  })

  it('have their account read once at a time, for any number of waiting requests', async () => {
    const { email, id, key } = await app.register()
    const session = await signIn(app, email)
    const { handler } = app.app.ledger
    const { load } = handler
    const reads = { now: 0, most: 0 }
    let end = () => {}
    const held = new Promise<void>((resolve) => (end = resolve))
    const counted: typeof load = async (decider, of) => {
      if (decider.kind !== 'account' || of !== id) return load(decider, of)
      reads.most = Math.max(reads.most, ++reads.now)
      await held
      return load(decider, of).finally(() => reads.now--)
    }
    Object.assign(handler, { load: counted })
    try {
      const asked = Array.from({ length: 20 }, () => session.ask('GET', '/api/tags'))
      await until(
        async () => reads.now,
        (now) => now > 0,
      )
      asked.push(...Array.from({ length: 20 }, () => session.ask('GET', '/api/tags')))
      for (let n = 0; n < 5; n++) expect((await app.get('/api/tags', { key })).status).to.equal(200)
      end()
      for (const { status } of await Promise.all(asked)) expect(status).to.equal(200)
      expect(reads).to.deep.equal({ now: 0, most: 1 })
    } finally {
      Object.assign(handler, { load })
    }
  })
})
