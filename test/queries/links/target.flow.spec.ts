import { expect } from 'chai'
import type { DomainEvent } from '../../../src/events/index.ts'
import { type Database, openDatabase, sessions } from '../../../src/postgres/database.ts'
import { projections } from '../../../src/projections/index.ts'
import { changesOf, writeChanges } from '../../../src/projections/engine/projection.ts'
import { newGeneration, tableNames } from '../../../src/projections/engine/tables.ts'
import { findPublicTargets } from '../../../src/queries/links/target.ts'
import { linkCreated, recorded } from '../../support/events.ts'
import { openTestLog, type TestLog } from '../../support/log.ts'

const many = 1000

/**
 * Writes the events into new tables of all projections, and gives the planner its statistics. Returns the names of the
 * tables.
 */
const write = async (log: TestLog, events: readonly DomainEvent[]) => {
  const names = new Map<string, string>()
  for (const projection of projections) {
    if (!('on' in projection)) continue
    const named = tableNames(projection, (await newGeneration(log.db, projection, log.store.logId)).generation)
    await writeChanges(
      log.db,
      named,
      recorded(events).flatMap((event) => changesOf(projection, event)),
    )
    for (const name of Object.keys(projection.tables)) {
      names.set(name, named(name))
      await log.db.raw(`analyze ${named(name)}`)
    }
  }
  return (name: string) => names.get(name) ?? name
}
const personal = { email: 'ann@example.com', username: 'ann', password: 'scrypt' }
const registered = {
  type: 'AccountRegistered',
  data: { id: 1, ...personal, emailToken: 'e', usernameToken: 'u' },
} as const
const each = (make: (n: number) => DomainEvent) => Array.from({ length: many }, (_, n) => make(n + 1))

describe('the target of a public address', () => {
  let log: TestLog
  let table: (name: string) => string
  before(async () => {
    log = await openTestLog()
    table = await write(log, [
      registered,
      // an alias that many domains have, one that was created and deleted many times, and others
      ...each((n) => linkCreated({ id: n, domain: n, alias: 'home' })),
      ...each((n) => linkCreated({ id: many + n, alias: 'promo' })),
      ...each((n) => ({ type: 'LinkDeleted', data: { id: many + n } })),
      ...each((n) => linkCreated({ id: 2 * many + n, alias: `a-${n}` })),
      linkCreated({ id: 3 * many + 1, alias: 'promo' }),
    ])
  })
  after(() => log.close())

  const rowsRead = async (tx: Database) => {
    const { rows } = await tx.raw<{ rows: { n: string }[] }>(
      `select seq_tup_read + idx_tup_fetch as n from pg_stat_xact_user_tables where relid = ?::regclass`,
      [table('links')],
    )
    return Number(rows[0]?.n)
  }
  /** Returns the id of the link at an address, and how many rows of links were read: its address, and what it has. */
  const find = (domain: number | null, alias: string) =>
    log.db.transaction(async (tx: Database) => {
      // PostgreSQL may not have reported earlier reads of this connection yet
      const before = await rowsRead(tx)
      const [target] = await findPublicTargets({ db: tx, table }, [{ domain, aliasKey: alias }])
      const read = (await rowsRead(tx)) - before
      return { link: target && 'link' in target ? target.link : undefined, read }
    })

  it('is found without reading the links of other domains with the same alias', async () => {
    expect(await find(7, 'home')).to.deep.equal({ link: 7, read: 2 })
    expect(await find(null, 'home')).to.deep.equal({ link: undefined, read: 0 })
  })

  it('is found without reading the deleted links at the same address', async () => {
    expect(await find(null, 'promo')).to.deep.equal({ link: 3 * many + 1, read: 2 })
  })

  /** Opens a database for look-ups, as redirects have it. */
  const openLookUps = ({ connection }: TestLog) =>
    openDatabase(connection, { name: 'test', max: 1, timeout: 30_000, onError: () => {}, begin: sessions.byIndex })

  it('is planned once, however many are looked up at a time', async () => {
    const db = openLookUps(log)
    try {
      for (const aliases of [['a-1'], ['a-2'], ['a-3', 'a-4'], ['a-5'], ['a-6'], ['a-7'], ['a-8']])
        await findPublicTargets(
          { db, table },
          aliases.map((aliasKey) => ({ domain: null, aliasKey })),
        )
      const { rows } = await db.raw<{ rows: { custom: string; generic: string }[] }>(
        'select sum(custom_plans) as custom, sum(generic_plans) as generic from pg_prepared_statements',
      )
      expect(rows).to.deep.equal([{ custom: '0', generic: '7' }])
    } finally {
      await db.destroy()
    }
  })

  it('is found by the index also with a plan that was made while there were few links', async () => {
    const small = await openTestLog()
    const db = openLookUps(small)
    try {
      const named = await write(small, [registered, linkCreated({ id: 1, alias: 'first' })])
      const find = (aliases: readonly string[]) =>
        findPublicTargets(
          { db, table: named },
          aliases.map((aliasKey) => ({ domain: null, aliasKey })),
        )
      // PostgreSQL keeps a plan after five executions
      for (let n = 0; n < 10; n++) await find(Array.from({ length: 30 }, (_, i) => `unknown-${n}-${i}`))
      const links = recorded(each((n) => linkCreated({ id: n + 1, alias: `a-${n}` })))
      const projection = projections.find(({ name }) => name === 'links')
      if (!projection || !('on' in projection)) throw new Error('the projection of links handles no events')
      await writeChanges(
        small.db,
        named,
        links.flatMap((event) => changesOf(projection, event)),
      )
      await db.transaction(async (tx: Database) => {
        const sql = 'select seq_tup_read as n from pg_stat_xact_user_tables where relid = ?::regclass'
        const read = async () => Number((await tx.raw<{ rows: { n: string }[] }>(sql, [named('links')])).rows[0]?.n)
        const before = await read()
        const [target] = await findPublicTargets({ db: tx, table: named }, [{ domain: null, aliasKey: 'a-500' }])
        expect(target && 'link' in target && target.link).to.equal(501)
        expect((await read()) - before).to.equal(0)
      })
    } finally {
      await db.destroy()
      await small.close()
    }
  })
})
