import { expect } from 'chai'
import { pino } from 'pino'
import { account as accounts } from '../../../src/commands/accounts/account.ts'
import { systemMetadata } from '../../../src/events/event.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { until } from '../../support/client.ts'
import { openBrowser } from '../../support/issuerbrowser.ts'
import { startStubIssuer, type StubIssuer } from '../../support/issuer.ts'
import { signIn } from '../../support/session.ts'
import { type DirectoryClient, entraUser, openDirectoryClient, patchOf } from '../../support/scim.ts'

const password = 'correct horse 1'

describe('an account that a directory provisions is in its reach', () => {
  const logged: string[] = []
  let stub: StubIssuer
  let app: TestApp
  let other: TestApp
  let directory: DirectoryClient
  let acme: { readonly id: number; readonly email: string }
  before(async () => {
    stub = await startStubIssuer()
    const settings = { OIDC_ISSUER: stub.address, OIDC_CLIENT_ID: 'linkledger', OIDC_CLIENT_SECRET: 'a secret' }
    const roles = { OIDC_ROLES: 'editors=@acme:editor', SESSION_RATE_LIMIT_PER_MINUTE: '0' }
    const logger = pino({ level: 'warn' }, { write: (line) => void logged.push(line) })
    app = await startTestApp({ ...settings, ...roles }, undefined, {}, logger)
    other = await startTestApp({ ...settings, ...roles, OIDC_SCIM_CLAIM: 'oid' }, app.connection)
    acme = await app.register('acme', 'acme')
    directory = await openDirectoryClient(app, stub.address)
  })
  beforeEach(() => stub.does({}))
  after(async () => {
    await other.close()
    await app.close()
    await stub.close()
  })

  type Who = Readonly<Record<string, string>>
  type Browser = ReturnType<typeof openBrowser>
  let n = 0
  const newName = () => `reached-${++n}`
  const ask: DirectoryClient['ask'] = (...args) => directory.ask(...args)
  const patch = async (id: string, value: object) => {
    const answer = await ask('PATCH', `/Users/${id}`, patchOf({ op: 'replace', value }))
    expect(answer.status, answer.text).to.equal(200)
  }
  const add = async (name: string, more: object = {}) => {
    const { status, json, text } = await ask('POST', '/Users', { ...entraUser(name, name), ...more })
    expect(status, text).to.equal(201)
    return String(json['id'])
  }
  const enter = async (email: string, of = app) => {
    const browser = openBrowser(of.app.baseUrl)
    const { status } = await browser.ask('POST', '/api/session', { email, password })
    return { browser, status }
  }
  const mayEnter = async (email: string) => (await enter(email)).status === 200
  const link = async (who: Who, browser: Browser) => {
    stub.knows(who)
    const { json } = await browser.ask('POST', '/api/identity/add', { to: '/dashboard', current_password: password })
    expect((await browser.open(stub.answerTo(json['address']))).status).to.equal(303)
  }
  const signInAs = async (who: Who, browser: Browser) => {
    stub.knows(who)
    const begun = await browser.open('/oidc/sign-in')
    return browser.open(stub.answerTo(begun.headers.get('Location')))
  }
  const unlink = async (subject: string, browser: Browser) => {
    const { json } = await browser.ask('GET', '/api/identities')
    const all = json['data'].identities as { id: number; subject: string }[]
    const { id } = all.find((one) => one.subject === subject)!
    const removed = await browser.ask('DELETE', `/api/identity/${id}/delete`, { current_password: password })
    expect(removed.status, removed.text).to.equal(200)
  }
  /** Makes an account with a password, to which these identities sign in as well. */
  const own = async (whose: readonly Who[], of = app) => {
    const { id, email } = await app.register(newName())
    const { browser } = await enter(email, of)
    for (const one of whose) await link(one, browser)
    return { id, email, browser }
  }
  const statusOf = async (browser: Browser) => (await browser.ask('GET', '/api/account')).status
  const inAcme = () => ({ 'Linkledger-Account': String(acme.id) })
  const joinAcme = async (browser: Browser) => {
    const boss = await signIn(app, acme.email)
    const { json } = await boss.ask('POST', '/api/member/invite', { role: 'admin' }, inAcme())
    const token = new URL(String(json['link'])).searchParams.get('t')
    expect((await browser.ask('POST', '/api/invitation/accept', { token })).status).to.equal(200)
  }

  describe('when the person removes', () => {
    const endsAll = async (claim: 'sub' | 'oid') => {
      const of = claim === 'sub' ? app : other
      const via = await openDirectoryClient(of, stub.address)
      const name = newName()
      const who = claim === 'sub' ? { sub: name } : { sub: `sub-${name}`, oid: name }
      const { email, browser } = await own([who], of)
      await joinAcme(browser)
      const made = await via.ask('POST', '/Users', entraUser(name, name))
      const user = `/Users/${String(made.json['id'])}`
      const given = { name: 'work', scopes: ['read'], current_password: password }
      const key = String((await browser.ask('POST', '/api/key/add', given, inAcme())).json['key'])
      await unlink(who.sub, browser)
      expect([await statusOf(browser), (await app.get('/api/urls', { key })).status]).to.deep.equal([200, 200])

      await via.ask('PATCH', user, patchOf({ op: 'replace', value: { active: false } }))
      expect([await statusOf(browser), (await app.get('/api/urls', { key })).status]).to.deep.equal([401, 401])
      expect(await mayEnter(email)).to.equal(false)
      await via.ask('PATCH', user, patchOf({ op: 'replace', value: { active: true } }))
      expect(await mayEnter(email)).to.equal(true)
      expect((await app.get('/api/urls', { key })).status).to.equal(200)
      await via.ask('DELETE', user)
      expect(await mayEnter(email)).to.equal(false)
    }

    it('their identity, joined by sub: sessions, keys and sign-ins end, and come back', () => endsAll('sub'))
    it('their identity, joined by oid: sessions, keys and sign-ins end, and come back', () => endsAll('oid'))

    it('another identity, with a claim that is not sub', async () => {
      const name = newName()
      const [work, home] = [
        { sub: `sub-${name}`, oid: name },
        { sub: `home-${name}`, oid: `home-${name}` },
      ]
      const { email, browser } = await own([work, home], other)
      const via = await openDirectoryClient(other, stub.address)
      const { json } = await via.ask('POST', '/Users', entraUser(name, name))
      await unlink(home.sub, browser)
      await via.ask('PATCH', `/Users/${json['id']}`, patchOf({ op: 'replace', value: { active: false } }))
      expect([await statusOf(browser), await mayEnter(email)]).to.deep.equal([401, false])
    })

    it('their identity, and takes it to another account: both end', async () => {
      const name = newName()
      const first = await own([{ sub: name }])
      const id = await add(name)
      await unlink(name, first.browser)
      const second = await own([{ sub: name }])
      await patch(id, { active: false })
      expect([await statusOf(first.browser), await statusOf(second.browser)]).to.deep.equal([401, 401])
      expect([await mayEnter(first.email), await mayEnter(second.email)]).to.deep.equal([false, false])
    })

    it('the other account, to which they have taken their identity', async () => {
      const name = newName()
      const first = await own([{ sub: name }])
      const id = await add(name)
      await unlink(name, first.browser)
      const second = await own([{ sub: name }])
      const { db, handler } = app.app.ledger
      await handler.handle(accounts, { type: 'EraseAccount', id: second.id }, systemMetadata(second.id))
      await until(
        () => db('state.directory_held').where({ account: second.id }),
        (left) => left.length === 0,
      )
      await patch(id, { active: false })
      expect([await statusOf(first.browser), await mayEnter(first.email)]).to.deep.equal([401, false])
    })

    it('their identity: the groups of the directory give no role there any more', async () => {
      const name = newName()
      const { browser } = await own([{ sub: name }])
      const id = await add(name)
      await ask('POST', '/Groups', { displayName: 'editors', members: [{ value: id }] })
      const rolesOf = async () => {
        const { json } = await browser.ask('GET', '/api/memberships')
        return (json['data'].memberships as { role: string; own: boolean }[]).filter((one) => !one.own)
      }
      expect(await rolesOf()).to.have.length(1)
      await unlink(name, browser)
      expect(await rolesOf()).to.deep.equal([])
    })
  })

  describe('of two users who sign in to it', () => {
    it('while one of them is inactive, for any state of the other', async () => {
      const [one, two] = [newName(), newName()]
      const { email } = await own([{ sub: one }, { sub: two }])
      const [first, second] = [await add(one), await add(two)]
      await patch(first, { active: false })
      await patch(second, { displayName: 'Another name' })
      expect(await mayEnter(email)).to.equal(false)
      await patch(second, { active: true })
      expect(await mayEnter(email)).to.equal(false)
      expect((await ask('PUT', `/Users/${second}`, entraUser(two, two))).status).to.equal(200)
      expect(await mayEnter(email)).to.equal(false)
      await patch(first, { active: true })
      expect(await mayEnter(email)).to.equal(true)
    })

    it('also once it has deleted one', async () => {
      const [one, two] = [newName(), newName()]
      const { email } = await own([{ sub: one }, { sub: two }])
      const [first, second] = [await add(one), await add(two)]
      await ask('DELETE', `/Users/${first}`)
      await patch(second, { active: true })
      expect(await mayEnter(email)).to.equal(false)
      await add(one)
      expect(await mayEnter(email)).to.equal(true)
    })
  })

  it('until an operator has given the access back: a change of something else does not end it again', async () => {
    const name = newName()
    const { email, id } = await own([{ sub: name }])
    const user = await add(name)
    await patch(user, { active: false })
    const { handler } = app.app.ledger
    await handler.handle(accounts, { type: 'ReactivateAccount', id }, systemMetadata(id))
    await patch(user, { displayName: 'Another name' })
    expect(await mayEnter(email)).to.equal(true)
    await patch(user, { active: false })
    expect(await mayEnter(email)).to.equal(false)
  })

  it('when it calls a user otherwise and ends their access with one request', async () => {
    for (const externalId of ['new', null]) {
      const name = newName()
      const { email, browser } = await own([{ sub: name }])
      const id = await add(name)
      await patch(id, { externalId: externalId && `${name}-${externalId}`, active: false })
      expect([await statusOf(browser), await mayEnter(email)]).to.deep.equal([401, false])
      const refused = await signInAs({ sub: name }, openBrowser(app.app.baseUrl))
      expect(refused.status).to.equal(403)
      await patch(id, { active: true })
      expect(await mayEnter(email)).to.equal(false)
      await patch(id, { externalId: name, active: true })
      expect(await mayEnter(email)).to.equal(true)
    }
  })

  it('but not as a team account, which has no sign-in of its own', async () => {
    const name = newName()
    const { id, browser } = await own([{ sub: name }])
    const user = await add(name)
    const member = await own([])
    const ofId = { 'Linkledger-Account': String(id) }
    const { json } = await browser.ask(
      'POST',
      '/api/member/invite',
      { role: 'owner', current_password: password },
      ofId,
    )
    const token = new URL(String(json['link'])).searchParams.get('t')
    await member.browser.ask('POST', '/api/invitation/accept', { token })
    const handed = await browser.ask('POST', '/api/account/handover', {
      member: json['id'],
      current_password: password,
    })
    expect(handed.status, handed.text).to.equal(200)
    await patch(user, { active: false })
    expect((await member.browser.ask('GET', '/api/urls', undefined, ofId)).status).to.equal(200)
  })

  it('and the log names the team accounts that have no owner any more', async () => {
    const name = newName()
    const { id, browser } = await own([{ sub: name }])
    const user = await add(name)
    const teams: number[] = []
    for (const one of ['alone', 'together'])
      teams.push(Number((await browser.ask('POST', '/api/account/add', { name: `${name}-${one}` })).json['id']))
    const ofTeam = { 'Linkledger-Account': String(teams[1]) }
    const invited = { role: 'owner', current_password: password }
    const { json } = await browser.ask('POST', '/api/member/invite', invited, ofTeam)
    const token = new URL(String(json['link'])).searchParams.get('t')
    await (await own([])).browser.ask('POST', '/api/invitation/accept', { token })
    await patch(user, { active: false })
    const warnings = logged.map((line) => JSON.parse(line) as { account?: number; owner?: number; msg: string })
    expect(warnings.filter(({ owner }) => owner === id).map(({ account }) => account)).to.deep.equal([teams[0]])
  })

  describe('users whom it has deleted', () => {
    const deleted = async (many: number) =>
      app.app.ledger.db.raw(
        `insert into state.directory_users (id, issuer, person, active, updated_at)
        select gen_random_uuid(), ?, sha256(gen_random_uuid()::text::bytea), false, now() - interval '1 day' from generate_series(1, ?::int) i`,
        [stub.address, many],
      )
    const counted = async () => {
      const rows = await app.app.ledger
        .db('state.directory_users')
        .where({ issuer: stub.address })
        .whereNull('sealed')
        .count('* as all')
      return Number(rows[0]?.['all'])
    }

    it('take no room for others, and only the last 20,000 of them are known', async () => {
      const name = newName()
      for (let i = 0; i < 3; i++) await deleted(6667)
      const id = await add(name)
      await ask('DELETE', `/Users/${id}`)
      expect(await counted()).to.equal(20_000)
      expect((await signInAs({ sub: name }, openBrowser(app.app.baseUrl))).status).to.equal(403)
    })
  })

  it('and forgets the people of an account when it is erased', async () => {
    const name = newName()
    const { id } = await own([{ sub: name }])
    await add(name)
    const { db, handler } = app.app.ledger
    const rows = () => db('state.directory_held').where({ account: id })
    expect(await rows()).to.have.length(1)
    await handler.handle(accounts, { type: 'EraseAccount', id }, systemMetadata(id))
    await until(rows, (left) => left.length === 0)
  })
})
