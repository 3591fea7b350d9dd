import { setTimeout as sleep } from 'node:timers/promises'
import type { Knex } from 'knex'
import type { Filter } from '../../events/store.ts'
import { Behind } from '../../lib/unavailable.ts'
import { beginSnapshot } from '../../postgres/readsnapshot.ts'
import { past, projections } from '../../projections/index.ts'
import { domainPosition, viewOf } from '../../projections/history/past.ts'
import type { Projection, TableNames } from '../../projections/engine/projection.ts'
import { clicksPosition, viewedTables } from '../../projections/statistics/rolls.ts'
import { stats } from '../../projections/statistics/stats.ts'
import { type Checkpoint, checkpoints, type LiveTables } from '../../projections/engine/tables.ts'
import { pastOf } from '../../projections/history/versions.ts'
import type { Reader } from '../reader.ts'

/** The newest event of each kind that tables have, by its position in the log. */
export interface Contained {
  readonly domain: bigint
  readonly clicks: bigint
}
/** The tables as they are or were at one moment. */
export interface TablesAt {
  readonly reader: Reader
  readonly contained: Contained
  /** Has to be called once nothing is read any more; never throws. */
  readonly end: () => Promise<void>
}

export interface MomentOptions {
  readonly db: Knex
  readonly tables: Pick<LiveTables, 'name' | 'generation'>
  /** Returns the position of the newest event of a kind. */
  readonly head: (filter: Filter) => Promise<bigint>
}

/** A table is not kept as it was. */
export class NoPast extends Error {
  override readonly name = 'NoPast'
}

/** Clicks up to an earlier position are no longer known one by one. */
export class ClicksDropped extends Error {
  override readonly name = 'ClicksDropped'
  /** the first position from which on statistics are known */
  readonly position: bigint
  constructor(position: bigint) {
    super('clicks of that time are no longer kept one by one')
    this.position = position
  }
}

type Filled = Pick<Checkpoint, 'projection' | 'version' | 'generation' | 'position'>
const readPositions = `select projection, version, generation, position from ${checkpoints}`

/** Begins to read, and finds out up to where the tables of a projection are filled, as this process reads them. */
const begin = async ({ db, tables }: Pick<MomentOptions, 'db' | 'tables'>) => {
  const { db: tx, first, end } = await beginSnapshot<Filled>(db, readPositions)
  const filled = new Map(first.map((row) => [`${row.projection} ${row.version}/${row.generation}`, row.position]))
  const position = ({ name, version }: Projection) =>
    BigInt(filled.get(`${name} ${version}/${tables.generation({ name })}`) ?? 0)
  return { tx, position, end }
}

const domainProjections = projections.filter(({ filter }) => filter === 'domain')
const greatest = (a: bigint, b: bigint) => (a > b ? a : b)

/** Begins to read the tables as they are. A halted projection has fewer events than the answer says. */
export const beginPresent = async (options: MomentOptions): Promise<TablesAt> => {
  const { tx, position, end } = await begin(options)
  const contained = { domain: domainProjections.map(position).reduce(greatest, 0n), clicks: position(stats) }
  const reader: Reader = {
    db: tx,
    table: options.tables.name,
    oneMoment: true,
    upTo: contained.domain,
    newestClicks: contained.clicks,
  }
  return { reader, contained, end }
}

/** Tables of clicks that questions about an earlier position read as they are. */
const facts: readonly string[] = [
  'click_horizon',
  'corrected_days',
  'corrected_quarters',
  'corrections',
  'days',
  'details',
  'labels',
  'link_routes',
  'quarters',
  'rolls',
  'route_rolls',
  'strays',
  'tops',
  'visit_imports',
]

/** Tables with a row for each event, at its position: questions about an earlier position leave out later rows. */
const logs: readonly string[] = ['account_events', 'lost_clicks', 'reclassifications', 'resource_events']

const earlierNames =
  (live: TableNames): TableNames =>
  (table) => {
    if (facts.includes(table) || logs.includes(table) || table in past.tables) return live(table)
    if (viewedTables.includes(table)) return viewOf(live(table))
    const versions = pastOf(table)
    if (!(versions in past.tables)) throw new NoPast(`the table ${table} is not kept as it was`)
    return viewOf(live(versions))
  }

/** Has a transaction read the tables as they were after an event of each kind. */
export const readAt = async (tx: Knex, live: TableNames, at: Contained): Promise<Reader> => {
  await tx.raw(`select set_config('${domainPosition}', ?, true), set_config('${clicksPosition}', ?, true)`, [
    at.domain.toString(),
    at.clicks.toString(),
  ])
  const own = { db: tx, table: earlierNames(live), present: live, oneMoment: true } as const
  return { ...own, upTo: at.domain, clicksUpTo: at.clicks, newestClicks: at.clicks }
}

/** the interval and the time to wait for tables that do not have the events yet, in ms */
const [interval, timeoutMs] = [25, 2000]

/**
 * Begins to read the tables as they were after an event of each kind. Throws `ClicksDropped`, and `Behind` while
 * they are behind.
 */
export const beginPast = async (options: MomentOptions, at: Contained): Promise<TablesAt> => {
  const { tables, head } = options
  const latest = performance.now() + timeoutMs
  const attempt = async (): Promise<TablesAt | undefined> => {
    const { tx, position, end } = await begin(options)
    try {
      const has = async (projection: Projection, wanted: bigint) =>
        position(projection) >= wanted || position(projection) >= (await head(projection.filter))
      if (!(await has(past, at.domain)) || !(await has(stats, at.clicks))) {
        await end()
        return undefined
      }
      const { rows } = await tx.raw<{ rows: { position: string | null }[] }>(
        `select max(position) as position from ${tables.name('click_horizon')}`,
      )
      const dropped = BigInt(rows[0]?.position ?? 0)
      if (at.clicks < dropped) throw new ClicksDropped(dropped)
      const reader = await readAt(tx, tables.name, at)
      return { reader, contained: at, end }
    } catch (error) {
      await end()
      throw error
    }
  }
  for (;;) {
    const moment = await attempt()
    if (moment) return moment
    if (performance.now() > latest) throw new Behind('the tables of the past do not have these events yet')
    await sleep(interval)
  }
}
