import { expect } from 'chai'
import { openGroupRoles } from '../../../src/app/accounts/grouproles.ts'
import { account as accounts } from '../../../src/commands/accounts/account.ts'
import { systemMetadata } from '../../../src/events/event.ts'
import { NotSignedIn } from '../../../src/security/notsignedin.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { until } from '../../support/client.ts'
import { openBrowser } from '../../support/issuerbrowser.ts'
import { startStubIssuer, type StubIssuer } from '../../support/issuer.ts'

const password = 'correct horse 1'

describe('roles that groups of the issuer give', () => {
  let stub: StubIssuer
  let app: TestApp
  let acme: { readonly id: number; readonly key: string }
  const register = async (username: string) => {
    const body = { email: `${username}@example.com`, username, password }
    const { json } = await app.post('/register', { body })
    return { id: Number(json['id']), key: String(json['api_key']) }
  }
  before(async () => {
    stub = await startStubIssuer()
    app = await startTestApp({
      OIDC_ISSUER: stub.address,
      OIDC_CLIENT_ID: 'linkledger',
      OIDC_CLIENT_SECRET: 'a secret',
      OIDC_GROUPS_CLAIM: 'realm_access.roles',
      OIDC_ROLES: 'editors=@acme:editor, admins=@acme:admin,lookers = @acme:analyst,cn=all,ou=x=@other:auditor',
    })
    acme = await register('acme')
    await register('other')
  })
  beforeEach(() => stub.does({ refreshes: true }))
  after(async () => {
    await app.close()
    await stub.close()
  })

  let n = 0
  const newSub = () => `person-${++n}`
  const db = () => app.app.ledger.db
  /** Sets the claims that the issuer returns for a person from now on. */
  const knows = (sub: string, groups: unknown) =>
    stub.knows({ sub, name: sub, ...(groups !== undefined && { realm_access: { roles: groups } }) })
  const enter = async (sub: string, groups: unknown, browser = openBrowser(app.app.baseUrl)) => {
    knows(sub, groups)
    const begun = await browser.open('/oidc/sign-in')
    const answer = await browser.open(stub.answerTo(begun.headers.get('Location')))
    expect(answer.status, await answer.text()).to.equal(303)
    return browser
  }
  type Browser = ReturnType<typeof openBrowser>
  /** The roles of a session by the name of the account, besides its own. */
  const rolesOf = async (browser: Browser) => {
    const { json } = await browser.ask('GET', '/api/memberships')
    const all = json['data'].memberships as { name: string; role: string; own: boolean }[]
    return Object.fromEntries(all.filter(({ own }) => !own).map(({ name, role }) => [name, role]))
  }
  const idOf = async (browser: Browser) => Number((await browser.ask('GET', '/api/account')).json['data'].id)
  const listed = async ({ key }: { readonly key: string }) =>
    (await app.get('/api/members', { key })).json['data'].members as {
      id: number
      role: string
      managed: boolean
    }[]
  /** The member whom an account has got last. */
  const newest = async (of = acme) => (await listed(of)).reduce((one, two) => (one.id > two.id ? one : two))
  /** Invites the person of a browser, by hand. */
  const invite = async (browser: Browser, role: string) => {
    const { json } = await app.post('/api/member/invite', { key: acme.key, body: { role } })
    const token = new URL(String(json['link'])).searchParams.get('t')
    const accepted = await browser.ask('POST', '/api/invitation/accept', { token })
    expect(accepted.status, accepted.text).to.equal(200)
    return Number(json['id'])
  }
  const minutesLater = (minutes: number) =>
    db().raw(
      `with s as (update state.sessions set used_at = used_at - make_interval(mins => :minutes))
       update state.group_reads set tried_at = tried_at - make_interval(mins => :minutes),
         failed_at = failed_at - make_interval(mins => :minutes), read_at = read_at - make_interval(mins => :minutes)`,
      { minutes },
    )
  /** Does what a service does each hour, with this issuer, which is away, in its settings; undefined: with none. */
  const overdue = (issuer: string | undefined = stub.address) => {
    const { handler, keys, log, reader } = app.app.ledger
    const away = { refresh: () => Promise.reject(new NotSignedIn('away', 'it is away')) }
    const roles = openGroupRoles({
      ...{ db: db(), handler, log, reader, pepper: keys.service, roles: [], operators: [] },
      issuer: issuer === '' ? undefined : away,
      issuerAddress: issuer,
      progress: { wait: async () => true },
      sessions: { endOf: async () => {} },
      sessionDays: 30,
    })
    return roles.endOverdue()
  }

  it('are the highest of them in each account, follow at each sign-in, and end with the group', async () => {
    const sub = newSub()
    const browser = await enter(sub, ['lookers', 'editors', 'unknown', 'cn=all,ou=x', 7, { name: 'admins' }])
    expect(await rolesOf(browser)).to.deep.equal({ acme: 'editor', other: 'auditor' })
    expect(await newest()).to.include({ role: 'editor', managed: true })
    await enter(sub, 'admins', browser)
    expect(await rolesOf(browser)).to.deep.equal({ acme: 'admin' })
    await enter(sub, undefined, browser)
    expect(await rolesOf(browser)).to.deep.equal({})
    expect((await newest()).id).to.equal(1)
  })

  it('are changed by the issuer alone', async () => {
    const browser = await enter(newSub(), ['editors'])
    const { id } = await newest()
    const refusals = await Promise.all([
      app.put(`/api/member/${id}/update`, { key: acme.key, body: { role: 'analyst' } }),
      app.del(`/api/member/${id}/delete`, { key: acme.key }),
      browser.ask('DELETE', `/api/membership/${acme.id}/delete`),
    ])
    for (const { status, text } of refusals) {
      expect(status, text).to.equal(403)
      expect(text).to.include('The issuer manages this role')
    }
    expect(await rolesOf(browser)).to.deep.equal({ acme: 'editor' })
  })

  it('leave a role alone that was given by hand, and give it back', async () => {
    const sub = newSub()
    const browser = await enter(sub, [])
    const id = await invite(browser, 'editor')
    await enter(sub, ['lookers'], browser)
    expect(await newest()).to.deep.include({ id, role: 'editor', managed: false })
    await enter(sub, ['admins'], browser)
    expect(await newest()).to.deep.include({ id, role: 'admin', managed: true })
    await enter(sub, [], browser)
    expect(await newest()).to.deep.include({ id, role: 'editor', managed: false })
  })

  it('never change the sign-in of the account itself, which stays its owner', async () => {
    const browser = openBrowser(app.app.baseUrl)
    expect((await browser.ask('POST', '/api/session', { email: 'acme@example.com', password })).status).to.equal(200)
    const sub = newSub()
    knows(sub, [])
    const begun = await browser.ask('POST', '/api/identity/add', { current_password: password })
    await browser.open(stub.answerTo(begun.json['address']))
    for (const groups of [['lookers'], []]) {
      await enter(sub, groups, browser)
      expect(await idOf(browser)).to.equal(acme.id)
      expect((await listed(acme)).find(({ id }) => id === 1)).to.include({ role: 'owner', managed: false })
    }
  })

  it('are read again while a session is used, at most every 15 minutes', async () => {
    const browser = await enter(newSub(), ['editors'])
    knows(`person-${n}`, ['admins'])
    const reads = () => stub.used.filter((path) => path === '/token').length
    const before = reads()
    await minutesLater(14)
    expect(await rolesOf(browser)).to.deep.equal({ acme: 'editor' })
    await minutesLater(2)
    const seen = await until(
      () => rolesOf(browser),
      ({ acme: role }) => role === 'admin',
    )
    expect(seen).to.deep.equal({ acme: 'admin' })
    await minutesLater(2)
    await Promise.all([1, 2, 3].map(() => rolesOf(browser)))
    expect(reads()).to.equal(before + 1)
  })

  it('stay for a day while the issuer is away, and end then', async () => {
    const browser = await enter(newSub(), ['editors'])
    const id = await idOf(browser)
    stub.does({ refreshes: true, away: true })
    await minutesLater(16)
    await rolesOf(browser)
    const hasFailed = () =>
      db()('state.group_reads').where({ account: id }).whereNotNull('failed_at') as unknown as Promise<unknown[]>
    await until(hasFailed, (rows) => rows.length === 1)
    await minutesLater(23 * 60)
    await overdue()
    expect(await rolesOf(browser)).to.deep.equal({ acme: 'editor' })
    await minutesLater(61)
    await overdue()
    await until(
      () => rolesOf(browser),
      (roles) => roles['acme'] === undefined,
    )
    // the person is still signed in to their own account
    expect(await idOf(browser)).to.equal(id)
  })

  it('end with the time of a sign-in where nothing else reads them', async () => {
    stub.does({ refreshes: false })
    const browser = await enter(newSub(), ['editors'])
    const id = await idOf(browser)
    await minutesLater(29 * 24 * 60)
    await overdue()
    expect(await rolesOf(browser)).to.deep.equal({ acme: 'editor' })
    await minutesLater(2 * 24 * 60)
    await overdue()
    await until(
      () => rolesOf(browser),
      (roles) => roles['acme'] === undefined,
    )
    expect(await idOf(browser)).to.equal(id)
  })

  it('are read at the next sign-in when the issuer has ended the session there, which ends the one here', async () => {
    const sub = newSub()
    const browser = await enter(sub, ['editors'])
    stub.does({ refreshes: true, ended: true })
    await minutesLater(16)
    await until(
      () => browser.ask('GET', '/api/account'),
      ({ status }) => status === 401,
    )
    expect(await newest()).to.include({ role: 'editor', managed: true })
    await enter(sub, ['lookers'], browser)
    expect(await rolesOf(browser)).to.deep.equal({ acme: 'analyst' })
  })

  it('stay when the issuer leaves the groups out', async () => {
    const sub = newSub()
    const browser = await enter(sub, ['editors'])
    stub.does({ refreshes: true, claims: { realm_access: undefined, _claim_names: { groups: 'src1' } } })
    await enter(sub, undefined, browser)
    expect(await rolesOf(browser)).to.deep.equal({ acme: 'editor' })
  })

  it('stay when a read says nothing of groups, until the time of a sign-in has passed', async () => {
    // given an issuer that names groups in its ID token alone, which it sends at a sign-in alone
    const sub = newSub()
    stub.does({ refreshes: true, userinfo: { sub } })
    const browser = await enter(sub, ['editors'])
    stub.does({ refreshes: true, bare: true, userinfo: { sub } })
    const reads = () => stub.used.filter((path) => path === '/token').length
    for (let times = 0; times < 2; times++) {
      const before = reads()
      // a read that goes on notes its time at its end
      await until(
        () => minutesLater(16).then(() => rolesOf(browser).then(reads)),
        (now) => now > before,
      )
    }
    await overdue()
    expect(await rolesOf(browser)).to.deep.equal({ acme: 'editor' })
    // but what says that there are none is believed
    stub.does({ refreshes: true, bare: true, userinfo: { sub, realm_access: { roles: [] } } })
    await until(
      () => minutesLater(16).then(() => rolesOf(browser)),
      (roles) => roles['acme'] === undefined,
    )
    // and so is nothing, for as long as a sign-in counts
    stub.does({ refreshes: true })
    await enter(sub, ['editors'], browser)
    await db()('state.group_reads').update({ read_at: db().raw(`now() - interval '31 days'`) })
    await overdue()
    await until(
      () => rolesOf(browser),
      (roles) => roles['acme'] === undefined,
    )
  })

  for (const [what, issuer] of [
    ['taken out of the settings', ''],
    ['another one', 'https://other.example.com'],
  ] as const)
    it(`end a day after the issuer was ${what}, whether or not it had sent a refresh token`, async () => {
      const browsers = [await enter(newSub(), ['editors'])]
      stub.does({ refreshes: false })
      browsers.push(await enter(newSub(), ['lookers']))
      const all = () => Promise.all(browsers.map(rolesOf))
      await overdue(issuer)
      await minutesLater(23 * 60)
      await overdue(issuer)
      expect(await all()).to.deep.equal([{ acme: 'editor' }, { acme: 'analyst' }])
      await minutesLater(61)
      await overdue(issuer)
      await until(all, (roles) => roles.every((one) => one['acme'] === undefined))
    })

  it('stay when the issuer is back in the settings within that day', async () => {
    stub.does({ refreshes: false })
    const browser = await enter(newSub(), ['editors'])
    await overdue('')
    await minutesLater(20 * 60)
    await overdue()
    await minutesLater(20 * 60)
    await overdue()
    expect(await rolesOf(browser)).to.deep.equal({ acme: 'editor' })
  })

  it('are read again at the issuer that has sent the token, and at no other', async () => {
    const browser = await enter(newSub(), ['editors'])
    await db()('state.group_reads').update({ issuer: 'https://before.example.com' })
    const reads = () => stub.used.filter((path) => path === '/token').length
    const before = reads()
    await minutesLater(16)
    await rolesOf(browser)
    const account = await idOf(browser)
    const hasFailed = () => db()('state.group_reads').where({ account }).whereNotNull('failed_at')
    await until<unknown[]>(hasFailed, (rows) => rows.length === 1)
    expect(reads()).to.equal(before)
  })

  it('leave no refresh token of an erased person', async () => {
    const browser = await enter(newSub(), ['editors'])
    const id = await idOf(browser)
    const of = () => db()('state.group_reads').where({ account: id })
    expect(await of()).to.have.length(1)
    await app.app.ledger.handler.handle(accounts, { type: 'EraseAccount', id }, systemMetadata(id))
    await until<unknown[]>(of, (rows) => rows.length === 0)
  })

  it('end with the identity by which they came', async () => {
    const account = await register(`zoe-${++n}`)
    const own = openBrowser(app.app.baseUrl)
    expect((await own.ask('POST', '/api/session', { email: `zoe-${n}@example.com`, password })).status).to.equal(200)
    const sub = newSub()
    knows(sub, [])
    const begun = await own.ask('POST', '/api/identity/add', { current_password: password })
    await own.open(stub.answerTo(begun.json['address']))
    const browser = await enter(sub, ['editors'])
    expect(await idOf(browser)).to.equal(account.id)
    expect(await rolesOf(own)).to.deep.equal({ acme: 'editor' })
    expect((await own.ask('DELETE', '/api/identity/1/delete')).status).to.equal(200)
    expect(await rolesOf(own)).to.deep.equal({})
  })

  it('are sealed where they can be read again', async () => {
    await enter(newSub(), ['editors'])
    const rows = (await db()('state.group_reads').select('sealed')) as { sealed: string }[]
    expect(rows.length).to.be.above(0)
    for (const { sealed } of rows) expect(sealed).not.to.include('refresh-')
  })
})
