import type { Knex } from 'knex'
import type { Recorded } from '../events/event.ts'
import type { DomainEvent } from '../events/index.ts'
import {
  aboveViews,
  type Clicked,
  factTables,
  insertFacts,
  minuteOf,
  seqOf,
  subjects,
  type Visit,
  visitsOf,
} from './clickfacts.ts'
import { column } from './columns.ts'
import { countEntries, entryTables } from './entrystats.ts'
import { labelIds, labelTables } from './labels.ts'
import type { Projection, TableNames } from './projection.ts'
import { type Progress, progressAfter, rollUp, rollupTables, type Subject } from './rollup.ts'
import { countRoutes, routeTables } from './routestats.ts'
import { retentionTables } from './retention.ts'

/** The visits of one event, and the minute in which the log has recorded it. */
interface Batch {
  readonly recorded: number
  readonly visits: readonly Visit[]
}
/** What a batch adds to the counters of a link, or of an account. */
interface Counter {
  readonly id: number
  readonly account: number
  readonly events: Map<Batch, Visit[]>
  clicks: number
  uniques: number
  visits: number
}
type Counted = 'link' | 'account'

/** Returns the counters of the links or of the accounts, in the order of their ids. */
const countersOf = (
  batches: readonly Batch[],
  uniques: ReadonlySet<Visit>,
  of: (visit: Visit) => number,
): Counter[] => {
  const counters = new Map<number, Counter>()
  for (const batch of batches)
    for (const visit of batch.visits) {
      const id = of(visit)
      const counter = counters.get(id) ?? {
        id,
        account: visit.click.account,
        events: new Map<Batch, Visit[]>(),
        clicks: 0,
        uniques: 0,
        visits: 0,
      }
      counters.set(id, counter)
      const own = counter.events.get(batch)
      if (own) own.push(visit)
      else counter.events.set(batch, [visit])
      counter.visits++
      if (visit.click.class === 'human') counter.clicks++
      if (uniques.has(visit)) counter.uniques++
    }
  return [...counters.values()].toSorted((a, b) => a.id - b.id)
}

/** Adds to the counters, and returns how far each link or account was rolled up before, by its id. */
const count = async (
  tx: Knex,
  table: string,
  key: Counted,
  counters: readonly Counter[],
): Promise<ReadonlyMap<number, Progress>> => {
  const columns = ['clicks', 'uniques', 'visits'] as const
  const account = key === 'link' ? ', account' : ''
  const { rows } = await tx.raw<{ rows: { id: string; rolled: number | null; tail: number }[] }>(
    `insert into ${table} as s (${key}${account}, ${columns.join()}, tail)
     select ${key}${account}, ${columns.join()}, visits from unnest(?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[])
       as c (${key}, ${key === 'link' ? 'account' : 'same'}, ${columns.join()})
     on conflict (${key}) do update set ${[...columns, 'tail'].map((name) => `${name} = s.${name} + excluded.${name}`).join()}
     returning ${key} as id, rolled, tail`,
    (['id', 'account', ...columns] as const).map((name) => column(counters, (counter) => counter[name])),
  )
  const added = new Map(counters.map(({ id, visits }) => [id, visits]))
  return new Map(
    rows.map(({ id, rolled, tail }) => [Number(id), { rolled, tail: tail - (added.get(Number(id)) ?? 0) }]),
  )
}

/** Counts the visits of links or accounts, and returns those that have visits to roll up. */
const countSubjects = async (
  tx: Knex,
  table: string,
  key: Counted,
  counters: readonly Counter[],
): Promise<readonly Subject[]> => {
  if (counters.length === 0) return []
  const before = await count(tx, table, key, counters)
  const all = counters.map(({ id, events }) => {
    const progress = before.get(id) ?? { rolled: null, tail: 0 }
    const parts = [...events].map(([{ recorded }, visits]) => ({
      recorded,
      minutes: visits.map(({ minute }) => minute),
    }))
    const subject = key === 'link' ? id : subjects.account(id)
    return { id, subject, before: progress, after: progressAfter(progress, parts), visits: [...events.values()].flat() }
  })
  const rolled = all.filter((one) => one.after.rolled !== one.before.rolled)
  if (rolled.length > 0)
    await tx.raw(
      `update ${table} s set rolled = r.rolled, tail = r.tail from unnest(?::bigint[], ?::int[], ?::int[]) as r (id, rolled, tail)
       where s.${key} = r.id`,
      [
        column(rolled, ({ id }) => id),
        column(rolled, ({ after }) => after.rolled ?? 0),
        column(rolled, ({ after }) => after.tail),
      ],
    )
  return all
}

/**
 * Writes a batch without reading the clicks before it, except those that are rolled up now: a unique index recognises a visitor who returns.
 * The cost therefore does not depend on what the planner knows about the tables. See docs/adr/0037-statistics-are-rolled-up.md.
 */
const write = async (tx: Knex, names: TableNames, events: readonly Clicked[]) => {
  const batches = events.map((event) => ({ recorded: minuteOf(event.metadata.at), visits: visitsOf(event) }))
  const visits = batches.flatMap((batch) => batch.visits)
  if (visits.length === 0) return
  const ids = await labelIds(
    tx,
    names('labels'),
    visits.map(({ click }) => click),
  )
  const uniques = await insertFacts(tx, names, ids, visits)
  // a view of a bio page is no click of the account
  const followed = batches.map((batch) => ({ ...batch, visits: batch.visits.filter(({ link }) => link > aboveViews) }))
  const links = countersOf(batches, uniques, ({ link }) => link)
  const accounts = countersOf(followed, uniques, ({ click }) => click.account)
  const changed = [
    ...(await countSubjects(tx, names('link_stats'), 'link', links)),
    ...(await countSubjects(tx, names('account_stats'), 'account', accounts)),
  ]
  await rollUp(tx, names, changed, seqOf(events[0]!.position, 0))
  await countRoutes(tx, names, visits)
  await countEntries(tx, names, visits)
}

/**
 * Clicks (one row per visit), counters and roll-ups. They have a subscription of their own, so that many clicks never delay other changes.
 */
export const stats: Projection = {
  name: 'stats',
  version: 8,
  filter: 'clicks',
  tables: {
    ...factTables,
    ...labelTables,
    link_stats: (t) => `
      create table ${t} (
        link bigint primary key, account bigint not null, clicks bigint not null, uniques bigint not null, visits bigint not null,
        rolled int, tail int not null, since int
      ) with (fillfactor = 80);
      create index on ${t} (account, clicks desc, link desc)`,
    account_stats: (t) => `
      create table ${t} (
        account bigint primary key, clicks bigint not null, uniques bigint not null, visits bigint not null, rolled int, tail int not null
      ) with (fillfactor = 80)`,
    ...rollupTables,
    ...retentionTables,
    ...routeTables,
    ...entryTables,
  },
  write: (tx, names, events: readonly Recorded<DomainEvent>[]) =>
    write(
      tx,
      names,
      events.filter((event): event is Clicked => event.type === 'LinkClicked'),
    ),
}
