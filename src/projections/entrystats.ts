import type { Knex } from 'knex'
import { bioRules, type Click } from '../events/click.ts'
import { column } from './columns.ts'
import type { TableNames } from './projection.ts'

/** Value of `entry` in the row of all entries of a page, those that were deleted included. */
export const allEntries = 0

/**
 * Clicks on the entries of bio pages. A click on an entry that leads to a short link counts for the link too, so that the entries have
 * counters and first visits of their own.
 */
export const entryTables = {
  entry_stats: (t: string) => `
    create table ${t} (
      bio bigint, entry int, clicks bigint not null, uniques bigint not null, visits bigint not null, primary key (bio, entry)
    ) with (fillfactor = 80)`,
  entry_visitors: (t: string) =>
    `create table ${t} (bio bigint, entry int, visitor bigint, primary key (bio, entry, visitor))`,
} as const

interface Visit {
  readonly click: Click
  readonly visitor: bigint
}
interface Counter {
  readonly bio: number
  readonly entry: number
  readonly visitors: Set<bigint>
  clicks: number
  visits: number
}

/** Returns what a batch adds to each entry and to all entries of its page, in the order of their keys. */
const countersOf = (visits: readonly Visit[]): readonly Counter[] => {
  const counters = new Map<string, Counter>()
  for (const { click, visitor } of visits) {
    const { source, rule } = click
    if (source.kind !== 'bio' || rule === bioRules.view) continue
    // a recorder of an older release drops the id of the entry
    for (const entry of new Set([allEntries, source.entry ?? allEntries])) {
      const key = `${source.id}/${entry}`
      const counter = counters.get(key) ?? { bio: source.id, entry, visitors: new Set(), clicks: 0, visits: 0 }
      counters.set(key, counter)
      counter.visits++
      if (click.class !== 'human') continue
      counter.clicks++
      counter.visitors.add(visitor)
    }
  }
  return [...counters.values()].toSorted((a, b) => a.bio - b.bio || a.entry - b.entry)
}

/** Stores the first visits and returns how many each entry has, by `bio/entry`. */
const firstVisits = async (tx: Knex, table: string, counters: readonly Counter[]) => {
  const firsts = counters.flatMap(({ bio, entry, visitors }) =>
    [...visitors].map((visitor) => ({ bio, entry, visitor })),
  )
  const { rows } = await tx.raw<{ rows: { bio: string; entry: number; n: string }[] }>(
    `with added as (
       insert into ${table} (bio, entry, visitor) select * from unnest(?::bigint[], ?::int[], ?::bigint[])
       on conflict do nothing returning bio, entry
     ) select bio, entry, count(*) as n from added group by 1, 2`,
    [column(firsts, ({ bio }) => bio), column(firsts, ({ entry }) => entry), column(firsts, ({ visitor }) => visitor)],
  )
  return new Map(rows.map(({ bio, entry, n }) => [`${bio}/${entry}`, Number(n)]))
}

/** Adds the clicks of a batch to the counters of the entries that were followed. */
export const countEntries = async (tx: Knex, names: TableNames, visits: readonly Visit[]) => {
  const counters = countersOf(visits)
  if (counters.length === 0) return
  const uniques = await firstVisits(tx, names('entry_visitors'), counters)
  const rows = counters.map((counter) => ({ ...counter, uniques: uniques.get(`${counter.bio}/${counter.entry}`) ?? 0 }))
  await tx.raw(
    `insert into ${names('entry_stats')} as s (bio, entry, clicks, uniques, visits)
     select * from unnest(?::bigint[], ?::int[], ?::bigint[], ?::bigint[], ?::bigint[])
     on conflict (bio, entry) do update set
       clicks = s.clicks + excluded.clicks, uniques = s.uniques + excluded.uniques, visits = s.visits + excluded.visits`,
    (['bio', 'entry', 'clicks', 'uniques', 'visits'] as const).map((name) => column(rows, (row) => row[name])),
  )
}
