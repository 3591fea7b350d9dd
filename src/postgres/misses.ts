import { type Miss, type Misses, missKinds, otherPath } from '../lib/misses.ts'
import type { Database } from './database.ts'

/** days that they are kept */
const keptDays = 90
/** paths of an account and a day, on all its hosts; each kind has one row more of a host, for its other paths */
const mostPaths = 1000 - missKinds.length
/** misses of different addresses that a process counts before it writes */
const mostWaiting = 10_000
/** One process writes at a time, so that the limit holds. */
const writeLock = 7275472

const quarterMs = 900_000
const quartersOfDay = 96

interface Counted extends Omit<Miss, 'byPerson'> {
  /** of an hour, since 1970 */
  readonly quarter: number
  count: number
  people: number
}

/** SQL of the place of a quarter in the lists of the row that has its day */
const place = 'coalesce(array_position(m.quarters, excluded.quarters[1]), cardinality(m.quarters) + 1)'
/** SQL that adds what is given to one of these lists */
const added = (list: string) => `${list}[${place}] = coalesce(m.${list}[${place}], 0) + excluded.${list}[1]`

/** Adds what was counted in one quarter of an hour. */
const storeQuarter = async (tx: Database, quarter: number, rows: readonly Counted[]) => {
  const column = <K extends keyof Counted>(name: K) => rows.map((row) => row[name])
  await tx.raw(
    `with given as (
         select ?::date as day, g.* from unnest(?::bigint[], ?::text[], ?::text[], ?::text[], ?::bigint[], ?::bigint[])
           as g (account, host, path, kind, count, people)),
       kept as (
         select g.*, g.path = '${otherPath}' or exists (
           select from state.misses m where (m.account, m.day, m.host, m.path, m.kind) = (g.account, g.day, g.host, g.path, g.kind)) as has_row,
           (select count(*) from state.misses m where (m.account, m.day) = (g.account, g.day) and m.path <> '${otherPath}') as rows
         from given g),
       placed as (
         select *, has_row or rows + row_number() over (partition by account, day, has_row order by people desc, count desc, host, path) <= ${mostPaths} as fits
         from kept)
       insert into state.misses as m (account, day, host, path, kind, count, people, quarters, quarter_counts, quarter_people)
       select account, day, host, case when fits then path else '${otherPath}' end as place, kind, sum(count), sum(people),
         array[?::smallint], array[sum(count)::bigint], array[sum(people)::bigint]
       from placed group by account, day, host, place, kind
       on conflict (account, day, host, path, kind) do update
         set count = m.count + excluded.count, people = m.people + excluded.people,
           quarters[${place}] = excluded.quarters[1], ${added('quarter_counts')}, ${added('quarter_people')}`,
    [
      new Date(quarter * quarterMs).toISOString().slice(0, 10),
      column('account'),
      column('host'),
      column('path'),
      column('kind'),
      column('count'),
      column('people'),
      quarter % quartersOfDay,
    ],
  )
}

const store = (db: Database, rows: readonly Counted[]) =>
  db.transaction(async (tx) => {
    await tx.raw('select pg_advisory_xact_lock(?)', [writeLock])
    for (const quarter of new Set(rows.map((row) => row.quarter)))
      await storeQuarter(
        tx,
        quarter,
        rows.filter((row) => row.quarter === quarter),
      )
  })

/** Counts addresses that lead nowhere in memory. */
export const openMisses = (db: Database, now: () => number): Misses => {
  let waiting = new Map<string, Counted>()
  const add = (row: Counted): void => {
    const { account, quarter, host, path, kind } = row
    const key = [account, quarter, host, kind, path].join('\n')
    const known = waiting.get(key)
    if (!known && waiting.size >= mostWaiting && path !== otherPath) return add({ ...row, path: otherPath })
    if (!known) return void waiting.set(key, row)
    known.count += row.count
    known.people += row.people
  }
  return {
    note: ({ byPerson, ...miss }) =>
      add({ ...miss, quarter: Math.floor(now() / quarterMs), count: 1, people: byPerson ? 1 : 0 }),
    write: async () => {
      if (waiting.size === 0) return
      const rows = [...waiting.values()]
      waiting = new Map()
      try {
        await store(db, rows)
      } catch (error) {
        rows.forEach(add)
        throw error
      }
    },
  }
}

/** Deletes misses that are no longer kept, and those of accounts whose key was destroyed. */
export const deleteOldMisses = async (db: Database): Promise<void> => {
  await db.raw(
    `delete from state.misses m where day < (now() at time zone 'UTC')::date - ${keptDays}
     or exists (select from state.destroyed_keys d where d.name = 'account-' || m.account)`,
  )
}
