import type { Knex } from 'knex'
import { bioRules, type Click } from '../../events/statistics/click.ts'
import { positionOf } from './clickfacts.ts'
import { column } from '../engine/columns.ts'
import type { TableNames } from '../engine/projection.ts'

/** Value of `entry` in the row of all entries of a page, those that were deleted included. */
export const allEntries = 0

/**
 * Clicks on the entries of bio pages. A click on an entry that leads to a short link counts for the link too, so that
 * the entries have counters and first visits of their own.
 */
export const entryTables = {
  entry_stats: (t: string) => `
    create table ${t} (
      bio bigint, entry int, clicks bigint not null, uniques bigint not null, visits bigint not null, primary key (bio, entry)
    ) with (fillfactor = 80)`,
  entry_visitors: (t: string) => `
    create table ${t} (bio bigint, entry int, visitor bigint, clicks int not null, primary key (bio, entry, visitor)) with (fillfactor = 90)`,
  // what each event has added, by which the counters of an earlier position are known
  entry_log: (t: string) => `
    create table ${t} (
      bio bigint, entry int, position bigint, clicks int not null, uniques int not null, visits int not null, primary key (bio, entry, position))`,
} as const

interface Visit {
  readonly seq: bigint
  readonly click: Click
  readonly visitor: bigint
}
/** What an event adds to an entry. */
interface Counter {
  readonly bio: number
  readonly entry: number
  readonly position: bigint
  clicks: number
  uniques: number
  visits: number
}
/** A visit that came by an entry, and what an event adds by it, or takes. */
export interface EntryChange {
  readonly bio: number
  readonly entry: number
  readonly position: bigint
  readonly visitor: bigint
  readonly clicks: number
  readonly visits: number
}
/** The clicks that a batch adds to those of a visitor on an entry, and where the visitor is counted. */
interface Follower extends Pick<EntryChange, 'bio' | 'entry' | 'visitor'> {
  readonly counter: Counter
  clicks: number
}

const changeOf = ({ seq, click, visitor }: Visit): readonly EntryChange[] => {
  const { source, rule } = click
  if (source.kind !== 'bio' || rule === bioRules.view) return []
  // a recorder of an older release drops the id of the entry
  const entry = source.entry ?? allEntries
  const clicks = click.class === 'human' ? 1 : 0
  return [{ bio: source.id, entry, position: positionOf(seq), visitor, clicks, visits: 1 }]
}

/** Returns what changes each entry and all entries of its page, event by event. */
const countersOf = (changes: readonly EntryChange[]) => {
  const counters = new Map<string, Counter>()
  const followers = new Map<string, Follower>()
  for (const { bio, entry: one, position, visitor, clicks, visits } of changes)
    for (const entry of new Set([allEntries, one])) {
      const key = `${bio}/${entry}/${position}`
      const counter = counters.get(key) ?? { bio, entry, position, clicks: 0, uniques: 0, visits: 0 }
      counters.set(key, counter)
      counter.visits += visits
      if (clicks === 0) continue
      counter.clicks += clicks
      const who = `${bio}/${entry}/${visitor}`
      // the first event of the batch that has the visitor
      const follower = followers.get(who) ?? { bio, entry, visitor, counter, clicks: 0 }
      followers.set(who, follower)
      follower.clicks += clicks
    }
  return {
    counters: [...counters.values()].toSorted((a, b) => a.bio - b.bio || a.entry - b.entry),
    followers: [...followers.values()].filter((follower) => follower.clicks !== 0),
  }
}

/** Adds to the clicks of each visitor, and counts those who are new on an entry, or have no click on it any more. */
const countVisitors = async (tx: Knex, table: string, followers: readonly Follower[]) => {
  if (followers.length === 0) return
  const { rows } = await tx.raw<{ rows: { bio: string; entry: number; visitor: string; clicks: number }[] }>(
    `insert into ${table} as v (bio, entry, visitor, clicks)
     select * from unnest(?::bigint[], ?::int[], ?::bigint[], ?::int[]) order by 1, 2, 3
     on conflict (bio, entry, visitor) do update set clicks = v.clicks + excluded.clicks
     returning bio, entry, visitor, clicks`,
    (['bio', 'entry', 'visitor', 'clicks'] as const).map((name) => column(followers, (one) => one[name])),
  )
  const added = new Map(followers.map((one) => [`${one.bio}/${one.entry}/${one.visitor}`, one]))
  for (const { bio, entry, visitor, clicks } of rows) {
    const follower = added.get(`${bio}/${entry}/${visitor}`)
    if (follower) follower.counter.uniques += Math.sign(clicks) - Math.sign(clicks - follower.clicks)
  }
  const gone = rows.filter(({ clicks }) => clicks === 0)
  if (gone.length > 0)
    await tx.raw(
      `delete from ${table} v using unnest(?::bigint[], ?::int[], ?::bigint[]) as g (bio, entry, visitor)
       where (v.bio, v.entry, v.visitor) = (g.bio, g.entry, g.visitor)`,
      (['bio', 'entry', 'visitor'] as const).map((name) => column(gone, (row) => row[name])),
    )
}

/** Changes the counters of entries. */
export const changeEntries = async (tx: Knex, names: TableNames, changes: readonly EntryChange[]) => {
  const { counters, followers } = countersOf(changes)
  if (counters.length === 0) return
  await countVisitors(tx, names('entry_visitors'), followers)
  await tx.raw(
    `with added as (
       insert into ${names('entry_log')} (bio, entry, position, clicks, uniques, visits)
       select * from unnest(?::bigint[], ?::int[], ?::bigint[], ?::int[], ?::int[], ?::int[]) returning *
     )
     insert into ${names('entry_stats')} as s (bio, entry, clicks, uniques, visits)
     select bio, entry, sum(clicks), sum(uniques), sum(visits) from added group by 1, 2 order by 1, 2
     on conflict (bio, entry) do update set
       clicks = s.clicks + excluded.clicks, uniques = s.uniques + excluded.uniques, visits = s.visits + excluded.visits`,
    (['bio', 'entry', 'position', 'clicks', 'uniques', 'visits'] as const).map((name) =>
      column(counters, (counter) => counter[name]),
    ),
  )
}

/** Adds the clicks of a batch to the counters of the entries that were followed. */
export const countEntries = (tx: Knex, names: TableNames, visits: readonly Visit[]) =>
  changeEntries(tx, names, visits.flatMap(changeOf))
