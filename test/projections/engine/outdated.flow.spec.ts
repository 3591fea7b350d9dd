import { expect } from 'chai'
import pg from 'pg'
import { createListener, openLocks } from '../../../src/postgres/listen.ts'
import { accounts } from '../../../src/projections/accounts/account.ts'
import { links } from '../../../src/projections/links/link.ts'
import { dropOutdated, projectorLock, readerLock } from '../../../src/projections/engine/outdated.ts'
import type { Projection } from '../../../src/projections/engine/projection.ts'
import { newGeneration, prune, tableNames } from '../../../src/projections/engine/tables.ts'
import { until } from '../../support/client.ts'
import { checkpointsOf, history } from '../../support/log.ts'
import { randomFrom, seed } from '../../support/faults.ts'
import { projectorStage } from '../../support/projector.ts'

/** What the next release could have: one table less, and one of another name. */
const newer: Projection = { ...links, version: links.version + 1 }
const older: Projection = {
  ...links,
  tables: { ...links.tables, former_links: (t) => `create table ${t} (id int)` },
}

describe('the tables of an older version', () => {
  const { log, start, caughtUp, build } = projectorStage()
  beforeEach(async () => {
    await log().append(history(randomFrom(seed), 50))
    await build([older])
  })

  const tables = async () => {
    const { rows } = await log().db.raw<{ rows: { name: string }[] }>(
      `select relname as name from pg_class where relnamespace = 'read'::regnamespace and relkind = 'r' order by 1`,
    )
    return rows.map(({ name }) => name).filter((name) => name.includes('link'))
  }
  const of = ({ version }: Projection, ...names: readonly string[]) => names.map((name) => `${name}_v${version}_1`)
  const oldTables = of(older, 'former_links', ...Object.keys(links.tables))
  const newTables = of(newer, ...Object.keys(links.tables))
  const drop = () => dropOutdated(log().db, [newer, accounts])

  it('are dropped once those of the newer version are live, also tables that it no longer has', async () => {
    await drop()
    expect(await tables()).to.have.members(oldTables)
    await newGeneration(log().db, newer, log().store.logId)
    await drop()
    expect(await tables(), 'while the new ones are being filled').to.have.members([...oldTables, ...newTables])
    await build([newer])
    await drop()
    expect((await tables()).filter((name) => oldTables.includes(name))).to.deep.equal([])
    expect((await checkpointsOf(log().db, newer)).every(({ version }) => version === newer.version)).to.equal(true)
  })

  it('are kept while a process of the older version fills them', async () => {
    await build([newer])
    const locks = await openLocks(log().connection, 'older')
    await locks.acquire([projectorLock(older)])
    await drop()
    expect(await tables()).to.include.members(oldTables)
    await locks.close()
    await until(
      async () => {
        await drop()
        return tables()
      },
      (found) => found.length === newTables.length,
    )
    expect(await tables()).to.have.members(newTables)
  })

  it('are kept while a process reads them, and by one that does not report its tables', async () => {
    await build([newer])
    const listen = async (name: string, projection: Projection) => {
      const listener = createListener(log().connection, name, [readerLock(projection)])
      listener.start({ message: () => {}, up: () => {}, lost: () => {} })
      await until(async () => listener.up(), Boolean)
      return listener
    }
    const ours = await listen('linkledger-aaaaaaaaaaaa', newer)
    const theirs = await listen('linkledger-bbbbbbbbbbbb', older)
    await drop()
    expect(await tables(), 'a reader of the older version').to.include.members(oldTables)
    await theirs.close()
    const release010 = log().connect('linkledger-cccccccccccc')
    await release010.raw('select 1')
    await drop()
    expect(await tables(), 'a process without a lock').to.include.members(oldTables)
    await release010.destroy()
    await until(
      async () => {
        await drop()
        return tables()
      },
      (found) => found.length === newTables.length,
    )
    expect(await tables()).to.have.members(newTables)
    await ours.close()
  })

  it('are never dropped by a process of the older version', async () => {
    await build([newer])
    await dropOutdated(log().db, [older])
    expect(await tables()).to.have.members([...oldTables, ...newTables])
  })

  it('are dropped although an earlier step fails, and the failure is reported', async () => {
    const failures: unknown[] = []
    const watchPruning = (work: () => Promise<void>) => async () => {
      await work().catch((error: unknown) => failures.push(error))
    }
    const broken = Object.defineProperty({ ...accounts }, 'name', {
      get: () => {
        throw new Error('a step that fails')
      },
    })
    start({ projections: [newer], leftOut: [broken], pruneInterval: 20, keepOutdated: 50, watchPruning })
    await until(tables, (found) => !found.some((name) => oldTables.includes(name)))
    const [failure] = await until(
      async () => failures,
      ({ length }) => length > 0,
    )
    expect(String(failure)).to.include('a step that fails')
  })

  it('are dropped by the projector some time after it took over', async () => {
    const kept = start({ projections: [newer], pruneInterval: 20 })
    await caughtUp(kept, 'domain')
    await kept.stop()
    expect(await tables()).to.include.members(oldTables)
    const projector = start({ projections: [newer], pruneInterval: 20, keepOutdated: 50 })
    await until(tables, (found) => !found.some((name) => oldTables.includes(name)))
    expect(await tables()).to.have.members(newTables)
    await projector.stop()
  })
})

describe('the tables before a rebuild', () => {
  const { log, build } = projectorStage()

  it('are dropped later, and nothing waits for it, while something such as a backup still reads them', async () => {
    await build([links])
    await build([links])
    const backup = new pg.Client(log().connection)
    await backup.connect()
    try {
      await backup.query('begin')
      await backup.query(`select from ${tableNames(links, 1)('links')}`)
      const refused = await prune(log().db, [links]).catch((error: { code?: string }) => error.code)
      expect(refused).to.equal('55P03')
      expect(await checkpointsOf(log().db, links)).to.have.length(2)
    } finally {
      await backup.end()
    }
    await prune(log().db, [links])
    expect(await checkpointsOf(log().db, links)).to.have.length(1)
  })
})
