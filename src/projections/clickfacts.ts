import type { Knex } from 'knex'
import { bioRules, type Click } from '../events/click.ts'
import type { Recorded } from '../events/event.ts'
import type { Event } from '../events/index.ts'
import { column } from './columns.ts'
import { type Dim, dims, dimensions, type LabelIds, labelOf, openDimensions } from './labels.ts'
import type { TableNames } from './projection.ts'

/** A click's own number: the position of its event and its index in the batch, which is below 1,000. */
export const seqOf = (position: bigint, index: number) => position * 1000n + BigInt(index)
/** Values of `clicks.class`. A person's first visit on a link has a value of its own. */
export const classes = { first: -1, human: 0, bot: 1, preview: 2, prefetch: 3 } as const
/** A class that only a newer release knows: a visit, but no click. */
const otherClass = 99
/** SQL conditions on a row of `clicks`: a visit that counts as a click, and one that counts as a unique click. */
export const [isClick, isUnique] = [`class <= ${classes.human}`, `class = ${classes.first}`]

const classOf = ({ class: name }: Pick<Click, 'class'>) =>
  Object.hasOwn(classes, name) && name !== ('first' as string) ? classes[name as keyof typeof classes] : otherClass

/** Ids have at most 15 digits, so that these ranges do not meet. */
const [bioSubjects, viewSubjects, accountSubjects] = [2 ** 50, 2 ** 51, 2 ** 52]
/**
 * What statistics are about. The columns `link` have what was visited: clicks on entries that lead to no link of ours belong to their bio page.
 * The columns `subject` of roll-ups may have an account too.
 */
export const subjects = {
  link: (id: number) => id,
  qr: (id: number) => -id,
  bio: (id: number) => -(bioSubjects + id),
  view: (id: number) => -(viewSubjects + id),
  account: (id: number) => -(accountSubjects + id),
} as const
/** Views of bio pages have lower values of `link` than this: nobody followed a link by them. */
export const aboveViews = -viewSubjects
/** Accounts have values of `subject` of at most this. */
export const highestAccount = -accountSubjects

const subjectOf = ({ link, source, rule }: Click) => {
  if (link !== 0) return subjects.link(link)
  if (source.kind !== 'bio') return subjects.qr(source.id)
  return rule === bioRules.view ? subjects.view(source.id) : subjects.bio(source.id)
}

/** A click of a batch, and what was visited by it. */
export interface Visit {
  readonly seq: bigint
  readonly link: number
  readonly visitor: bigint
  readonly minute: number
  readonly ms: number
  /** URL that the visitor was sent to; empty when a bio page decided */
  readonly destination: string
  readonly click: Click
}
export type Clicked = Recorded<Event<'LinkClicked'>>

export const minuteMs = 60_000
/** Returns the number of the minute since 1970 that a moment is in. */
export const minuteOf = (at: string) => Math.floor(Date.parse(at) / minuteMs)

/**
 * Returns a time as the facts have it: the number of its minute since 1970, and its ms within the minute, less 30,000, because that fits a
 * smallint.
 */
export const timeOf = (ms: number): Pick<Visit, 'minute' | 'ms'> => {
  const minute = Math.floor(ms / minuteMs)
  return { minute, ms: ms - minute * minuteMs - minuteMs / 2 }
}

export const visitsOf = ({ position, data }: Clicked): Visit[] =>
  data.clicks.map((click, i) => ({
    seq: seqOf(position, i),
    link: subjectOf(click),
    visitor: BigInt.asIntN(64, BigInt(`0x${click.visitor}`)),
    ...timeOf(Date.parse(click.at)),
    destination: data.destinations[click.destination] ?? '',
    click,
  }))

/** A row for each visit, in partitions by month, and a row for each person and link that they have visited. */
export const factTables = {
  clicks: (t: string) => {
    const small = dimensions.filter((dim) => !openDimensions.includes(dim))
    return `
      create table ${t} (
        seq bigint not null, visitor bigint not null, link bigint not null, account bigint not null, minute int not null,
        ${openDimensions.map((dim) => `${dim} int not null`).join()}, ms smallint not null, ${small.map((dim) => `${dim} smallint not null`).join()}, class smallint not null
      ) partition by range (minute);
      create index on ${t} (link, minute);
      create index on ${t} (account, minute)`
  },
  visitors: (t: string) =>
    `create table ${t} (link bigint not null, visitor bigint not null, primary key (link, visitor))`,
} as const

/** Returns the first minute of the month so many months after the one of a minute. */
export const monthStart = (minute: number, months = 0): number => {
  const at = new Date(minute * minuteMs)
  return Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + months) / minuteMs
}
/** Returns the name of the partition that has the facts of a month, by its first minute. */
export const partitionOf = (table: string, month: number): string =>
  `${table}_${new Date(month * minuteMs).toISOString().slice(0, 7).replace('-', '_')}`

/**
 * Creates the partitions that the visits need. They are attached, because `create table … partition of` would lock out the readers of the
 * whole table.
 */
const ensurePartitions = async (tx: Knex, table: string, visits: readonly Visit[]) => {
  const starts = new Set(visits.map(({ minute }) => monthStart(minute)))
  const months = new Map([...starts].map((month) => [partitionOf(table, month), month]))
  const { rows } = await tx.raw<{ rows: { name: string }[] }>(
    `select name from unnest(?::text[]) as m (name) where to_regclass(name) is null order by name`,
    [[...months.keys()]],
  )
  for (const { name } of rows) {
    const month = months.get(name)!
    await tx.raw(
      `create table ${name} (like ${table});
       alter table ${table} attach partition ${name} for values from (${month}) to (${monthStart(month, 1)})`,
    )
  }
}

const visitorKey = (link: number | string, visitor: bigint | string) => `${link}/${visitor}`

/** Stores who has visited which link, and returns the visits that are the first of a person on a link. */
const insertFirst = async (tx: Knex, table: string, visits: readonly Visit[]): Promise<ReadonlySet<Visit>> => {
  const first = new Map<string, Visit>()
  for (const visit of visits) {
    if (visit.click.class !== 'human') continue
    const key = visitorKey(visit.link, visit.visitor)
    if (!first.has(key)) first.set(key, visit)
  }
  const people = [...first.values()]
  const { rows } = await tx.raw<{ rows: { link: string; visitor: string }[] }>(
    `insert into ${table} (link, visitor) select * from unnest(?::bigint[], ?::bigint[]) as v (link, visitor) order by link, visitor
     on conflict do nothing returning link, visitor`,
    [column(people, ({ link }) => link), column(people, ({ visitor }) => visitor)],
  )
  return new Set(rows.map(({ link, visitor }) => first.get(visitorKey(link, visitor))!))
}

/** Inserts a row for each visit, and returns which of them are unique. */
export const insertFacts = async (
  tx: Knex,
  names: TableNames,
  ids: LabelIds,
  visits: readonly Visit[],
): Promise<ReadonlySet<Visit>> => {
  await ensurePartitions(tx, names('clicks'), visits)
  const uniques = await insertFirst(tx, names('visitors'), visits)
  const idOf = (dim: Dim) => (visit: Visit) => ids(dims[dim], labelOf[dim](visit.click))
  const type = (dim: Dim) => (openDimensions.includes(dim) ? 'int[]' : 'smallint[]')
  await tx.raw(
    `insert into ${names('clicks')} (seq, visitor, link, account, minute, ms, class, ${dimensions.join()})
     select * from unnest(?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[], ?::int[], ?::smallint[], ?::smallint[],
       ${dimensions.map((dim) => `?::${type(dim)}`).join()})`,
    [
      column(visits, ({ seq }) => seq),
      column(visits, ({ visitor }) => visitor),
      column(visits, ({ link }) => link),
      column(visits, ({ click }) => click.account),
      column(visits, ({ minute }) => minute),
      column(visits, ({ ms }) => ms),
      column(visits, (visit) => (uniques.has(visit) ? classes.first : classOf(visit.click))),
      ...dimensions.map((dim) => column(visits, idOf(dim))),
    ],
  )
  return uniques
}
