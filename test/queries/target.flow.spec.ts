import { expect } from 'chai'
import type { DomainEvent } from '../../src/events/index.ts'
import type { Database } from '../../src/postgres/database.ts'
import { projections } from '../../src/projections/index.ts'
import { changesOf, writeChanges } from '../../src/projections/projection.ts'
import { newGeneration, tableNames } from '../../src/projections/tables.ts'
import { findPublicTargets } from '../../src/queries/target.ts'
import { linkCreated, recorded } from '../support/events.ts'
import { openTestLog, type TestLog } from '../support/log.ts'

const many = 1000

describe('the target of a public address', () => {
  let log: TestLog
  const names = new Map<string, string>()
  const table = (name: string) => names.get(name) ?? name

  /** Writes the events into new tables of all projections, and gives the planner its statistics. */
  const write = async (events: readonly DomainEvent[]) => {
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
  }
  before(async () => {
    log = await openTestLog()
    const personal = { email: 'ann@example.com', username: 'ann', password: 'scrypt' }
    const tokens = { emailToken: 'e', usernameToken: 'u' }
    const each = (make: (n: number) => DomainEvent) => Array.from({ length: many }, (_, n) => make(n + 1))
    await write([
      { type: 'AccountRegistered', data: { id: 1, ...personal, ...tokens } },
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
  /** Returns the id of the link at an address, and how many links were read to find it. */
  const find = (domain: number | null, alias: string) =>
    log.db.transaction(async (tx: Database) => {
      // PostgreSQL may not have reported earlier reads of this connection yet
      const before = await rowsRead(tx)
      const [target] = await findPublicTargets({ db: tx, table }, [{ domain, aliasKey: alias }])
      const read = (await rowsRead(tx)) - before
      return { link: target && 'link' in target ? target.link : undefined, read }
    })

  it('is found without reading the links of other domains with the same alias (fault 96)', async () => {
    expect(await find(7, 'home')).to.deep.equal({ link: 7, read: 1 })
    expect(await find(null, 'home')).to.deep.equal({ link: undefined, read: 0 })
  })

  it('is found without reading the deleted links at the same address (fault 96)', async () => {
    expect(await find(null, 'promo')).to.deep.equal({ link: 3 * many + 1, read: 1 })
  })
})
