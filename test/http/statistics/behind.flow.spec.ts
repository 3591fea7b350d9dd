import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { Command } from 'commander'
import pg from 'pg'
import { addReclassifyCommands } from '../../../src/cli/reclassify.ts'
import { rulesVersion } from '../../../src/clicks/visitor/agent.ts'
import { lockOfAccount } from '../../../src/postgres/jobs/reclassify.ts'
import { startTestApp, type TestApp, urlOf } from '../../support/app.ts'
import { type Answer, until } from '../../support/client.ts'
import { click, clicked, fresh } from '../../support/events.ts'
import { query } from '../../support/faults.ts'
import { runCommand } from '../../support/process.ts'

describe('a reclassification while the statistics are behind', () => {
  let app: TestApp
  let [key, account] = ['', 0]
  before(async () => {
    app = await startTestApp()
    ;({ key, id: account } = await app.register())
    await visited({ key, id: account }, 'DE', 'DE', 'JP')
    await counted(3)
  })
  after(() => app.close())

  /** Makes a link of an account, and records a visit from each of these countries. */
  const visited = async (owner: { readonly key: string; readonly id: number }, ...countries: string[]) => {
    const { json } = await app.post('/api/url/add', { key: owner.key, body: { url: 'https://example.com/' } })
    const link = Number(json['id'])
    const at = new Date(Date.now() - 3_600_000).toISOString()
    const visit = (country: string) =>
      click({ link, account: owner.id, at, country, source: { kind: 'link', id: link } })
    const event = clicked(...countries.map(visit))
    const data = { ...event.data, rules: rulesVersion, agents: ['Mozilla'] }
    await app.app.ledger.store.append([
      { stream: `clicks-test-${randomUUID()}`, expected: 'no_stream', events: [fresh({ ...event, data })] },
    ])
  }

  const counted = (clicks: number) =>
    until(
      async () => (await app.get('/api/stats', { key })).json['data'],
      ({ total }) => total.clicks === clicks,
    )
  const exclude = (countries: string[]) => app.put('/api/account/exclusions', { key, body: { countries } })
  const reclassify = async () => (await app.post('/api/account/reclassify', { key, body: {} })).json
  const made = async () => (await app.get('/api/account/reclassify', { key })).json['data'].made as Answer['json'][]
  /** Holds the statistics where they are; returns what lets them go on. */
  const holdStatistics = async () => {
    const holder = new pg.Client(app.connection)
    holder.on('error', () => {})
    await holder.connect()
    await holder.query(`begin; select from read.checkpoints where projection = 'stats' for update`)
    return () => holder.end()
  }
  /** Begins work that claims the account, and lets the statistics go on once it has the claim. */
  const claiming = async <T>(work: () => Promise<T>, goOn: () => Promise<void>): Promise<T> => {
    const result = work()
    const lock = `select 1 from pg_locks where locktype = 'advisory' and granted and (classid::bigint << 32 | objid::bigint) = $1`
    await Promise.race([
      until(
        () => query(app.connection, lock, [lockOfAccount(account).toString()]),
        (rows) => rows.length > 0,
      ),
      result,
    ])
    await goOn()
    return result
  }

  it('is planned from the result of the one before, so that its response matches its changes', async () => {
    await exclude(['DE'])
    let goOn = await holdStatistics()
    const first = await reclassify()
    expect(first).to.deep.include({ visits: 2 })
    const again = await claiming(reclassify, goOn)
    expect(again).to.deep.include({ id: '', visits: 0, changes: [] })
    await counted(1)
    expect((await made()).map(({ id, visits }) => [id, visits])).to.deep.equal([[first['id'], 2]])

    // a list that is emptied gives its visits back, also at once
    await exclude(['JP'])
    goOn = await holdStatistics()
    expect(await reclassify()).to.deep.include({ visits: 3 })
    await exclude([])
    expect(await claiming(reclassify, goOn)).to.deep.include({ visits: 1 })
    await counted(3)
  })

  it('waits as a command, too', async () => {
    await exclude(['DE'])
    const goOn = await holdStatistics()
    expect(await reclassify()).to.deep.include({ visits: 2 })
    await exclude([])
    const settings = { DATABASE_URL: urlOf(app.connection), DATA_DIR: app.dir, SECRET: 'a secret for tests only' }
    const run = () => runCommand(['reclassify', '--account', `id:${account}`], settings)
    expect((await claiming(run, goOn)).out).to.include('excluded -> human: 2')
    await counted(3)
  })

  it('of all accounts reports the rest when it waits in vain, and resumes there when it is run again', async () => {
    const other = await app.register()
    await visited(other, 'FR')
    await until(
      async () => (await app.get('/api/stats', { key: other.key })).json['data'],
      ({ total }) => total.clicks === 1,
    )
    await exclude(['DE'])
    await app.put('/api/account/exclusions', { key: other.key, body: { countries: ['FR'] } })
    const lines: string[] = []
    const variables = { DATABASE_URL: urlOf(app.connection), DATA_DIR: app.dir, SECRET: 'a secret for tests only' }
    const run = async () => {
      const program = new Command()
      const print = (line: string) => void lines.push(line)
      addReclassifyCommands(program, { variables, print, printError: print }, 500)
      await program.parseAsync(['reclassify'], { from: 'user' })
    }
    const goOn = await holdStatistics()
    const error = await run().catch(String)
    await goOn()
    expect(error).to.include(`so account ${other.id} is left. Run it again once the service runs`)
    expect(lines.join('\n')).to.include(`account ${account}, reclassification`)
    await counted(1)
    lines.length = 0
    await run()
    expect(lines[0]).to.include(`account ${other.id}, reclassification`)
    expect(lines.join('\n')).not.to.include(`account ${account},`)
  })

  it('has one id when its response was lost and it is repeated with its Idempotency-Key, and resumes there', async () => {
    await exclude([])
    await reclassify()
    await counted(3)
    const before = (await made()).length
    const ask = () => app.post('/api/account/reclassify', { key, body: {}, headers: { 'Idempotency-Key': 'lost' } })
    /** The process was killed before the answer was stored. */
    const loseAnswer = () =>
      query(app.connection, `update state.idempotency set instance = '', account = null, sealed = null`)
    await exclude(['JP'])
    const first = (await ask()).json
    expect(first).to.deep.include({ visits: 1 })
    await loseAnswer()
    expect((await ask()).json).to.deep.include({ id: first['id'], visits: 1 })
    await loseAnswer()
    await visited({ key, id: account }, 'JP', 'JP')
    await until(
      async () => (await app.get('/api/stats', { key })).json['data'],
      ({ total }) => total.visits === 5,
    )
    expect((await ask()).json).to.deep.include({ id: first['id'], visits: 3 })
    await until(
      async () => (await made()).slice(0, -before).map(({ id, visits }) => [id, visits]),
      (since) => since.length === 1 && since[0]![0] === first['id'] && since[0]![1] === 3,
    )
  })
})
