import type { Knex } from 'knex'
import { bioRules, type Click } from '../../events/statistics/click.ts'
import type { Recorded } from '../../events/event.ts'
import type { Event } from '../../events/index.ts'
import { column } from '../engine/columns.ts'
import {
  detailNames,
  detailOf,
  details,
  type Dim,
  dims,
  dimensions,
  type LabelIds,
  labelOf,
  openDimensions,
  profilesOf,
} from './labels.ts'
import type { TableNames } from '../engine/projection.ts'

/**
 * A click's own number: the position of its event and its index in the batch, which is below 500. A scan has the number
 * of the visit of the link that it led to, and 500 more.
 */
export const seqOf = (position: bigint, index: number) => position * 1000n + BigInt(index)
export const scanOffset = 500
/** Returns the position of a click's event. */
export const positionOf = (seq: bigint) => seq / 1000n
/** Returns the index of a click, or of the visit that a scan led to, in the batch. */
export const indexOf = (seq: bigint) => Number(seq % BigInt(scanOffset))
/** Values of `clicks.class`. A person's first visit on a link has a separate value. */
export const classes = { first: -1, human: 0, bot: 1, preview: 2, prefetch: 3, excluded: 4, assistant: 5 } as const
/** A class that only a newer release knows: a visit, but no click. */
const otherClass = 99
/** SQL conditions on a row of `clicks`: a visit that counts as a click, and one that counts as a unique click. */
export const [isClick, isUnique] = [`class <= ${classes.human}`, `class = ${classes.first}`]

/** Returns the value of a class that an event names. */
export const classOf = ({ class: name }: Pick<Click, 'class'>): number =>
  Object.hasOwn(classes, name) && name !== ('first' as string) ? classes[name as keyof typeof classes] : otherClass

/** Ids have at most 15 digits, so that these ranges do not meet. */
const [bioSubjects, viewSubjects, accountSubjects] = [2 ** 50, 2 ** 51, 2 ** 52]
/**
 * Subjects of statistics. The columns `link` have the visited resource: clicks on entries that lead to none of our
 * links belong to their bio page. The columns `subject` of roll-ups may have an account, too.
 */
export const subjects = {
  link: (id: number) => id,
  qr: (id: number) => -id,
  bio: (id: number) => -(bioSubjects + id),
  view: (id: number) => -(viewSubjects + id),
  account: (id: number) => -(accountSubjects + id),
} as const
/**
 * Returns the resource of a value of `link`: `bio` is an entry of a bio page that leads to no link, `view` the page
 * itself.
 */
export const visited = (subject: number): { readonly of: 'link' | 'qr' | 'bio' | 'view'; readonly id: number } => {
  if (subject > 0) return { of: 'link', id: subject }
  if (subject > subjects.bio(0)) return { of: 'qr', id: -subject }
  if (subject > subjects.view(0)) return { of: 'bio', id: subjects.bio(0) - subject }
  return { of: 'view', id: subjects.view(0) - subject }
}
/** Views of bio pages have lower values of `link` than this: they are not visits of a link. */
export const aboveViews = -viewSubjects
/** Accounts have values of `subject` of at most this. */
export const highestAccount = -accountSubjects

const subjectOf = ({ link, source, rule }: Click) => {
  if (link !== 0) return subjects.link(link)
  if (source.kind !== 'bio') return subjects.qr(source.id)
  return rule === bioRules.view ? subjects.view(source.id) : subjects.bio(source.id)
}

/** A click of a batch, and the visited resource. */
export interface Visit {
  readonly seq: bigint
  readonly link: number
  /** its account; negative for a scan: the account has the visit of the link that it led to */
  readonly account: number
  readonly visitor: bigint
  readonly minute: number
  readonly ms: number
  /** URL that the visitor was sent to; empty when a bio page decided */
  readonly destination: string
  /** label of the click's other facts about its visitor */
  readonly profile: string
  readonly click: Click
}
export type Clicked = Recorded<Event<'LinkClicked'>>
export type Imported = Recorded<Event<'VisitsImported'>>

export const minuteMs = 60_000
/** Returns the minute of a moment, as its number since 1970. */
export const minuteOf = (at: string) => Math.floor(Date.parse(at) / minuteMs)

/**
 * Returns a time in the form of the facts: the number of its minute since 1970, and its ms within the minute, less
 * 30,000, because that fits a smallint.
 */
export const timeOf = (ms: number): Pick<Visit, 'minute' | 'ms'> => {
  const minute = Math.floor(ms / minuteMs)
  return { minute, ms: ms - minute * minuteMs - minuteMs / 2 }
}

/** The visitor of visits that cannot be distinguished: none of them is the first of a person. */
export const unknownVisitor = -2n
/** Returns a visitor in the form of the facts. */
export const visitorOf = (hash: string): bigint =>
  hash === '' ? unknownVisitor : BigInt.asIntN(64, BigInt(`0x${hash}`))

/** Whether a row is a visit of an account, and not the scan by which it came. */
export const isOwn = ({ account }: Visit) => account > 0

/** Returns the scan by which a visit of a link came: it counts for the QR code like the code's other scans. */
const scanOf = (visit: Visit): readonly Visit[] => {
  const { seq, link, account, click } = visit
  if (link <= 0 || click.source.kind !== 'qr') return []
  return [{ ...visit, seq: seq + BigInt(scanOffset), link: subjects.qr(click.source.id), account: -account }]
}

export const visitsOf = ({ position, data }: Pick<Clicked | Imported, 'position' | 'data'>): Visit[] => {
  const profiles = profilesOf(data)
  const visits = data.clicks.map((click, i): Visit => ({
    seq: seqOf(position, i),
    link: subjectOf(click),
    account: click.account,
    visitor: visitorOf(click.visitor),
    ...timeOf(Date.parse(click.at)),
    destination: data.destinations[click.destination] ?? '',
    profile: profiles[i] ?? '',
    click,
  }))
  return [...visits, ...visits.flatMap(scanOf)]
}

const small = dimensions.filter((dim) => !openDimensions.includes(dim))
/** The columns of facts, with their types. */
const columnsOfFacts: readonly (readonly [name: string, type: string])[] = [
  ...['seq', 'visitor', 'link', 'account'].map((name) => [name, 'bigint'] as const),
  ...['minute', ...openDimensions, ...detailNames].map((name) => [name, 'int'] as const),
  ...['ms', ...small, 'class', 'recorded'].map((name) => [name, 'smallint'] as const),
]
/** The columns of facts. */
export const factColumns = columnsOfFacts.map(([name]) => name)
const columnTypes = columnsOfFacts.map(([name, type]) => `${name} ${type} not null`).join()

/**
 * A row for each visit, in partitions by month, and a row for each person and link that they have visited, with their
 * first visit.
 *
 * A visit of a link that came by a QR code has a second row, for the code: its scan, with a negative `account`, so that
 * nothing that counts an account or lists its visits has it twice. It has the class of the visit, apart from being the
 * first of a person.
 *
 * `class` is what the visit counts as now, and `recorded` what the click was recorded as. A reclassification changes
 * `class`, and moves the first visit of a person to the earliest one (by `seq`) that is still theirs: an index finds it
 * among those of people that are not first ones. For each visit that an event changes, `corrections` has the class
 * before and after it. So the class of a visit at a position P is `was` of the first of its corrections after P, and
 * `class` if there is none.
 *
 * Questions about an earlier position of the log read the facts with a `seq` up to it, each with the class that it had
 * then. What an event changes in the facts and roll-ups of a subject it makes known to such questions: what it adds to
 * a roll-up goes into `corrected_quarters` and `corrected_days`, and the counters before the change go into `rolls`, at
 * its position. See `rolls.ts`.
 */
export const factTables = {
  clicks: (t: string) => `
    create table ${t} (${columnTypes}) partition by range (minute);
    create index on ${t} (link, minute);
    create index on ${t} (account, minute);
    create index on ${t} (link, visitor, seq) where class = ${classes.human}`,
  // withdrawn visits of other services; `gone` is the position of the event that withdrew them
  withdrawn_visits: (t: string) => `
    create table ${t} (gone bigint not null, ${columnTypes});
    create index on ${t} (link, minute);
    create index on ${t} (account, minute)`,
  visitors: (t: string) =>
    `create table ${t} (
      link bigint not null, visitor bigint not null, seq bigint not null, minute int not null, primary key (link, visitor))`,
} as const

/** Returns the first minute of the month that is so many months after that of a minute. */
export const monthStart = (minute: number, months = 0): number => {
  const at = new Date(minute * minuteMs)
  return Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + months) / minuteMs
}
/**
 * Earlier visits are from other services: a partition has a year, because a question locks all partitions that it may
 * read.
 */
const firstMonth = Date.UTC(2024, 0) / minuteMs
/** Returns the first minute of the partition of a minute. */
const partitionStart = (minute: number) =>
  minute < firstMonth ? Date.UTC(new Date(minute * minuteMs).getUTCFullYear(), 0) / minuteMs : monthStart(minute)
/** Returns the first minute after the partition that begins with a minute. */
const partitionEnd = (start: number) => monthStart(start, start < firstMonth ? 12 : 1)
/** Returns the name of the partition that begins with a minute. */
export const partitionOf = (table: string, start: number): string =>
  `${table}_${new Date(start * minuteMs)
    .toISOString()
    .slice(0, start < firstMonth ? 4 : 7)
    .replace('-', '_')}`
/** Returns the first minute after a partition, by its name. */
export const endOfPartition = (name: string): number => {
  const [, year, month] = /_(\d{4})(?:_(\d\d))?$/.exec(name) ?? []
  return Date.UTC(Number(year), Number(month ?? 12)) / minuteMs
}

/**
 * Creates the partitions of the visits. Attaches them, because `create table … partition of` would lock out the readers
 * of the whole table.
 */
const ensurePartitions = async (tx: Knex, table: string, visits: readonly Visit[]) => {
  const starts = new Set(visits.map(({ minute }) => partitionStart(minute)))
  const named = new Map([...starts].map((start) => [partitionOf(table, start), start]))
  const { rows } = await tx.raw<{ rows: { name: string }[] }>(
    `select name from unnest(?::text[]) as m (name) where to_regclass(name) is null order by name`,
    [[...named.keys()]],
  )
  for (const { name } of rows) {
    const start = named.get(name)!
    await tx.raw(
      `create table ${name} (like ${table});
       alter table ${table} attach partition ${name} for values from (${start}) to (${partitionEnd(start)})`,
    )
  }
}

const visitorKey = (link: number | string, visitor: bigint | string) => `${link}/${visitor}`

/** The visits of each person, in the order of the log: the first one stays the first. */
const insertFirst = async (tx: Knex, table: string, visits: readonly Visit[]): Promise<ReadonlySet<Visit>> => {
  const first = new Map<string, Visit>()
  for (const visit of visits) {
    if (visit.click.class !== 'human') continue
    const key = visitorKey(visit.link, visit.visitor)
    if (!first.has(key)) first.set(key, visit)
  }
  const people = [...first.values()]
  const { rows } = await tx.raw<{ rows: { link: string; visitor: string }[] }>(
    `insert into ${table} (link, visitor, seq, minute)
     select * from unnest(?::bigint[], ?::bigint[], ?::bigint[], ?::int[]) as v (link, visitor, seq, minute) order by link, visitor
     on conflict do nothing returning link, visitor`,
    (['link', 'visitor', 'seq', 'minute'] as const).map((name) => column(people, (visit) => visit[name])),
  )
  return new Set(rows.map(({ link, visitor }) => first.get(visitorKey(link, visitor))!))
}

/** Records the visitors of links, and returns the visits that are a person's first on a link. */
export type FindFirst = (tx: Knex, table: string, visits: readonly Visit[]) => Promise<ReadonlySet<Visit>>

/** The numbers of labels. */
export interface Ids {
  readonly labels: LabelIds
  readonly details: LabelIds
}
/** Returns a function that gives the numbers of visits in a dimension. */
export const idsIn = (ids: Pick<Ids, 'labels'>) => (dim: Dim) => (visit: Visit) =>
  ids.labels(dims[dim], labelOf[dim](visit.click))

/** Inserts a row for each visit, and returns which of them are unique. */
export const insertFacts = async (
  tx: Knex,
  names: TableNames,
  ids: Ids,
  visits: readonly Visit[],
  findFirst: FindFirst = insertFirst,
): Promise<ReadonlySet<Visit>> => {
  await ensurePartitions(tx, names('clicks'), visits)
  const uniques = await findFirst(tx, names('visitors'), visits)
  const idOf = idsIn(ids)
  const type = (dim: Dim) => (openDimensions.includes(dim) ? 'int[]' : 'smallint[]')
  await tx.raw(
    `insert into ${names('clicks')} (seq, visitor, link, account, minute, ms, class, recorded, ${[...detailNames, ...dimensions].join()})
     select * from unnest(?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[], ?::int[], ?::smallint[], ?::smallint[], ?::smallint[],
       ${detailNames.map(() => '?::int[]').join()}, ${dimensions.map((dim) => `?::${type(dim)}`).join()})`,
    [
      column(visits, ({ seq }) => seq),
      column(visits, ({ visitor }) => visitor),
      column(visits, ({ link }) => link),
      column(visits, ({ account }) => account),
      column(visits, ({ minute }) => minute),
      column(visits, ({ ms }) => ms),
      column(visits, (visit) => (uniques.has(visit) ? classes.first : classOf(visit.click))),
      column(visits, ({ click }) => classOf(click)),
      ...detailNames.map((name) => column(visits, (visit) => ids.details(details[name], detailOf[name](visit)))),
      ...dimensions.map((dim) => column(visits, idOf(dim))),
    ],
  )
  return uniques
}
