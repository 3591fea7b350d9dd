import { VisitorClass } from '../../events/statistics/click.ts'
import {
  classes,
  isClick,
  isUnique,
  scanOffset,
  subjects,
  visited as visitedBy,
} from '../../projections/statistics/clickfacts.ts'
import { details, type Dim, dims, readRoute, type Route, sameDetail } from '../../projections/statistics/labels.ts'
import type { Part } from '../accounts/part.ts'
import { visitedWithin, type Within } from '../streams/membership.ts'
import type { Reader } from '../reader.ts'
import type { Minutes, SubjectCounts } from './facts.ts'
import { readDetails } from './labels.ts'

/** The kinds of visits, by their names in the API. */
export const visitClasses = [...VisitorClass.options, 'excluded'] as const
export type VisitClass = (typeof visitClasses)[number]

/** The visits to count: those that match one of the values of each filter. */
export interface Filters extends Readonly<Partial<Record<Dim | 'rule', readonly string[] | undefined>>> {
  readonly class?: readonly VisitClass[] | undefined
  /** the first visits of persons, or all others */
  readonly unique?: boolean | undefined
  /** what was visited is in this campaign */
  readonly campaign?: number | undefined
  /** what was visited is in this channel */
  readonly channel?: number | undefined
  /** what was visited is in this part of the account */
  readonly part?: Part | undefined
  /** came by this QR code to a link */
  readonly qr?: number | undefined
  /** followed an entry of this bio page, or has seen it */
  readonly bio?: number | undefined
  /** of what was visited */
  readonly revision?: number | undefined
  /** URL that the visitors were sent to */
  readonly destination?: string | undefined
}
/** SQL of a condition on a column of the facts. */
const among = (column: string, values: readonly number[]) =>
  values.length === 0 ? 'false' : `${column} in (${values.join()})`

/** Returns the numbers of labels. One that no visit has ever had is missing. */
const labelIds = async ({ db, table }: Reader, dim: Dim, labels: readonly string[]) => {
  const { rows } = await db.raw<{ rows: { id: number }[] }>(
    `select id from ${table('labels')} where dim = ${dims[dim]} and label = any(?::text[])`,
    [[...labels]],
  )
  return rows.map(({ id }) => id)
}

const destinationIds = async ({ db, table }: Reader, destination: string) => {
  const { rows } = await db.raw<{ rows: { id: number }[] }>(
    `select d.id from (select ${details.destination} as dim, ?::text as label) w join ${table('details')} d on ${sameDetail('d', 'w')}`,
    [destination],
  )
  return rows.map(({ id }) => id)
}

/** Returns the contents of routes, by their numbers. */
export const readRoutes = async (reader: Reader, routes: readonly number[]): Promise<ReadonlyMap<number, Route>> =>
  new Map([...(await readDetails(reader, 'route', routes))].map(([id, label]) => [id, readRoute(label)]))

/** routes of all accounts up to which all are searched, without asking first which of them visits have */
const fewRoutes = 1000

/** Routes are numbered across accounts: of many, only those with visits of this subject are searched. */
const routeIds = async (reader: Reader, facts: string, passes: (route: Route) => boolean) => {
  const read = async (sql: string) => (await reader.db.raw<{ rows: { route: number }[] }>(sql)).rows
  const all = await read(
    `select id as route from ${reader.table('details')} where dim = ${details.route} limit ${fewRoutes + 1}`,
  )
  const some = all.length > fewRoutes ? await read(`select distinct route from (${facts}) c`) : all
  const routes = await readRoutes(
    reader,
    some.map(({ route }) => route),
  )
  return [...routes].flatMap(([id, route]) => (passes(route) ? [id] : []))
}

const classCondition = (wanted: readonly VisitClass[]) =>
  wanted.map((name) => (name === 'human' ? `(${isClick})` : `class = ${classes[name]}`)).join(' or ')

/**
 * SQL that joins the scans of QR codes to the facts `f` that they led to. A hash join reads each once: with `seq in
 * (…)`, PostgreSQL searched all scans for each fact when its estimate was very low or high.
 */
export const scansBy = ({ table }: Reader, name: string, codes: string, { from, to }: Minutes) =>
  `left join (select seq - ${scanOffset} as ${name}_seq, minute as ${name}_minute from ${table('clicks')}
     where link in (${codes}) and account < 0 and minute >= ${from} and minute < ${to}
   ) ${name} on ${name}_seq = f.seq and ${name}_minute = f.minute`

/**
 * SQL that joins the visits that scans `f` of a QR code led to, when they are visits of something. Reads the visits of
 * the account in the minutes of the scans: a campaign may have many more.
 */
const ledTo = ({ table }: Reader, code: number, visited: string, { from, to }: Minutes) =>
  `left join (select seq + ${scanOffset} as led_seq, minute as led_minute from (
     select v.* from (
       select distinct account, minute from ${table('clicks')}
       where link = ${code} and account < 0 and minute >= ${from} and minute < ${to}
     ) s cross join lateral (
       select seq, link, minute from ${table('clicks')} c where c.account = -s.account and c.minute = s.minute offset 0
     ) v
   ) v where ${visited}) led on led_seq = f.seq and led_minute = f.minute`

/**
 * Returns the conditions on the contents of a campaign and a channel: a member was visited, or led to the visited
 * resource.
 */
const membership = async (
  reader: Reader,
  within: Pick<Within, 'campaign' | 'channel' | 'part'>,
  { subject, ...minutes }: Asked,
): Promise<Conditions> => {
  const { visited, codes } = await visitedWithin(reader, within)
  const { of } = visitedBy(subject)
  if (of === 'qr')
    return { joins: [ledTo(reader, subject, visited, minutes)], where: [`(${visited} or led_seq is not null)`] }
  if (codes === '') return { joins: [], where: [visited] }
  return { joins: [scansBy(reader, 'among', codes, minutes)], where: [`(${visited} or among_seq is not null)`] }
}

/** The minutes of a question, and the subject of its facts. */
export type Asked = Minutes & Pick<SubjectCounts, 'subject'>
/** Conditions on facts `f` within some minutes. */
export interface Conditions {
  readonly joins: readonly string[]
  readonly where: readonly string[]
}
/** Returns the SQL of the conditions of the filters. A scan has the minute of the visit that it led to. */
export const conditions = async (
  reader: Reader,
  facts: string,
  { class: wanted, unique, rule, revision, bio, campaign, channel, part, qr, destination, ...labels }: Filters,
  asked: Asked,
): Promise<Conditions> => {
  const where: string[] = wanted ? [`(${classCondition(wanted)})`] : []
  const joins: string[] = []
  if (unique !== undefined) where.push(unique ? isUnique : `not (${isUnique})`)
  if (campaign !== undefined || channel !== undefined || part !== undefined) {
    const within = await membership(reader, { campaign, channel, part }, asked)
    joins.push(...within.joins)
    where.push(...within.where)
  }
  if (qr !== undefined) {
    joins.push(scansBy(reader, 'scan', String(subjects.qr(qr)), asked))
    where.push('scan_seq is not null')
  }
  if (destination !== undefined) where.push(among('destination', await destinationIds(reader, destination)))
  for (const [name, values] of Object.entries(labels) as [Dim, readonly string[] | undefined][])
    if (values) where.push(among(name, await labelIds(reader, name, values)))
  if ((rule ?? revision ?? bio) === undefined) return { joins, where }
  const passes = (route: Route) =>
    (rule?.includes(route.rule) ?? true) &&
    route.revision === (revision ?? route.revision) &&
    route.bio === (bio ?? route.bio)
  return { joins, where: [...where, among('route', await routeIds(reader, facts, passes))] }
}

/**
 * Executes a statement with joins of these conditions by hashing, regardless of PostgreSQL's estimates. `few` rows may
 * be sorted afterwards.
 */
export const joined = async <R>(
  { db }: Reader,
  { joins }: Pick<Conditions, 'joins'>,
  sql: string,
  few: boolean,
): Promise<readonly R[]> => {
  // a hash of a million scans has 64 MB: with less memory, PostgreSQL would write the visits to disk, too
  const others = (value: string) =>
    `set local enable_nestloop = ${value}; set local enable_mergejoin = ${value}; set local work_mem = ${value === 'off' ? "'64MB'" : 'default'}`
  if (joins.length > 0) await db.raw(`${others('off')}${few ? '; set local enable_sort = on' : ''}`)
  const { rows } = await db.raw<{ rows: R[] }>(sql)
  if (joins.length > 0) await db.raw(others('on'))
  return rows
}
