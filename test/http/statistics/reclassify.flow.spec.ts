import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { reportRules } from '../../../src/app/health/rules.ts'
import { startReclassifier } from '../../../src/app/jobs/reclassify.ts'
import { operatorContext } from '../../../src/app/operator/caller.ts'
import { openReclassifier } from '../../../src/app/reclassifier.ts'
import { rulesVersion } from '../../../src/clicks/visitor/agent.ts'
import { account as accounts } from '../../../src/commands/accounts/account.ts'
import { systemMetadata } from '../../../src/events/event.ts'
import type { Click } from '../../../src/events/statistics/click.ts'
import { openLocks } from '../../../src/postgres/listen.ts'
import { startTestApp, type TestApp, urlOf } from '../../support/app.ts'
import { type Answer, until } from '../../support/client.ts'
import { click, clicked, fresh } from '../../support/events.ts'
import { query } from '../../support/faults.ts'
import { signIn } from '../../support/session.ts'
import { runCommand } from '../../support/process.ts'

type Json = Answer['json']

describe('reclassification by the API', () => {
  let app: TestApp
  let key: string
  let account = 0
  let [one, two] = [0, 0]
  const now = Date.now()

  const record = (...clicks: Click[]) =>
    app.app.ledger.store.append([
      {
        stream: `clicks-test-${randomUUID()}`,
        expected: 'no_stream',
        events: [
          fresh({
            ...clicked(...clicks),
            data: { ...clicked(...clicks).data, rules: rulesVersion, agents: ['Mozilla', 'Uptime Monitor'] },
          }),
        ],
      },
    ])
  const visit = (link: number, over: Partial<Click>) =>
    click({ link, account, at: new Date(now - 3_600_000).toISOString(), source: { kind: 'link', id: link }, ...over })
  /** What every answer with statistics says about the account's clicks. */
  const seen = async () => {
    const details = async (id: number) => (await app.get(`/api/url/${id}`, { key })).json['data'] as Json
    const series = async (path: string) =>
      (await app.get(`${path}/stats?by=country,browser`, { key })).json['data'] as Json
    const list = (await app.get('/api/urls?order=click', { key })).json['data'] as Json
    return {
      details: [await details(one), await details(two)],
      series: [await series(`/api/url/${one}`), await series('/api/account')].map(({ total, by }) => ({ total, by })),
      list: (list['urls'] as Json[]).map(({ id, clicks, uniqueclicks }) => [id, clicks, uniqueclicks]),
    }
  }
  const counted = async (clicks: number) => {
    await until(seen, ({ series }) => series[1]?.total.clicks === clicks)
    return seen()
  }
  /** What filtered statistics say, and the list of visits behind them. */
  const figures = async (more = '') => {
    const query = `from=${new Date(now - 86_400_000).toISOString()}&to=${new Date(now + 86_400_000).toISOString()}${more}`
    const read = async (link = '') => {
      const { total, series, by, before } = (
        await app.get(`/api/stats?by=country,class,link&interval=hour&compare=before&${query}${link}`, { key })
      ).json['data'] as Json
      return { total, series, by, before }
    }
    const visits = (await app.get(`/api/visits?class=human&fields=date,class,unique,link&${query}`, { key })).json
    return [await read(), await read(`&link=${one}`), await read('&country=CA'), visits]
  }
  const classesSaid = async (more: string) => (await app.get(`/api/stats?${more}`, { key })).json['data'].classes
  const reclassify = async (body: object = {}) => (await app.post('/api/account/reclassify', { key, body })).json

  before(async () => {
    app = await startTestApp()
    ;({ key, id: account } = await app.register())
    const add = async () => (await app.post('/api/url/add', { key, body: { url: 'https://example.com/' } })).json['id']
    ;[one, two] = [Number(await add()), Number(await add())]
    await record(
      visit(one, { visitor: 'aa' }),
      visit(one, { visitor: 'aa', country: 'DE' }),
      visit(one, { visitor: 'bb', agent: 1 }),
      visit(two, { visitor: 'aa', country: 'JP' }),
      visit(two, { visitor: 'cc', class: 'bot' }),
    )
    await counted(4)
  })
  after(() => app.close())

  it('omits excluded visits of an account from all statistics until it is undone', async () => {
    const before = await seen()
    expect((await reclassify()).id).to.equal('')
    const body = { agents: ['UPTIME'], countries: ['Germany'], visitors: [] }
    const { json } = await app.put('/api/account/exclusions', { key, body })
    const exclusions = { agents: ['uptime'], countries: ['DE'], hours: [], visitors: [] }
    expect(json['data']).to.deep.equal(exclusions)
    expect((await app.get('/api/account/exclusions', { key })).json['data']).to.deep.equal(exclusions)

    const changes = [{ from: 'human', to: 'excluded', rule: 'exclusions', visits: 2 }]
    const dry = await reclassify({ dryRun: true })
    expect(dry).to.deep.include({ id: '', dryRun: true, visits: 2, changes })
    expect(await seen()).to.deep.equal(before)
    expect((await reclassify({ dryRun: true, link: two })).visits).to.equal(0)

    const known = await figures()
    const moment = encodeURIComponent(String((await app.get('/api/stats', { key })).headers.get('linkledger-at')))
    const asOf = () => app.get(`/api/stats?by=country,class&at=${moment}`, { key })
    const past = (await asOf()).text
    expect(await figures('&classes=then'), 'nothing has changed yet').to.deep.equal(known)
    expect(await classesSaid('classes=then')).to.equal(undefined)
    const { id } = await reclassify()
    const after = await counted(2)
    expect(await figures('&classes=then'), 'as counted then').to.deep.equal(known)
    expect((await figures())[0]?.['total']).to.deep.include({ clicks: 2, visits: 5 })
    expect(await figures('&classes=now')).to.deep.equal(await figures())
    expect([await classesSaid('classes=then'), await classesSaid('')]).to.deep.equal(['then', 'now'])
    expect((await asOf()).text, 'byte by byte').to.equal(past)
    expect(after.details.map(({ clicks, uniqueClicks }) => [clicks, uniqueClicks])).to.deep.equal([
      [1, 1],
      [1, 1],
    ])
    expect(after.list).to.deep.equal([
      [two, 1, 1],
      [one, 1, 1],
    ])
    expect(after.series[1]).to.deep.equal({
      total: { clicks: 2, uniqueClicks: 2, visits: 5, suspects: 0 },
      by: { country: { Canada: 1, Japan: 1 }, browser: { Firefox: 2 } },
    })
    // what is excluded already changes nothing
    expect((await reclassify()).changes).to.deep.equal([])

    // one more, and only the newest can be taken back
    await app.put('/api/account/exclusions', { key, body: { visitors: ['00000000000000aa'] } })
    const second = await reclassify()
    await counted(0)
    expect(await figures('&classes=then'), 'before both').to.deep.equal(known)
    const undo = (which: unknown) => app.post('/api/account/reclassify', { key, body: { undo: which } })
    expect((await undo(id)).json['message']).to.include(second.id)
    expect((await undo(second.id)).status).to.equal(200)
    expect(await counted(2)).to.deep.equal(after)
    expect((await undo(id)).status).to.equal(200)
    expect(await counted(4)).to.deep.equal(before)
    expect((await undo(id)).status).to.equal(200)
  })

  it('counts each visit once when it is repeated under its Idempotency-Key after it was taken back', async () => {
    await app.put('/api/account/exclusions', { key, body: { agents: ['uptime'], countries: ['DE'], visitors: [] } })
    const send = async (body: object, headers = {}) =>
      (await app.post('/api/account/reclassify', { key, body, headers })).json
    const repeated = async () => {
      // as when the process was killed before its answer was stored
      await query(app.connection, `update state.idempotency set instance = '', sealed = null`)
      return send({}, { 'Idempotency-Key': 'killed' })
    }
    const made = async () => {
      const [newest] = (await app.get('/api/account/reclassify', { key })).json['data'].made
      return { visits: newest.visits, undone: newest.undone }
    }
    const { id } = await send({}, { 'Idempotency-Key': 'killed' })
    await counted(2)
    expect(await repeated()).to.include({ id, visits: 2 })
    for (const undone of [false, true]) {
      await send({ undo: id })
      await counted(4)
      expect(await made()).to.deep.equal({ visits: 2, undone: true })
      if (undone) break
      expect(await repeated()).to.include({ id, visits: 2 })
      await counted(2)
      expect(await made()).to.deep.equal({ visits: 2, undone: false })
    }
  })

  it('is a command too, for all accounts or one', async () => {
    await app.put('/api/account/exclusions', { key, body: { agents: ['uptime'], countries: [], visitors: [] } })
    const settings = { DATABASE_URL: urlOf(app.connection), DATA_DIR: app.dir, SECRET: 'a secret for tests only' }
    const run = async (...args: string[]) => (await runCommand(['reclassify', ...args], settings)).out
    const out = await run('--account', `id:${account}`)
    expect(out).to.match(
      new RegExp(
        String.raw`^account \d+, reclassification \S+\n {2}human -> excluded: 1  exclusions\n1 visits get another class by rules ${rulesVersion}\.`,
      ),
    )
    const [id = ''] = /(?<=reclassification )\S+/.exec(out) ?? []
    await counted(3)
    expect(await run('undo', id)).to.include('Taken back.')
    await counted(4)
  })

  it('is not open to another account, and refuses values that no click has', async () => {
    const { id } = await reclassify()
    const stranger = (await app.register()).key
    const ask = async (body: object) => {
      const { status, json } = await app.post('/api/account/reclassify', { key: stranger, body })
      return [status, json['message']]
    }
    const unknown = await ask({ undo: randomUUID() })
    expect(unknown[0]).to.equal(404)
    expect(await ask({ undo: id })).to.deep.equal(unknown)
    expect((await ask({ link: one }))[0]).to.equal(404)
    for (const [body, field] of [
      [{ agents: ['a1'] }, 'agents.0'],
      [{ countries: ['Atlantis'] }, 'countries.0'],
      [{ hours: [24] }, 'hours.0'],
      [{ visitors: ['AA'] }, 'visitors.0'],
    ] as const) {
      const { status, json } = await app.put('/api/account/exclusions', { key, body })
      expect([status, json['message']].join(' ')).to.match(new RegExp(`^400 .*${field}`))
    }
  })

  it('runs in the background, one of an account at a time, and resumes after its process has ended', async () => {
    const { ledger } = app.app
    await app.put('/api/account/exclusions', { key, body: { agents: [], countries: ['JP', 'DE'], visitors: [] } })
    const before = await counted((await seen()).series[1]?.total.clicks as number)
    const shown = async () => (await app.get('/api/account/reclassify', { key })).json['data'] as Json
    const ended = () => until(shown, ({ job }) => job?.ended !== null)
    const begin = (body: object) => app.post('/api/account/reclassify', { key, body: { background: true, ...body } })
    // while it is held, no process of the service works
    const hold = async () => {
      const locks = await openLocks(app.connection, 'a test')
      await until(
        () => locks.acquire([7275473n]),
        (held) => held.has(7275473n),
      )
      return locks
    }
    const locks = await hold()
    expect((await begin({ dryRun: true })).status).to.equal(200)
    const refused = await begin({})
    expect([refused.status, refused.headers.get('retry-after')]).to.deep.equal([409, '5'])
    expect((await shown())['job']).to.include({ work: 'count', ended: null, visits: 0 })
    await locks.close()
    const dry = (await reclassify({ dryRun: true })) as Json
    expect(dry['visits']).to.be.above(1)
    expect((await ended())['job']).to.deep.include({ failed: false, visits: dry['visits'], changes: dry['changes'] })
    expect(await seen(), 'nothing is changed').to.deep.equal(before)

    const again = await hold()
    expect((await begin({})).status).to.equal(200)
    const { options } = openReclassifier(ledger)
    let stop = async () => {}
    let parts = 0
    const killed = new Promise<void>((resolve) => {
      const handle: typeof ledger.handler.handle = async (...command) => {
        const handled = await ledger.handler.handle(...command)
        parts++
        void stop().then(resolve)
        return handled
      }
      stop = startReclassifier({
        ...options,
        handler: { ...ledger.handler, handle },
        alone: (work) => work(again.lost),
        perPart: 1,
        onProblem: (error) => expect.fail(String(error)),
      })
    })
    await killed
    expect(parts, 'the first of two parts').to.equal(1)
    expect((await shown())['job']).to.deep.include({ work: 'apply', ended: null, parts: { done: 1, of: 2 } })
    await again.close()
    const { job, made } = await ended()
    expect(job).to.deep.include({
      failed: false,
      visits: dry['visits'],
      changes: dry['changes'],
      parts: { done: 2, of: 2 },
    })
    expect(made[0]).to.deep.include({ account, visits: dry['visits'], undone: false })
    expect((await reclassify({ dryRun: true })).visits).to.equal(0)

    const stranger = await app.register()
    const theirs = { key: stranger.key, body: { background: true, undo: made[0].id } }
    expect((await app.post('/api/account/reclassify', theirs)).status).to.equal(404)
    expect((await begin({ undo: made[0].id })).status).to.equal(200)
    expect((await ended())['job']).to.include({ work: 'undo', failed: false })
    expect(await seen()).to.deep.equal(before)
  })

  it('continues in the background when a session is cut although PostgreSQL is available', async () => {
    const { ledger } = app.app
    const locks = await openLocks(app.connection, 'a test')
    await until(
      () => locks.acquire([7275473n]),
      (held) => held.has(7275473n),
    )
    await app.post('/api/account/reclassify', { key, body: { background: true, dryRun: true } })
    const { options } = openReclassifier(ledger)
    let problem: unknown
    const opened: ReturnType<typeof options.openReader>[] = []
    const load: typeof ledger.handler.load = async (...stream) => {
      if (problem === undefined) await opened[0]?.reader.db.raw('select pg_terminate_backend(pg_backend_pid())')
      return ledger.handler.load(...stream)
    }
    const stop = startReclassifier({
      ...options,
      openReader: () => {
        opened.push(options.openReader())
        return opened.at(-1)!
      },
      handler: { ...ledger.handler, load },
      alone: (work) => work(locks.lost),
      onProblem: (error) => (problem = error),
    })
    const { job } = await until(
      async () => (await app.get('/api/account/reclassify', { key })).json['data'] as Json,
      ({ job }) => job.ended !== null,
    )
    await Promise.all([stop(), locks.close()])
    expect(job).to.include({ work: 'count', failed: false })
    expect(String(problem)).to.match(/terminat/)
  })

  it('has failed in the background where its account was disabled before it began', async () => {
    const { handler } = app.app.ledger
    const late = await app.register()
    const locks = await openLocks(app.connection, 'a test')
    await until(
      () => locks.acquire([7275473n]),
      (held) => held.has(7275473n),
    )
    const asked = await app.post('/api/account/reclassify', { key: late.key, body: { background: true } })
    expect(asked.status).to.equal(200)
    await handler.handle(accounts, { type: 'DisableAccount', id: late.id }, systemMetadata(late.id))
    await locks.close()
    await until(
      () =>
        query<{ failed: boolean }>(
          app.connection,
          'select failed from state.reclassify_jobs where account = $1 and ended is not null',
          [late.id],
        ),
      (rows) => rows.length === 1,
    )
    await handler.handle(accounts, { type: 'EnableAccount', id: late.id }, systemMetadata(late.id))
    const { json } = await until(
      () => app.get('/api/account/reclassify', { key: late.key }),
      ({ status }) => status === 200,
    )
    const reason = 'This account is disabled.'
    const why = { reason, code: 'account_disabled', params: {} }
    expect(json['data'].job).to.deep.include({ work: 'apply', failed: true, ...why })
  })

  it('is counted and applied for all accounts by an operator', async () => {
    const { ledger } = app.app
    const other = await app.register()
    const operator = await signIn(app, other.email)
    const ask = (method: string, body?: object) => operator.ask(method, '/api/operator/reclassify', body)
    expect((await ask('GET')).status).to.equal(403)
    await ledger.handler.handle(accounts, { type: 'MarkOperator', id: other.id }, operatorContext(app.config, other.id))
    const visits = (await reclassify({ dryRun: true })).visits as number
    const ended = () =>
      until(
        async () => (await ask('GET')).json['data'] as Json,
        ({ job }) => job?.ended,
      )
    expect((await ask('POST', { dryRun: true })).status).to.equal(200)
    expect((await ended())['job']).to.deep.include({ work: 'count', visits, accounts: { done: 1, of: 1 } })
    expect((await ask('POST', {})).status).to.equal(200)
    const { job, made } = await until(
      async () => (await ask('GET')).json['data'] as Json,
      (data) => data['job'].work === 'apply' && data['job'].ended,
    )
    expect(job).to.deep.include({ failed: false, visits })
    expect(made[0]).to.include({ account, visits })
    const { rows } = await ledger.db.raw<{ rows: { kind: string }[] }>(
      `select metadata->'actor'->>'kind' as kind from log.events where type = 'ClicksReclassified' order by position desc limit 1`,
    )
    expect(rows).to.deep.equal([{ kind: 'operator' }])
  })

  it('is suggested when the service starts with other rules for bots, until these are applied', async () => {
    const { ledger } = app.app
    const said: unknown[] = []
    const log = { ...ledger.log, info: (_: unknown, text: string) => said.push(text) } as unknown as typeof ledger.log
    const [own] = (await ledger.db(ledger.tables.name('details')).where({ dim: 0 }).select('label')) as {
      label: string
    }[]
    const version = Number(/^\[(\d+),/.exec(own?.label ?? '')?.[1])
    const report = (rules: number) => reportRules({ log, tables: ledger.tables }, ledger.reader, rules)
    await report(version)
    expect(said).to.deep.equal([])
    await report(version + 1)
    expect(said[0]).to.include('linkledger reclassify --dry-run')
    expect(said).to.have.length(1)
  })
})
