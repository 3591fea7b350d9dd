import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { startReclassifier } from '../../../src/app/jobs/reclassify.ts'
import { operatorContext } from '../../../src/app/operator/caller.ts'
import { openReclassifier } from '../../../src/app/reclassifier.ts'
import { rulesVersion } from '../../../src/clicks/visitor/agent.ts'
import { account as accounts } from '../../../src/commands/accounts/account.ts'
import { openLocks } from '../../../src/postgres/listen.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { type Answer, until } from '../../support/client.ts'
import { click, clicked, fresh } from '../../support/events.ts'
import { signIn } from '../../support/session.ts'

type Signed = Awaited<ReturnType<typeof signIn>>
type Json = Answer['json']

describe('a reclassification in the background that a session has requested', () => {
  let app: TestApp
  const own = '/api/account/reclassify'
  const sessionsEnd = 'The password has changed since, or the session was ended. Ask for it again.'

  before(async () => (app = await startTestApp()))
  after(() => app.close())

  // while it is held, no process of the service works
  const hold = async () => {
    const locks = await openLocks(app.connection, 'a test')
    await until(
      () => locks.acquire([7275473n]),
      (held) => held.has(7275473n),
    )
    return locks
  }
  const jobOf = async (asked: Pick<Signed, 'ask'>, path = own) =>
    (await asked.ask('GET', path)).json['data'].job as Json
  const ended = (asked: Pick<Signed, 'ask'>, path = own) =>
    until(
      () => jobOf(asked, path),
      (job) => job?.ended,
    )
  const markOperator = (id: number, type: 'MarkOperator' | 'UnmarkOperator') =>
    app.app.ledger.handler.handle(accounts, { type, id }, operatorContext(app.config, id))

  /** Asks for one by a session, and lets it begin after something else has happened. */
  const afterwards = async (meanwhile: (session: Signed, email: string) => Promise<unknown>) => {
    const { key, email } = await app.register()
    const session = await signIn(app, email)
    const locks = await hold()
    expect((await session.ask('POST', own, { background: true })).status).to.equal(200)
    await meanwhile(session, email)
    await locks.close()
    return ended({ ask: (method, path) => app.ask(method, path, { key }) })
  }

  it('goes on when the session signs out', async () => {
    const job = await afterwards(async (session) =>
      expect((await session.ask('DELETE', '/api/session')).status).to.equal(200),
    )
    expect(job).to.include({ failed: false, reason: null })
  })

  it('has failed when another password is set', async () => {
    const job = await afterwards(async (_, email) => {
      const other = await signIn(app, email)
      const body = { password: 'correct horse 2', current_password: 'correct horse 1' }
      expect((await other.ask('PUT', '/api/account/update', body)).status).to.equal(200)
    })
    expect(job).to.include({ failed: true, reason: sessionsEnd })
  })

  it('has failed when that session is ended by another one, and no job of others', async () => {
    for (const isAsker of [true, false]) {
      const job = await afterwards(async (session, email) => {
        const other = await signIn(app, email)
        const { json } = await session.ask('GET', '/api/sessions')
        const sessions = json['data'].sessions as { id: number; current: boolean }[]
        const { id } = sessions.find(({ current }) => current === isAsker)!
        const ender = isAsker ? other : session
        expect((await ender.ask('DELETE', `/api/session/${id}`)).status).to.equal(200)
      })
      expect(job).to.include(isAsker ? { failed: true, reason: sessionsEnd } : { failed: false, reason: null })
    }
  })

  it('has failed when all other sessions are ended', async () => {
    const job = await afterwards(async (_, email) => {
      const other = await signIn(app, email)
      expect((await other.ask('DELETE', '/api/sessions')).status).to.equal(200)
    })
    expect(job).to.include({ failed: true, reason: sessionsEnd })
  })

  it('writes no more parts once its session was thrown out', async () => {
    const { ledger } = app.app
    const { key, id: account, email } = await app.register()
    const session = await signIn(app, email)
    await app.put('/api/account/exclusions', { key, body: { agents: [], countries: ['DE'], visitors: [] } })
    const link = Number((await app.post('/api/url/add', { key, body: { url: 'https://example.com/' } })).json['id'])
    const visit = { link, account, country: 'DE', source: { kind: 'link', id: link } } as const
    const at = (hoursAgo: number) => new Date(Date.now() - hoursAgo * 3_600_000).toISOString()
    const clicks = [click({ ...visit, visitor: 'aa', at: at(2) }), click({ ...visit, visitor: 'bb', at: at(5) })]
    const { type, data } = clicked(...clicks)
    await ledger.store.append([
      {
        stream: `clicks-test-${randomUUID()}`,
        expected: 'no_stream',
        events: [fresh({ type, data: { ...data, rules: rulesVersion } })],
      },
    ])
    await until(
      async () => (await app.get(`/api/url/${link}`, { key })).json['data'] as Json,
      (details) => details['clicks'] === 2,
    )
    const locks = await hold()
    expect((await session.ask('POST', own, { background: true })).status).to.equal(200)
    const { options } = openReclassifier(ledger)
    const problems: unknown[] = []
    const stop = startReclassifier({
      ...options,
      handler: {
        ...ledger.handler,
        handle: async (...command) => {
          const handled = await ledger.handler.handle(...command)
          await (await signIn(app, email)).ask('DELETE', '/api/sessions')
          return handled
        },
      },
      alone: (work) => work(locks.lost),
      perPart: 1,
      onProblem: (error) => problems.push(error),
    })
    const job = await ended({ ask: (method, path) => app.ask(method, path, { key }) })
    await Promise.all([stop(), locks.close()])
    expect(job).to.deep.include({ failed: true, reason: sessionsEnd, parts: { done: 1, of: 2 } })
    expect(problems).to.deep.equal([])
  })

  it('has failed when its operator is none any more', async () => {
    const [asking, other] = [await app.register(), await app.register()]
    const [asked, seen] = [await signIn(app, asking.email), await signIn(app, other.email)]
    for (const { id } of [asking, other]) await markOperator(id, 'MarkOperator')
    const locks = await hold()
    expect((await asked.ask('POST', '/api/operator/reclassify', { dryRun: true })).status).to.equal(200)
    await markOperator(asking.id, 'UnmarkOperator')
    await locks.close()
    const reason = 'Only an operator who is signed in on the dashboard may do this.'
    expect(await ended(seen, '/api/operator/reclassify')).to.include({ failed: true, reason })
  })
})
