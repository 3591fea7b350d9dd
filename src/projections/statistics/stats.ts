import type { Knex } from 'knex'
import type { Recorded } from '../../events/event.ts'
import type { DomainEvent } from '../../events/index.ts'
import { isClickType } from '../../events/store.ts'
import {
  aboveViews,
  type Clicked,
  factTables,
  insertFacts,
  isOwn,
  minuteOf,
  seqOf,
  subjects,
  type Visit,
  visitsOf,
} from './clickfacts.ts'
import { column } from '../engine/columns.ts'
import { countElsewhere, type Declared, elsewhereTables } from './elsewhere.ts'
import { countEntries, entryTables } from './entrystats.ts'
import { addImported, importedTables } from './importedvisits.ts'
import { labelIds, labelTables } from './labels.ts'
import type { Projection, TableNames } from '../engine/projection.ts'
import { reclassificationTables, type Reclassified, reclassify, type Undone } from './reclassify.ts'
import { rollTables, type Totals, type Traced, traceRolls } from './rolls.ts'
import { type Progress, progressAfter, rollUp, rollupTables, type Subject } from './rollup.ts'
import { countRoutes, routeTables } from './routestats.ts'
import { retentionTables } from './retention.ts'
import { takeBack } from './withdrawnvisits.ts'

/** The visits of one event, and the minute in which the log has recorded it. */
interface Batch {
  readonly position: bigint
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

/** What was counted of a link or account before a batch, and how far it was rolled up. */
type Before = Progress & Totals & { readonly clock: number }

/** Adds to the counters, and returns what each link or account had before, by its id. */
const count = async (
  tx: Knex,
  table: string,
  key: Counted,
  counters: readonly Counter[],
): Promise<ReadonlyMap<number, Before>> => {
  const columns = ['clicks', 'uniques', 'visits'] as const
  const account = key === 'link' ? ', account' : ''
  type Row = Readonly<Record<keyof Totals, string>> & Progress & { readonly id: string; readonly clock: number }
  const { rows } = await tx.raw<{ rows: Row[] }>(
    `insert into ${table} as s (${key}${account}, ${columns.join()}, last, clock, tail)
     select ${key}${account}, ${columns.join()}, last, clock, visits
     from unnest(?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[], ?::int[])
       as c (${key}, ${key === 'link' ? 'account' : 'same'}, ${columns.join()}, last, clock)
     on conflict (${key}) do update set last = excluded.last, clock = greatest(s.clock, excluded.clock), ${[...columns, 'tail'].map((name) => `${name} = s.${name} + excluded.${name}`).join()}
     returning ${key} as id, ${columns.join()}, clock, rolled, tail`,
    [
      ...(['id', 'account', ...columns] as const).map((name) => column(counters, (counter) => counter[name])),
      column(counters, ({ events }) => [...events.keys()].at(-1)?.position ?? 0n),
      column(counters, ({ events }) => Math.max(...[...events.keys()].map(({ recorded }) => recorded))),
    ],
  )
  const added = new Map(counters.map((counter) => [counter.id, counter]))
  return new Map(
    rows.map(({ id, clock, rolled, tail, ...now }) => {
      const counter = added.get(Number(id))
      const before = (name: keyof Totals) => Number(now[name]) - (counter?.[name] ?? 0)
      const totals = { clicks: before('clicks'), uniques: before('uniques'), visits: before('visits') }
      return [Number(id), { ...totals, clock, rolled, tail: tail - (counter?.visits ?? 0) }]
    }),
  )
}

/** Returns the events of a link or account, each with how far it was rolled up before and after. */
const stepsOf = (events: ReadonlyMap<Batch, readonly Visit[]>, start: Progress) => {
  let progress = start
  return [...events].map(([{ position, recorded }, visits]) => {
    const before = progress.rolled
    progress = progressAfter(progress, [{ recorded, minutes: visits.map(({ minute }) => minute) }])
    return { position, recorded, visits, before, after: progress.rolled, progress }
  })
}

const none: Before = { clicks: 0, uniques: 0, visits: 0, clock: 0, rolled: null, tail: 0 }

/** Counts the visits of links or accounts, and returns those that have visits to roll up. */
const countSubjects = async (
  tx: Knex,
  table: string,
  key: Counted,
  counters: readonly Counter[],
): Promise<readonly (Subject & Traced)[]> => {
  if (counters.length === 0) return []
  const before = await count(tx, table, key, counters)
  const all = counters.map(({ id, events }) => {
    const { rolled, tail, clock, ...totals } = before.get(id) ?? none
    const progress = { rolled, tail }
    const steps = stepsOf(events, progress)
    const subject = key === 'link' ? id : subjects.account(id)
    const after = steps.at(-1)?.progress ?? progress
    return { id, subject, totals, clock, steps, before: progress, after, visits: [...events.values()].flat() }
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
 * Writes a batch without reading the clicks before it, except those that are rolled up now: a unique index recognises a
 * visitor who returns. The cost therefore does not depend on what the planner knows about the tables. See
 * docs/adr/0037-statistics-are-rolled-up.md.
 */
const writeClicks = async (tx: Knex, names: TableNames, events: readonly Clicked[]) => {
  const batches = events.map((event) => ({
    position: event.position,
    recorded: minuteOf(event.metadata.at),
    visits: visitsOf(event),
  }))
  const visits = batches.flatMap((batch) => batch.visits)
  if (visits.length === 0) return
  const ids = {
    labels: await labelIds(tx, names, 'labels', visits),
    details: await labelIds(tx, names, 'details', visits),
  }
  const uniques = await insertFacts(tx, names, ids, visits)
  // a view of a bio page is no click of the account, and a scan is one by the visit that it led to
  const followed = batches.map((batch) => ({
    ...batch,
    visits: batch.visits.filter((visit) => isOwn(visit) && visit.link > aboveViews),
  }))
  const links = countersOf(batches, uniques, ({ link }) => link)
  const accounts = countersOf(followed, uniques, ({ click }) => click.account)
  const changed = [
    ...(await countSubjects(tx, names('link_stats'), 'link', links)),
    ...(await countSubjects(tx, names('account_stats'), 'account', accounts)),
  ]
  await traceRolls(tx, names, changed, uniques)
  await rollUp(tx, names, changed, seqOf(events[0]!.position, 0))
  await countRoutes(tx, names, visits, changed)
  await countEntries(tx, names, visits)
}

const isClicked = (event: Recorded<DomainEvent>): event is Clicked => event.type === 'LinkClicked'
const isDeclared = (event: Recorded<DomainEvent>): event is Declared => event.type === 'ClicksImported'
const isReclassified = (event: Recorded<DomainEvent>): event is Reclassified | Undone =>
  event.type === 'ClicksReclassified' || event.type === 'ReclassificationUndone'

/** Writes clicks together, and each other event after the clicks before it. */
const write = async (tx: Knex, names: TableNames, events: readonly Recorded<DomainEvent>[]) => {
  let clicks: Clicked[] = []
  const flush = async () => {
    if (clicks.length > 0) await writeClicks(tx, names, clicks)
    clicks = []
  }
  for (const event of events) {
    if (isClicked(event)) clicks.push(event)
    else if (isClickType(event.type)) await flush()
    if (isReclassified(event)) await reclassify(tx, names, event)
    if (event.type === 'VisitsImported') await addImported(tx, names, event)
    if (event.type === 'ImportedVisitsWithdrawn') await takeBack(tx, names, event)
  }
  await flush()
  await countElsewhere(tx, names, events.filter(isDeclared))
}

/**
 * Clicks (one row per visit), counters and roll-ups. They have a subscription of their own, so that many clicks never
 * delay other changes.
 */
export const stats: Projection = {
  name: 'stats',
  version: 19,
  filter: 'clicks',
  indexedLast: ['link_stats'],
  tables: {
    ...factTables,
    ...labelTables,
    link_stats: (t) => `
      create table ${t} (
        link bigint primary key, account bigint not null, clicks bigint not null, uniques bigint not null, visits bigint not null,
        imported bigint not null default 0, elsewhere bigint not null default 0, last bigint not null default 0,
        clock int not null default 0, rolled int, tail int not null, since int
      ) with (fillfactor = 80);
      create index on ${t} (account, (clicks + elsewhere) desc, link desc)`,
    account_stats: (t) => `
      create table ${t} (
        account bigint primary key, clicks bigint not null, uniques bigint not null, visits bigint not null, last bigint not null default 0,
        clock int not null default 0, rolled int, tail int not null
      ) with (fillfactor = 80)`,
    ...rollupTables,
    ...retentionTables,
    ...routeTables,
    ...entryTables,
    ...elsewhereTables,
    ...reclassificationTables,
    ...importedTables,
    ...rollTables,
  },
  write,
}
