import type { Knex } from 'knex'
import { bioRules, type Click } from '../events/click.ts'
import type { Recorded } from '../events/event.ts'
import type { Event } from '../events/index.ts'
import { column } from './columns.ts'
import { countEntries, entryTables } from './entrystats.ts'
import type { Projection, TableNames } from './projection.ts'

/** A click's own number: the position of its event and its index in the batch, which is below 1,000. */
const seq = (position: bigint, index: number) => position * 1000n + BigInt(index)
/** Values of `clicks.class`. */
export const classes = { human: 0, bot: 1, preview: 2, prefetch: 3 } as const
/** A class that only a newer release knows: a visit, but no click. */
const otherClass = 99
const classOf = ({ class: name }: Pick<Click, 'class'>) =>
  Object.hasOwn(classes, name) ? classes[name as keyof typeof classes] : otherClass
/** Values of `labels.dim`. */
export const dims = { referrer: 0, country: 1, browser: 2, os: 3, device: 4, language: 5, source: 6 } as const
type Dim = keyof typeof dims

const labelOf: Record<Dim, (click: Click) => string> = {
  referrer: ({ referrer }) => referrer,
  country: ({ country }) => country,
  browser: ({ browser }) => browser.family,
  os: ({ os }) => os.family,
  device: ({ device }) => device,
  language: ({ language }) => language,
  source: ({ source }) => source.kind,
}
const dimensions = Object.keys(dims) as Dim[]

/** Ids have at most 15 digits, so that these ranges do not meet. */
const [bioSubjects, viewSubjects] = [2 ** 50, 2 ** 51]
/** Values of the columns `link`: what was visited. Clicks on entries that lead to no link of ours belong to their bio page. */
export const subjects = {
  link: (id: number) => id,
  qr: (id: number) => -id,
  bio: (id: number) => -(bioSubjects + id),
  view: (id: number) => -(viewSubjects + id),
} as const
/** Views of bio pages have lower values of `link` than this: nobody followed a link by them. */
export const aboveViews = -viewSubjects

const subjectOf = ({ link, source, rule }: Click) => {
  if (link !== 0) return subjects.link(link)
  if (source.kind !== 'bio') return subjects.qr(source.id)
  return rule === bioRules.view ? subjects.view(source.id) : subjects.bio(source.id)
}

const labelKey = (dim: number, label: string) => `${dim}/${label}`

/**
 * Returns the ids of the clicks' labels by `labelKey`. New labels are numbered in log order, so that every replay gives the same ids. A
 * subquery per label looks it up by the unique index: a join may be planned as a scan of all labels.
 */
const labelIds = async (tx: Knex, table: string, clicks: readonly Click[]) => {
  const wanted = new Map<string, { readonly dim: number; readonly label: string }>()
  for (const click of clicks)
    for (const name of dimensions) {
      const [dim, label] = [dims[name], labelOf[name](click)]
      const key = labelKey(dim, label)
      if (!wanted.has(key)) wanted.set(key, { dim, label })
    }
  const known = await tx.raw<{ rows: { id: number | null; dim: number; label: string }[] }>(
    `select dim, label, (select l.id from ${table} l where l.dim = w.dim and l.label = w.label) as id
     from json_to_recordset(?::json) as w (dim smallint, label text)`,
    [JSON.stringify([...wanted.values()])],
  )
  const ids = new Map(known.rows.flatMap(({ id, dim, label }) => (id === null ? [] : [[labelKey(dim, label), id]])))
  const missing = [...wanted].filter(([key]) => !ids.has(key)).map(([, label]) => label)
  if (missing.length === 0) return ids
  const made = await tx.raw<{ rows: { id: number; dim: number; label: string }[] }>(
    `insert into ${table} (id, dim, label)
     select coalesce((select max(id) from ${table}), 0) + nr, (w->>'dim')::smallint, w->>'label'
     from json_array_elements(?::json) with ordinality as w (w, nr)
     returning id, dim, label`,
    [JSON.stringify(missing)],
  )
  for (const { id, dim, label } of made.rows) ids.set(labelKey(dim, label), id)
  return ids
}

interface Visit {
  readonly seq: bigint
  readonly link: number
  readonly visitor: bigint
  readonly click: Click
}
const visitsOf = ({ position, data }: Recorded<Event<'LinkClicked'>>): Visit[] =>
  data.clicks.map((click, i) => ({
    seq: seq(position, i),
    link: subjectOf(click),
    visitor: BigInt.asIntN(64, BigInt(`0x${click.visitor}`)),
    click,
  }))

/** Returns the first click of each person on each link within the batch. */
const firstClicks = (visits: readonly Visit[]) => {
  const first = new Map<string, Visit>()
  for (const visit of visits) {
    if (visit.click.class !== 'human') continue
    const key = `${visit.link}/${visit.click.visitor}`
    if (!first.has(key)) first.set(key, visit)
  }
  return [...first.values()]
}

/** Inserts one row per visit and returns the visits that were inserted. A first visit that the table has already is left out. */
const insertVisits = async (
  tx: Knex,
  table: string,
  ids: ReadonlyMap<string, number>,
  visits: readonly Visit[],
  first: boolean,
): Promise<ReadonlySet<Visit>> => {
  if (visits.length === 0) return new Set()
  const columns = `seq, visitor, at, link, account, class, ${dimensions.join()}`
  const unlessKnown = first ? 'on conflict (link, visitor) where first do nothing returning seq' : ''
  const { rows } = await tx.raw<{ rows: { seq: string }[] }>(
    `insert into ${table} (${columns}, first)
     select *, ${first} from unnest(?::bigint[], ?::bigint[], ?::timestamptz[], ?::bigint[], ?::bigint[], ?::smallint[], ${dimensions.map(() => '?::int[]').join()})
     ${unlessKnown}`,
    [
      column(visits, (visit) => visit.seq),
      column(visits, ({ visitor }) => visitor),
      column(visits, ({ click }) => click.at),
      column(visits, ({ link }) => link),
      column(visits, ({ click }) => click.account),
      column(visits, ({ click }) => classOf(click)),
      ...dimensions.map((dim) => column(visits, ({ click }) => ids.get(labelKey(dims[dim], labelOf[dim](click))) ?? 0)),
    ],
  )
  const inserted = new Set(rows.map((row) => row.seq))
  return new Set(visits.filter((visit) => inserted.has(String(visit.seq))))
}

/** Adds the visits to the counters of their links. */
const count = async (tx: Knex, table: string, visits: readonly Visit[], uniques: ReadonlySet<Visit>) => {
  const counters = new Map<number, { account: number; clicks: number; uniques: number; visits: number }>()
  for (const visit of visits) {
    const counter = counters.get(visit.link) ?? { account: visit.click.account, clicks: 0, uniques: 0, visits: 0 }
    counters.set(visit.link, counter)
    counter.visits++
    if (visit.click.class === 'human') counter.clicks++
    if (uniques.has(visit)) counter.uniques++
  }
  const rows = [...counters].map(([link, counter]) => ({ link, ...counter })).toSorted((a, b) => a.link - b.link)
  await tx.raw(
    `insert into ${table} as s (link, account, clicks, uniques, visits)
     select * from unnest(?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[])
     on conflict (link) do update set
       clicks = s.clicks + excluded.clicks, uniques = s.uniques + excluded.uniques, visits = s.visits + excluded.visits`,
    (['link', 'account', 'clicks', 'uniques', 'visits'] as const).map((name) => column(rows, (row) => row[name])),
  )
}

/**
 * Writes a batch without reading the clicks before it: a unique index recognises a visitor who returns. The cost therefore does not depend
 * on what the planner knows about the table. See docs/adr/0017-first-visits.md.
 */
const write = async (tx: Knex, names: TableNames, events: readonly Recorded<Event<'LinkClicked'>>[]) => {
  const visits = events.flatMap(visitsOf)
  if (visits.length === 0) return
  const ids = await labelIds(
    tx,
    names('labels'),
    visits.map(({ click }) => click),
  )
  const uniques = await insertVisits(tx, names('clicks'), ids, firstClicks(visits), true)
  const others = visits.filter((visit) => !uniques.has(visit))
  await insertVisits(tx, names('clicks'), ids, others, false)
  await count(tx, names('link_stats'), visits, uniques)
  await countEntries(tx, names, visits)
}

/** Clicks (one row per visit) and counters. They have a subscription of their own, so that many clicks never delay other changes. */
export const stats: Projection = {
  name: 'stats',
  version: 4,
  filter: 'clicks',
  tables: {
    clicks: (t) => `
      create table ${t} (
        seq bigint not null, visitor bigint not null, at timestamptz not null, link bigint not null, account bigint not null,
        referrer int not null, country int not null, browser int not null, os int not null, device int not null,
        language int not null, source int not null, class smallint not null, first boolean not null);
      create index on ${t} (link);
      create index on ${t} (account);
      create unique index on ${t} (link, visitor) where first;
      create index on ${t} using brin (at)`,
    labels: (t) =>
      `create table ${t} (id int primary key, dim smallint not null, label text not null, unique (dim, label))`,
    link_stats: (t) => `
      create table ${t} (
        link bigint primary key, account bigint not null, clicks bigint not null, uniques bigint not null, visits bigint not null
      ) with (fillfactor = 80);
      create index on ${t} (account, clicks desc, link desc)`,
    ...entryTables,
  },
  write: (tx, names, events) =>
    write(
      tx,
      names,
      events.filter((e): e is Recorded<Event<'LinkClicked'>> => e.type === 'LinkClicked'),
    ),
}
