import { expect } from 'chai'
import { run } from '../../src/cli/run.ts'
import { startTestApp, urlOf } from '../support/app.ts'
import { freshDatabase } from '../support/database.ts'
import { openStage, query } from '../support/faults.ts'
import { runCommand } from '../support/process.ts'

describe('linkledger rebuild', function () {
  this.timeout(300_000)
  const stage = openStage()
  afterEach(stage.clear)
  type App = Awaited<ReturnType<typeof startTestApp>>
  const start = async (...args: Parameters<typeof startTestApp>) => {
    const app = await startTestApp(...args)
    stage.later(app.close)
    return app
  }
  const rebuild = ({ dir, connection, config }: App) =>
    runCommand(['rebuild'], { DATA_DIR: dir, DATABASE_URL: urlOf(connection), SECRET: config.SECRET ?? '' })

  it('succeeds when every process reads the new tables', async () => {
    const one = await start()
    const other = await start({}, one.connection)
    const { key } = await one.register()
    const { code, out, err } = await rebuild(one)
    expect([code, err]).to.deep.equal([0, ''])
    expect(out).to.include('The read tables are rebuilt and in use.')
    for (const app of [one, other]) expect((await app.get('/api/account', { key })).status).to.equal(200)
  })

  it('lets the service have a core first', async () => {
    const { dir, connection, config } = await start()
    const variables = { DATA_DIR: dir, DATABASE_URL: urlOf(connection), SECRET: config.SECRET }
    const done: string[] = []
    const print = (line: string) => void done.push(line)
    const code = await run(['rebuild'], {
      variables,
      print,
      printError: print,
      yieldCpu: () => void done.push('yields'),
    })
    expect(code).to.equal(0)
    expect(done).to.deep.equal(['yields', 'The read tables are rebuilt and in use.'])
  })

  it('fails while a process has the log and the keys of before a restore by hand, until it is started again', async () => {
    // not the usual copy of a database: its log and its keys are the same in all specs
    const original = await start({}, await freshDatabase())
    const { key } = await original.register()
    const app = await start()
    for (const table of ['log.events', 'state.keys']) {
      const [row] = await query<{ rows: unknown }>(original.connection, `select json_agg(t) as rows from ${table} t`)
      await query(app.connection, `delete from ${table}`)
      const insert = `insert into ${table} select * from json_populate_recordset(null::${table}, $1)`
      await query(app.connection, insert, [JSON.stringify(row?.rows)])
    }

    const { code, out, err } = await rebuild(app)
    expect([code, out]).to.deep.equal([1, ''])
    expect(err).to.include('the read tables are rebuilt, but these processes do not use them: restart them')
    expect(err).to.include(`${app.app.ledger.instance} has the log ${app.app.ledger.store.logId}, which was replaced`)
    expect((await app.get('/api/account', { key })).status).to.equal(401)

    await app.app.close()
    const restarted = await start({}, app.connection)
    expect((await rebuild(restarted)).code).to.equal(0)
    expect((await restarted.get('/api/account', { key })).status).to.equal(200)
  })
})
