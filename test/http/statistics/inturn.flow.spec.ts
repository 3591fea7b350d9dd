import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { openLocks } from '../../../src/postgres/listen.ts'
import { currentRules } from '../../../src/http/statistics/reclassify.ts'
import { operatorContext } from '../../../src/app/operator/caller.ts'
import { openReclassifier } from '../../../src/app/reclassifier.ts'
import { rulesVersion } from '../../../src/clicks/visitor/agent.ts'
import { reclassification } from '../../../src/commands/statistics/reclassification.ts'
import { planReclassification } from '../../../src/queries/statistics/reclassify.ts'
import { click, clicked, fresh } from '../../support/events.ts'
import { startTestApp, type TestApp, urlOf } from '../../support/app.ts'
import { type Answer, until } from '../../support/client.ts'
import { runCommand } from '../../support/process.ts'

describe('a reclassification that waits for its turn', () => {
  let app: TestApp
  before(async () => {
    app = await startTestApp()
  })
  after(() => app.close())

  /** While it is held, no process of the service works on jobs. */
  const hold = async () => {
    const locks = await openLocks(app.connection, 'a test')
    await until(
      () => locks.acquire([7275473n]),
      (held) => held.has(7275473n),
    )
    return locks
  }

  /** An account with a visit from Germany to each of two links, and what is asked of it. */
  const open = async () => {
    const { key, id: account } = await app.register()
    const add = async () => {
      const { json } = await app.post('/api/url/add', { key, body: { url: 'https://example.com/' } })
      return Number(json['id'])
    }
    const at = new Date(Date.now() - 3_600_000).toISOString()
    const visits = [await add(), await add()].map((link) =>
      click({ link, account, at, country: 'DE', source: { kind: 'link', id: link } }),
    )
    const event = clicked(...visits)
    const data = { ...event.data, rules: rulesVersion, agents: ['Mozilla'] }
    await app.app.ledger.store.append([
      { stream: `clicks-test-${randomUUID()}`, expected: 'no_stream', events: [fresh({ ...event, data })] },
    ])
    const ask = (body: object) => app.post('/api/account/reclassify', { key, body })
    const shown = async () => (await app.get('/api/account/reclassify', { key })).json['data']
    const counted = (clicks: number) =>
      until(
        async () => (await app.get('/api/stats', { key })).json['data'],
        ({ total }) => total.clicks === clicks,
      )
    const exclude = (countries: string[]) => app.put('/api/account/exclusions', { key, body: { countries } })
    /** Returns the parts that exclude countries, and a function that records one while others run. */
    const plan = async (countries: string[]) => {
      const id = randomUUID()
      const exclusions = { agents: [], countries, hours: [], visitors: [] }
      const { handler, reader } = app.app.ledger
      const { parts } = await planReclassification(reader, currentRules, { account, exclusions, perPart: 1 })
      const record = (part: number) => {
        const command = { type: 'AddPart', id, part, data: parts[part]! } as const
        return handler.handle(reclassification, command, operatorContext(app.config, account))
      }
      return { id, record, parts: parts.length }
    }
    await counted(2)
    return { account, ask, counted, exclude, plan, shown }
  }
  const ended = (shown: () => Promise<Answer['json']>) => until(shown, ({ job }) => job?.ended)

  it('keeps others of its account from beginning, on every way, and is kept by them', async () => {
    const { account, ask, counted, exclude, shown } = await open()
    await exclude(['DE'])
    const { id } = (await ask({})).json
    await counted(0)
    await exclude([])
    const locks = await hold()
    expect((await ask({ undo: id, background: true })).status).to.equal(200)
    const refused = await ask({})
    expect([refused.status, refused.headers.get('Retry-After')]).to.deep.equal([409, '5'])
    expect((await ask({ dryRun: true })).status, 'changes nothing').to.equal(200)
    const settings = { DATABASE_URL: urlOf(app.connection), DATA_DIR: app.dir, SECRET: 'a secret for tests only' }
    const command = await runCommand(['reclassify', '--account', `id:${account}`], settings)
    expect([command.code, command.err]).to.satisfy(
      ([code, err]: [number, string]) => code > 0 && /still running/.test(err),
    )
    await locks.close()
    expect((await ended(shown))['job']).to.include({ work: 'undo', failed: false, reason: null, code: null })
    await counted(2)

    // as a request or a command of another process has it
    const other = await openReclassifier(app.app.ledger).service.claim(account)
    for (const body of [{}, { undo: id }, { background: true }, { undo: id, background: true }])
      expect((await ask(body)).status, JSON.stringify(body)).to.equal(409)
    await other?.end()
    expect((await ask({})).status).to.equal(200)
  })

  it('is not taken back in the background once it is not the newest any more, and says why', async () => {
    const { ask, counted, plan, shown } = await open()
    const first = await plan(['DE'])
    for (let part = 0; part < first.parts; part++) await first.record(part)
    await counted(0)
    const locks = await hold()
    expect((await ask({ undo: first.id, background: true })).status).to.equal(200)
    // nothing records one meanwhile but an older release
    const second = await plan([])
    for (let part = 0; part < second.parts; part++) await second.record(part)
    await counted(2)
    await locks.close()
    const { job } = await ended(shown)
    expect(job).to.include({ work: 'undo', failed: true })
    expect(job.reason).to.include(second.id)
    expect(job).to.deep.include({ code: 'wrong_order', params: { what: 'newest', id: second.id } })
    for (const { id } of [second, first]) expect((await ask({ undo: id })).status).to.equal(200)
    await counted(2)
  })

  it('is taken back part by part where those of another lie between, so that all visits get their first class', async () => {
    const { ask, counted, plan, shown } = await open()
    const first = await plan(['DE'])
    await first.record(0)
    await counted(1)
    const second = await plan([])
    await second.record(0)
    await counted(2)
    await first.record(1)
    await counted(1)
    const undo = async ({ id }: { readonly id: string }) => (await ask({ undo: id })).json['message']
    expect(await undo(second)).to.include(first.id)
    expect(await undo(first), 'as far as it is the newest').to.include(second.id)
    await counted(2)
    expect(await undo(second)).to.include('taken back')
    await counted(1)
    expect(await undo(first)).to.include('taken back')
    await counted(2)
    expect((await shown())['made'].map(({ undone }: { undone: boolean }) => undone)).to.deep.equal([true, true])
  })

  it('is not answered for a day that something still runs', async () => {
    const { key } = await app.register()
    const headers = { 'Idempotency-Key': randomUUID() }
    const ask = () => app.post('/api/account/reclassify', { key, headers, body: { background: true, dryRun: true } })
    const locks = await hold()
    await app.post('/api/account/reclassify', { key, body: { background: true } })
    const refused = await ask()
    expect([refused.status, refused.json['code'], refused.headers.get('Retry-After')]).to.deep.equal([
      ...[409, 'still_running', '5'],
    ])
    await locks.close()
    await until(
      async () => (await app.get('/api/account/reclassify', { key })).json['data'],
      ({ job }) => job.ended !== null,
    )
    const again = await ask()
    expect([again.status, again.headers.get('Idempotent-Replayed')]).to.deep.equal([200, null])
  })
})
