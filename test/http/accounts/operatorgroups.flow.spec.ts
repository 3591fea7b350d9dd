import { expect } from 'chai'
import { openGroupRoles } from '../../../src/app/accounts/grouproles.ts'
import { account as accounts } from '../../../src/commands/accounts/account.ts'
import { systemMetadata } from '../../../src/events/event.ts'
import { NotSignedIn } from '../../../src/security/notsignedin.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { until } from '../../support/client.ts'
import { startStubIssuer, type StubIssuer } from '../../support/issuer.ts'
import { openBrowser } from '../../support/issuerbrowser.ts'
import { ownPort } from '../../support/ports.ts'
import { entraUser, openDirectoryClient } from '../../support/scim.ts'
import { type Smtp, startSmtp } from '../../support/smtp.ts'

const password = 'correct horse 1'

describe('operators whom groups of the issuer make', () => {
  let stub: StubIssuer
  let smtp: Smtp
  let app: TestApp
  /** a process at which people register without a mail */
  let second: TestApp
  before(async () => {
    stub = await startStubIssuer()
    smtp = await startSmtp()
    const port = String(await ownPort())
    app = await startTestApp({
      PORT: port,
      BASE_URL: `http://localhost:${port}`,
      OIDC_ISSUER: stub.address,
      OIDC_CLIENT_ID: 'linkledger',
      OIDC_CLIENT_SECRET: 'a secret',
      OIDC_OPERATORS: 'operators, cn=links\\,ou=it',
      OIDC_LINK_VERIFIED_EMAIL: 'on',
      SMTP_URL: smtp.url,
      SMTP_FROM: 'links@short.example',
    })
    second = await startTestApp({ ROLES: 'http,relay' }, app.connection)
  })
  beforeEach(() => stub.does({ refreshes: true }))
  after(async () => {
    await second.close()
    await app.close()
    await smtp.close()
    await stub.close()
  })

  let n = 0
  const newSub = () => `person-${++n}`
  type Browser = ReturnType<typeof openBrowser>
  const tryEnter = async (who: object, browser: Browser) => {
    stub.knows({ ...who })
    const begun = await browser.open('/oidc/sign-in')
    return browser.open(stub.answerTo(begun.headers.get('Location')))
  }
  const enter = async (sub: string, groups: unknown, browser = openBrowser(app.app.baseUrl), more: object = {}) => {
    const answer = await tryEnter({ sub, groups, ...more }, browser)
    expect(answer.status, await answer.text()).to.equal(303)
    return browser
  }
  /** Whether a session may do what an operator does, and its account says so. */
  const isOperator = async (browser: Browser) => {
    const { status } = await browser.ask('GET', '/api/operator/accounts')
    const { json } = await browser.ask('GET', '/api/account')
    expect(json['data'].operator).to.equal(status === 200 ? true : undefined)
    return status === 200
  }
  const idOf = async (browser: Browser) => Number((await browser.ask('GET', '/api/account')).json['data'].id)
  const handle = (type: 'MarkOperator' | 'UnmarkOperator', id: number) =>
    app.app.ledger.handler.handle(accounts, { type, id }, systemMetadata(id))
  const minutesLater = (minutes: number) =>
    app.app.ledger.db.raw(
      `with s as (update state.sessions set used_at = used_at - make_interval(mins => :minutes))
       update state.group_reads set tried_at = tried_at - make_interval(mins => :minutes),
         failed_at = failed_at - make_interval(mins => :minutes), read_at = read_at - make_interval(mins => :minutes)`,
      { minutes },
    )
  /** Does what a service does each hour, with these groups in its settings. */
  const anHourPasses = (operators: readonly string[]) => {
    const { db, handler, keys, log, reader } = app.app.ledger
    const roles = openGroupRoles({
      ...{ db, handler, log, reader, pepper: keys.service, roles: [], operators },
      issuer: { refresh: () => Promise.reject(new NotSignedIn('away', 'it is away')) },
      issuerAddress: stub.address,
      progress: { wait: async () => true },
      sessions: { endOf: async () => {} },
      sessionDays: 30,
    })
    return roles.endOverdue()
  }

  it('are so from their sign-in on, and until one without the group', async () => {
    const sub = newSub()
    const browser = await enter(sub, ['others', 'operators'])
    expect(await isOperator(browser)).to.equal(true)
    await enter(sub, ['others'], browser)
    expect(await isOperator(browser)).to.equal(false)
    await enter(sub, 'cn=links,ou=it', browser)
    expect(await isOperator(browser)).to.equal(true)
    await enter(sub, undefined, browser)
    expect(await isOperator(browser)).to.equal(false)
  })

  it('are said to be so in the history of their account', async () => {
    const browser = await enter(newSub(), ['operators'])
    const { json } = await browser.ask('GET', '/api/account/history')
    const events = json['data'].events as { event: string; message: string }[]
    expect(events.map(({ message }) => message)).to.include('Mark of an operator set by the issuer.')
  })

  it('keep a mark that was given by hand, which ends by hand alone', async () => {
    const sub = newSub()
    const browser = await enter(sub, ['operators'])
    const id = await idOf(browser)
    await handle('MarkOperator', id)
    await enter(sub, [], browser)
    expect(await isOperator(browser)).to.equal(true)
    await enter(sub, ['operators'], browser)
    await handle('UnmarkOperator', id)
    expect(await isOperator(browser)).to.equal(true)
    await enter(sub, [], browser)
    expect(await isOperator(browser)).to.equal(false)
  })

  it('are read again while a session is used, at most every 15 minutes', async () => {
    const sub = newSub()
    const browser = await enter(sub, ['operators'])
    stub.knows({ sub, groups: [] })
    await minutesLater(14)
    expect(await isOperator(browser)).to.equal(true)
    await minutesLater(2)
    await until(
      () => isOperator(browser),
      (is) => !is,
    )
  })

  it('are none any more once the issuer was away for a day', async () => {
    const browser = await enter(newSub(), ['operators'])
    const account = await idOf(browser)
    stub.does({ refreshes: true, away: true })
    await minutesLater(16)
    await isOperator(browser)
    const { db } = app.app.ledger
    const hasFailed = () => db('state.group_reads').where({ account }).whereNotNull('failed_at')
    await until<unknown[]>(hasFailed, (rows) => rows.length === 1)
    await minutesLater(23 * 60)
    await anHourPasses(['operators'])
    expect(await isOperator(browser)).to.equal(true)
    await minutesLater(61)
    await anHourPasses(['operators'])
    expect(await isOperator(browser)).to.equal(false)
  })

  it('are none any more an hour after the settings leave out their group', async () => {
    const browser = await enter(newSub(), ['operators'])
    await anHourPasses(['operators'])
    expect(await isOperator(browser)).to.equal(true)
    await anHourPasses(['others'])
    expect(await isOperator(browser)).to.equal(false)
  })

  it('are none any more without the identity by which they came', async () => {
    const email = 'both@example.com'
    await second.post('/register', { body: { email, password } })
    const own = openBrowser(app.app.baseUrl)
    await own.ask('POST', '/api/session', { email, password })
    const sub = newSub()
    stub.knows({ sub, groups: [] })
    const { json } = await own.ask('POST', '/api/identity/add', { current_password: password })
    await own.open(stub.answerTo(json['address']))
    await enter(sub, ['operators'])
    expect(await isOperator(own)).to.equal(true)
    expect((await own.ask('DELETE', '/api/identity/1/delete')).status).to.equal(200)
    expect(await isOperator(own)).to.equal(false)
  })

  it('are those of its directory, too, at once', async () => {
    const directory = await openDirectoryClient(app, stub.address)
    const sub = newSub()
    const user = await directory.ask('POST', '/Users', entraUser(sub, sub))
    const browser = await enter(sub, [])
    const members = [{ value: user.json['id'] }]
    const group = await directory.ask('POST', '/Groups', { displayName: 'operators', members })
    expect(await isOperator(browser)).to.equal(true)
    await enter(sub, [], browser)
    expect(await isOperator(browser)).to.equal(true)
    await directory.ask('DELETE', `/Groups/${group.json['id']}`)
    expect(await isOperator(browser)).to.equal(false)
  })

  it('have no account that an address alone was enough to enter', async () => {
    // given an account with the address of a person in the group
    const email = 'ann@example.com'
    await second.post('/register', { body: { email, password } })
    const owner = openBrowser(app.app.baseUrl)
    await owner.ask('POST', '/api/session', { email, password })
    const id = await idOf(owner)
    const [sub, more] = [newSub(), { email, email_verified: true }]
    // when they enter it by the address, then it does not become an operator's
    const browser = await enter(sub, ['operators'], undefined, more)
    expect(await idOf(browser)).to.equal(id)
    expect([await isOperator(browser), await isOperator(owner)]).to.deep.equal([false, false])
    // and not later either
    await enter(sub, ['operators'], browser, more)
    expect(await isOperator(browser)).to.equal(false)
    // once its owner has linked them in place of that, it does
    expect((await owner.ask('DELETE', '/api/identity/1/delete')).status).to.equal(200)
    const { json } = await owner.ask('POST', '/api/identity/add', { current_password: password })
    await owner.open(stub.answerTo(json['address']))
    await enter(sub, ['operators'], browser, more)
    expect(await isOperator(browser)).to.equal(true)
    // and then the address no longer enters it
    const answer = await tryEnter({ sub: newSub(), groups: [], ...more }, openBrowser(app.app.baseUrl))
    expect(answer.status).to.equal(403)
  })
})
