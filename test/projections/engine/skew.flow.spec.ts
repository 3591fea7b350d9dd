import { expect } from 'chai'
import type { Click } from '../../../src/events/statistics/click.ts'
import type { Recorded } from '../../../src/events/event.ts'
import type { Event } from '../../../src/events/index.ts'
import type { Database } from '../../../src/postgres/database.ts'
import { changesOf, type TableNames } from '../../../src/projections/engine/projection.ts'
import { stats } from '../../../src/projections/statistics/stats.ts'
import { newGeneration, tableNames } from '../../../src/projections/engine/tables.ts'
import { clickSeries } from '../../../src/queries/statistics/series.ts'
import { at, click, clicked, recorded } from '../../support/events.ts'
import { openTestLog, type TestLog } from '../../support/log.ts'

const known = 20_000
const links = 1000

describe('statistics of very uneven clicks', () => {
  let log: TestLog
  let names: TableNames
  before(async () => {
    log = await openTestLog()
    names = tableNames(stats, (await newGeneration(log.db, stats, log.store.logId)).generation)
    // as far as the planner knows, one visitor has made all clicks, on one link
    await write(log.db, [Array.from({ length: known }, (_, i) => click({ at: at(i) }))])
    await log.db.raw(`analyze ${names('clicks')}; analyze ${names('link_stats')}; analyze ${names('labels')}`)
  })
  after(() => log.close())

  const write = async (tx: Database, batches: readonly (readonly Click[])[]) => {
    if ('on' in stats) throw new Error('statistics write by themselves')
    const events = recorded(batches.map((clicks) => clicked(...clicks))) as Recorded<Event<'LinkClicked'>>[]
    await stats.write(tx, names, events, changesOf)
  }
  const rowsRead = async (tx: Database) => {
    const { rows } = await tx.raw<{ rows: { n: string }[] }>(
      `select sum(seq_tup_read + coalesce(idx_tup_fetch, 0)) as n from pg_stat_xact_user_tables
       where relid = any(?::regclass[]) or relid in (select inhrelid from pg_inherits where inhparent = ?::regclass)`,
      [`{${names('visitors')},${names('link_stats')}}`, names('clicks')],
    )
    return Number(rows[0]?.n)
  }
  /** Returns the result of the work, and how many rows it has read. */
  const counted = <R>(work: (tx: Database) => Promise<R>) =>
    log.db.transaction(async (tx) => {
      // PostgreSQL may not have reported earlier reads of this connection yet
      const before = await rowsRead(tx)
      const result = await work(tx)
      return { result, read: (await rowsRead(tx)) - before }
    })
  const fresh = (n: number) =>
    click({ link: 1000 + (n % links), account: 2, visitor: n.toString(16), at: at(known + n) })

  it('are written without reading the clicks before', async () => {
    const { read } = await counted((tx) => write(tx, [Array.from({ length: links }, (_, i) => fresh(i))]))
    expect(read).to.equal(0)
    const counters = (await log.db(names('link_stats')).where({ account: 2 })) as { clicks: string; uniques: string }[]
    expect(counters.map(({ clicks, uniques }) => `${clicks} ${uniques}`)).to.deep.equal(Array(links).fill('1 1'))
  })

  it('are read without going through all links of the account for each click', async () => {
    await log.db.transaction((tx) => write(tx, [Array.from({ length: 1000 }, (_, i) => fresh(links + i))]))
    const options = { from: new Date(at(known)), to: new Date(at(known + 2 * links)), interval: 'day', by: [] } as const
    const { result, read } = await counted((tx) => clickSeries({ db: tx, table: names }, { account: 2 }, options))
    expect(result.total).to.include({ clicks: 2 * links, uniques: 2 * links })
    expect(read).to.be.at.most(2 * (known + 3 * links))
  })
})
