import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { run } from '../../src/cli/run.ts'
import type { Connection } from '../../src/postgres/database.ts'
import { startedDatabase, startTestApp, urlOf } from '../support/app.ts'
import { freshDatabase } from '../support/database.ts'
import { startDouble } from '../support/eventstoredb.ts'
import { query } from '../support/faults.ts'
import { runCommand } from '../support/process.ts'

describe('a log whose keys are not in the database', () => {
  const started: { readonly close: () => Promise<unknown> }[] = []
  afterEach(async () => {
    for (const one of started.splice(0)) await one.close()
  })
  const start = async (on: Connection, settings: Record<string, string> = {}) => {
    const app = await startTestApp(settings, on)
    started.push(app)
    return app
  }
  const refusal = (on: Connection, settings: Record<string, string> = {}) =>
    start(on, settings).then(
      () => expect.fail('it started'),
      (error: unknown) => error as Error,
    )
  /** Starts a service once, which opens the log, and registers an account. */
  const used = async (settings: Record<string, string> = {}, empty = freshDatabase()) => {
    const on = await empty
    const app = await startTestApp(settings, on)
    await app.register()
    await app.close()
    return on
  }
  /** two logs, each with an account */
  let first: Connection
  let other: Connection
  before(async () => {
    ;[first, other] = [await used({}, startedDatabase()), await used()]
  })
  const copy = () => freshDatabase(first)
  const keys = (on: Connection) => query<{ name: string; wrapped: string }>(on, 'select name, wrapped from state.keys')
  /** Makes a log as release 0.1.0 opened it. */
  const unmark = (on: Connection) =>
    query(on, `update log.events set data = ('{"logId":"' || (data->>'logId') || '"}')::json where type = 'LogOpened'`)
  const marks = async (on: Connection) =>
    Number((await query<{ n: number }>(on, `select count(*)::int as n from log.events where stream = 'log-key'`))[0]?.n)

  it('is refused by the service and by commands, with a message that names the cure', async () => {
    const on = await copy()
    await query(on, 'delete from state.keys')
    const dir = await mkdtemp(join(tmpdir(), 'linkledger-keys-'))
    try {
      const lost = await refusal(on)
      expect(lost).to.have.property('name', 'ForeignKeys')
      for (const word of ['DATABASE_URL', 'SECRET', 'DATA_DIR/secret', 'state', 'backup'])
        expect(lost.message).to.include(word)
      expect(await keys(on), 'no key was created').to.deep.equal([])
      const printed: string[] = []
      const cli = {
        variables: { DATABASE_URL: urlOf(on), SECRET: 'a secret for tests only', DATA_DIR: dir },
        print: () => {},
        printError: (line: string) => void printed.push(line),
      }
      expect(await run(['account', 'list'], cli)).to.equal(1)
      expect(printed.join()).to.include(lost.message)
    } finally {
      await rm(dir, { recursive: true })
    }
    for (const { name, wrapped } of await keys(other))
      await query(on, 'insert into state.keys (name, wrapped) values ($1, $2)', [name, wrapped])
    expect(await refusal(on)).to.have.property('name', 'ForeignKeys')
  })

  it('is refused although it has no mark, when the keys open none of its accounts', async () => {
    const on = await copy()
    await unmark(on)
    const own = await keys(on)
    await query(on, 'delete from state.keys')
    expect(await refusal(on)).to.have.property('name', 'ForeignKeys')
    for (const { name, wrapped } of await keys(other))
      await query(on, 'insert into state.keys (name, wrapped) values ($1, $2)', [name, wrapped])
    expect(await refusal(on)).to.have.property('name', 'ForeignKeys')
    expect(await marks(on)).to.equal(0)
    await query(on, 'delete from state.keys')
    for (const { name, wrapped } of own)
      await query(on, 'insert into state.keys (name, wrapped) values ($1, $2)', [name, wrapped])
    await start(on)
    expect(await marks(on)).to.equal(1)
  })

  it('is not copied or saved without a mark, when the keys are those of another service', async () => {
    const [on, target] = [await copy(), await freshDatabase()]
    await unmark(on)
    const own = await keys(on)
    const replace = async (by: typeof own) => {
      await query(on, 'delete from state.keys')
      for (const { name, wrapped } of by)
        await query(on, 'insert into state.keys (name, wrapped) values ($1, $2)', [name, wrapped])
    }
    const dir = await mkdtemp(join(tmpdir(), 'linkledger-keys-'))
    const settings = { DATABASE_URL: urlOf(on), SECRET: 'a secret for tests only', DATA_DIR: dir }
    const copyLog = () => runCommand(['log', 'copy', '--from', urlOf(on), '--to', urlOf(target)], settings)
    const save = () => runCommand(['backup', join(dir, 'backup.ndjson')], settings)
    try {
      await replace(await keys(other))
      const refused = await copyLog()
      expect(refused.err)
        .to.include('they open none of its accounts')
        .and.match(/The keys were looked for in --from \(\S+ on \S+\)\.$/m)
      expect(refused.code).to.equal(1)
      expect((await save()).err).to.include('they open none of its accounts')
      await replace(own)
      expect((await copyLog()).out).to.include('are copied and verified')
      expect((await save()).code).to.equal(0)
    } finally {
      await rm(dir, { recursive: true })
    }
  })

  it('gets one mark when several processes start on it at once', async () => {
    const on = await copy()
    await unmark(on)
    await Promise.all([start(on), start(on), start(on)])
    expect(await marks(on)).to.equal(1)
    await query(on, `update state.keys set name = 'lost' where name = 'service'`)
    expect(await refusal(on)).to.have.property('name', 'ForeignKeys')
  })

  it('is refused on EventStoreDB, too', async () => {
    const server = await startDouble()
    started.push(server)
    const settings = { EVENTSTORE_URL: server.url }
    const on = await used(settings)
    expect(await refusal(await freshDatabase(), settings)).to.have.property('name', 'ForeignKeys')
    expect(await refusal(await startedDatabase(), settings)).to.have.property('name', 'ForeignKeys')
    await start(on, settings)
  })

  it('is not assumed for a new log, which several processes open at once', async () => {
    const on = await freshDatabase()
    await Promise.all([start(on), start(on), start(on)])
    expect(await marks(on)).to.equal(0)
  })
})
