import type { Knex } from 'knex'
import { aboveViews, endOfPartition, isClick, monthStart, subjects } from './clickfacts.ts'
import { column } from '../engine/columns.ts'
import { dims, topDimensions } from './labels.ts'
import type { TableNames } from '../engine/projection.ts'
import { clicksPosition } from './rolls.ts'
import { earliest, orAdd, rollUp } from './rollup.ts'

/**
 * The first minute whose facts are kept, once facts were dropped, and the position of the newest event that a dropped
 * fact is of: before it, statistics are not known any more. For a link that had no roll-ups then, `link_stats` has
 * `since`.
 */
export const retentionTables = {
  click_horizon: (t: string) => `create table ${t} (minute int not null, position bigint not null)`,
} as const

/** Runs in a transaction in which no projector writes. */
export type Locked = <T>(work: (tx: Knex) => Promise<T>) => Promise<T>

interface Dropping {
  readonly locked: Locked
  readonly names: TableNames
  /** the first minute to keep */
  readonly horizon: number
  /** links or accounts in one transaction */
  readonly subjectsAtOnce: number
  /** pages of a partition in one transaction */
  readonly pagesAtOnce: number
}

/** Returns the first minute to keep: the start of the month so many months before this one. */
export const horizonOf = (months: number, now: Date): number => monthStart(now.getTime() / 60_000, -months)

/**
 * Rolls up what is before the horizon: of links what had roll-ups already; of accounts everything, since their
 * questions need it. An account without visits since its last roll-up is marked, too, so that the facts of its links
 * may go. Returns whether there may be more.
 */
const rollOld = async (tx: Knex, key: 'link' | 'account', { names, horizon, subjectsAtOnce }: Dropping) => {
  const table = names(`${key}_stats`)
  const chosen = {
    link: `s.rolled < ${horizon} and exists (
      select from ${names('clicks')} c where c.link = s.link and c.minute >= s.rolled and c.minute < ${horizon})`,
    account: `coalesce(s.rolled, ${earliest}) < ${horizon} and exists (
      select from ${names('clicks')} c where c.account = s.account and c.link > ${aboveViews} and c.minute < ${horizon})`,
  }
  const { rows } = await tx.raw<{ rows: { id: string; rolled: number | null }[] }>(
    `select s.${key} as id, s.rolled from ${table} s where ${chosen[key]} order by 1 limit ${subjectsAtOnce}`,
  )
  if (rows.length === 0) return false
  const old = rows.map(({ id, rolled }) => ({
    subject: key === 'link' ? Number(id) : subjects.account(Number(id)),
    before: { rolled, tail: 0 },
    after: { rolled: horizon, tail: 0 },
    visits: [],
  }))
  await rollUp(tx, names, old, 0n)
  await tx.raw(`update ${table} set rolled = ${horizon} where ${key} = any(?::bigint[])`, [
    column(rows, ({ id }) => id),
  ])
  return rows.length === subjectsAtOnce
}

/**
 * Moves the facts of links without roll-ups from a partition to `tops`, where a link's totals find them. For a question
 * about a time before the horizon they are gone, which `since` says. Facts of an account that is not rolled up to the
 * horizon stay.
 */
const moveOld = (
  tx: Knex,
  partition: string,
  pages: { readonly from: number; readonly to: number },
  { names, horizon }: Dropping,
) =>
  tx.raw(
    `with old as (
       delete from ${partition} c using ${names('link_stats')} s
       where c.ctid >= '(${pages.from},0)' and c.ctid < '(${pages.to},0)' and s.link = c.link and s.rolled is null and (
         c.link <= ${aboveViews} or c.account < 0 or exists (select from ${names('account_stats')} a where a.account = c.account and a.rolled >= ${horizon}))
       returning c.*
     ), marked as (
       update ${names('link_stats')} s set since = ${horizon} where link in (select link from old) and since is distinct from ${horizon}
     )
     insert into ${names('tops')} as t (subject, dim, label, clicks)
     select link, dim, label, count(*) from old
     cross join lateral (values ${topDimensions.map((dim) => `(${dims[dim]}::smallint, ${dim}::int)`).join()}) as l (dim, label)
     where ${isClick} group by 1, 2, 3
     ${orAdd('subject, dim, label', ['clicks'])}`,
  )

/**
 * Returns the position of the newest event that some partitions have facts of. Visits of other services that might not
 * be kept one by one when they were recorded are known without their facts: see `importedvisits.ts`.
 */
const newestPosition = async (tx: Knex, names: TableNames, partitions: readonly string[]) => {
  const newest = partitions.map(
    (partition) => `
    select max(seq) / 1000 as position from ${partition} c
    where not exists (select from ${names('visit_imports')} i where i.position = c.seq / 1000 and c.minute < i.since)`,
  )
  const { rows } = await tx.raw<{ rows: { position: string | null }[] }>(
    `select max(position) as position from (${[...newest, `select max(position) from ${names('click_horizon')}`].join(' union all ')}) p`,
  )
  return BigInt(rows[0]?.position ?? 0)
}

const pageCount = async (tx: Knex, partition: string) => {
  const { rows } = await tx.raw<{ rows: { n: string }[] }>(
    `select pg_relation_size(?::regclass) / current_setting('block_size')::int as n`,
    [partition],
  )
  return Number(rows[0]?.n ?? 0)
}

/**
 * Writes down that links without a roll-up at the position of the horizon have one by now: their facts before the
 * horizon are in the roll-ups only. The facts are still there, so that the view counts what was known then.
 */
const traceOld = async (tx: Knex, names: TableNames, horizon: number, position: bigint) => {
  await tx.raw(`select set_config('${clicksPosition}', ?, true)`, [position.toString()])
  await tx.raw(
    `insert into ${names('rolls')} (subject, position, rolled, hi, clicks, uniques, visits)
     select link, ${position}, ${horizon}, greatest(hi, ${horizon}), clicks, uniques, visits from ${names('link_stats')}_at
     where link = any(array(
       select s.link from ${names('link_stats')} s where s.rolled is not null
       and not exists (select from ${names('rolls')} r where r.subject = s.link and r.position <= ${position} and r.rolled is not null)
       and exists (select from ${names('clicks')} c where c.link = s.link and c.minute < ${horizon})))`,
  )
}

const rollAll = async (run: Locked, options: Dropping) => {
  for (const key of ['link', 'account'] as const) while (await run((tx) => rollOld(tx, key, options)));
}

/** Drops the partitions of months before the horizon, and returns their names. Totals keep what they counted. */
export const dropOldFacts = async (options: Dropping): Promise<readonly string[]> => {
  const { locked, names, horizon, pagesAtOnce } = options
  const partitions = await locked(async (tx) => {
    const { rows } = await tx.raw<{ rows: { name: string }[] }>(
      `select inhrelid::regclass::text as name from pg_inherits where inhparent = ?::regclass order by 1`,
      [names('clicks')],
    )
    return rows.map(({ name }) => name).filter((name) => endOfPartition(name) <= horizon)
  })
  if (partitions.length === 0) return []
  const before = await locked((tx) => newestPosition(tx, names, partitions))
  // most of the work is done in small transactions, between which the projector goes on
  await rollAll(locked, options)
  for (const partition of partitions) {
    const pages = await locked((tx) => pageCount(tx, partition))
    for (let from = 0; from < pages; from += pagesAtOnce)
      await locked((tx) => moveOld(tx, partition, { from, to: from + pagesAtOnce }, options))
  }
  await locked(async (tx) => {
    // what was recorded meanwhile
    await rollAll((work) => work(tx), options)
    const newest = await newestPosition(tx, names, partitions)
    const position = newest > before ? newest : before
    await traceOld(tx, names, horizon, position)
    for (const partition of partitions) {
      await moveOld(tx, partition, { from: 0, to: await pageCount(tx, partition) }, options)
      await tx.raw(`drop table ${partition}`)
    }
    // their visits are gone
    for (const table of ['corrections', 'withdrawn_visits'])
      await tx.raw(`delete from ${names(table)} where minute < ${horizon}`)
    await tx.raw(
      `delete from ${names('click_horizon')}; insert into ${names('click_horizon')} values (${horizon}, ${position})`,
    )
  })
  return partitions
}
