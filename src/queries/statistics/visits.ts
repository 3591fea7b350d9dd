import { indexOf, minuteMs, positionOf, timeOf } from '../../projections/statistics/clickfacts.ts'
import type { Route } from '../../projections/statistics/labels.ts'
import { type Listed, mostCounted, type Position } from '../page.ts'
import { type Reader, readOneMoment } from '../reader.ts'
import { linksIn } from '../streams/membership.ts'
import { conditions, type Filters, readRoutes } from './conditions.ts'
import { readCounted, type Subject, type SubjectCounts } from './facts.ts'
import { readDetails } from './labels.ts'
import { clicksFrom, type ExportedClick, factColumns, type FactRow, momentOf } from './recorded.ts'
import { factsOfTime } from './series.ts'

/** One visit behind a figure of the statistics. */
export interface Visit extends Omit<ExportedClick, 'labels'>, Pick<Route, 'revision' | 'rule' | 'bio'> {
  readonly labels: ExportedClick['labels']
  /** of the event that recorded it */
  readonly position: bigint
  /** its place among the clicks of the event */
  readonly index: number
  readonly destination: string
}

/** A visit on a page, and where the list goes on after it. */
export interface ListedVisit extends Visit {
  readonly place: Position
}

export interface VisitsRequest {
  /** inclusive */
  readonly from: Date
  /** exclusive */
  readonly to: Date
  readonly filters: Filters
  /** whether visits have the classes that they were counted with first */
  readonly asThen?: boolean
  readonly limit: number
  /** the last visit that the client has */
  readonly after?: Position | undefined
}

/** visits that an answer reads at most, where filters leave some of them out */
const mostRead = 50_000

/** The newest visit that an answer may have is before this one, and so many came before it. */
interface Start {
  readonly ms: number
  readonly seq: string
  readonly seen: number
}
const startOf = ([ms = 0, seq = 0, seen = 0]: Position): Start => ({
  ms: Number(ms),
  seq: String(seq),
  seen: Number(seen),
})

interface Row extends FactRow {
  readonly route: number
  readonly destination: number
}

/** Which facts may answer a question, and of which subjects. */
interface Source {
  readonly counted: SubjectCounts
  /** the subjects: an index has the newest facts of each */
  readonly links: readonly number[] | undefined
  readonly filters: Filters
}

/** Of a campaign, the links are looked up one by one: it may have few visits among all those of the account. */
const sourceOf = async (
  reader: Reader,
  subject: Subject,
  { filters: { campaign, ...filters }, asThen = false }: Pick<VisitsRequest, 'filters' | 'asThen'>,
): Promise<Source> => {
  const counted = { ...(await readCounted(reader, subject)), asThen }
  const links = campaign === undefined || 'link' in subject ? undefined : await linksIn(reader, campaign)
  return { counted, links, filters: links ? filters : { campaign, ...filters } }
}

/**
 * Returns the first minute from which so many facts of each subject may be read; undefined when there are no more. The
 * index has the minutes without the rows.
 */
const firstMinuteOf = async (
  reader: Reader,
  { counted, links }: Source,
  time: Pick<VisitsRequest, 'from' | 'to'>,
  most: number,
): Promise<number | undefined> => {
  const facts = factsOfTime(reader, links ? { ...counted, whose: 'c.link = l.id' } : counted, time)
  const { rows } = await reader.db.raw<{ rows: { first: number | null }[] }>(
    `select max(first) as first from unnest(?::bigint[]) as l (id) cross join lateral (
       select min(minute) as first, count(*) as n from (select minute from (${facts}) f order by minute desc limit ${most + 1}) f
     ) f where n > ${most}`,
    [[...(links ?? [counted.subject])]],
  )
  return rows[0]?.first ?? undefined
}

interface Found {
  readonly n: number
  readonly rows: readonly Row[] | null
}

const columns = [...factColumns, 'route', 'destination'] as const
/** a number in JSON has 53 bits */
const inJson = columns.map((name) => (['seq', 'link', 'account'].includes(name) ? `f.${name}::text` : `f.${name}`))
const newestFirst = 'order by f.minute desc, f.ms desc, f.seq desc'

/** Returns how many visits pass the filters, `most` at most, and the newest of them. */
const findVisits = async (
  reader: Reader,
  { counted, links, filters }: Source,
  time: Pick<VisitsRequest, 'from' | 'to'>,
  { start, most, limit }: { readonly start: Start; readonly most: number; readonly limit: number },
): Promise<Found> => {
  const own = links ? { ...counted, whose: `c.link = any('{${links.join()}}'::bigint[])` } : counted
  const facts = factsOfTime(reader, own, time)
  const { minute, ms } = timeOf(start.ms)
  // in the order of the index: a planner that may not sort would else read all visits of a month for their routes
  const ordered = `select route from (${facts}) f order by minute desc`
  const where = [
    `(minute, ms, seq) < (${minute}, ${ms}, ${start.seq})`,
    ...(await conditions(reader, ordered, filters)),
  ]
  const { rows } = await reader.db.raw<{ rows: Found[] }>(
    `with found as (select ${columns.join()} from (${facts}) f where ${where.join(' and ')} ${newestFirst} limit ${most})
     select (select count(*)::int from found) as n,
       (select json_agg(p) from (select ${inJson.join()} from found f ${newestFirst} limit ${limit}) p) as rows`,
  )
  return rows[0]!
}

/** rows that are made at a time: other requests are answered between two of these */
const inOneTurn = 2000

const presented = async (reader: Reader, rows: readonly Row[], seen: number): Promise<readonly ListedVisit[]> => {
  const visits: ListedVisit[] = []
  while (visits.length < rows.length) {
    const next = rows.slice(visits.length, visits.length + inOneTurn)
    visits.push(...(await presentedSome(reader, next, seen + visits.length)))
  }
  return visits
}

const presentedSome = async (reader: Reader, rows: readonly Row[], seen: number): Promise<readonly ListedVisit[]> => {
  const clicks = await clicksFrom(reader, rows)
  const routes = await readRoutes(
    reader,
    rows.map(({ route }) => route),
  )
  const destinations = await readDetails(
    reader,
    'destination',
    rows.map(({ destination }) => destination),
  )
  return clicks.map((click, i) => {
    const row = rows[i]!
    const { seq, route, destination } = row
    const { revision = 0, rule = '', bio = null } = routes.get(route) ?? {}
    const event = { position: positionOf(BigInt(seq)), index: indexOf(BigInt(seq)) }
    const place = [momentOf(row).getTime(), seq, seen + i + 1]
    return { ...click, ...event, revision, rule, bio, destination: destinations.get(destination) ?? '', place }
  })
}

const isFiltered = (filters: Filters) => Object.values(filters).some((value) => value !== undefined)

const read = async (
  reader: Reader,
  subject: Subject,
  request: VisitsRequest,
  budget: number,
): Promise<Listed<ListedVisit>> => {
  const { from, limit, after } = request
  const start = after ? startOf(after) : { ms: request.to.getTime(), seq: '0', seen: 0 }
  const to = new Date(Math.min(request.to.getTime(), start.ms + 1))
  const source = await sourceOf(reader, subject, request)
  const nothing = { rows: [], total: Math.min(start.seen, mostCounted) }
  if (from >= to || source.links?.length === 0) return nothing
  const most = Math.max(limit, mostCounted - start.seen) + 1
  const inAll = isFiltered(source.filters) ? Math.max(budget, limit + 1) : most
  const ofEach = Math.max(limit + 1, Math.ceil(inAll / (source.links?.length ?? 1)))
  // a planner whose statistics are old expects a few rows, and sorts a million of them
  await reader.db.raw(`set local enable_sort = off; set local enable_bitmapscan = off`)
  const first = await firstMinuteOf(reader, source, { from, to }, ofEach)
  const time = { from: first === undefined ? from : new Date(Math.max(from.getTime(), first * minuteMs)), to }
  const { n, rows } = await findVisits(reader, source, time, { start, most, limit: limit + 1 })
  const page = (rows ?? []).slice(0, limit)
  const total = Math.min(start.seen + n, mostCounted)
  const listed = { rows: await presented(reader, page, start.seen), total }
  if (n > limit) return { ...listed, next: listed.rows.at(-1)?.place }
  return first === undefined ? listed : { ...listed, next: [first * minuteMs, '0', start.seen + n] }
}

/**
 * Returns the visits behind a figure, newest first. Where filters leave most of them out, an answer ends before it has
 * as many as were asked for, and `next` is where to go on. `total` counts as far as was read.
 */
export const visitsBehind = (
  reader: Reader,
  subject: Subject,
  request: VisitsRequest,
  budget = mostRead,
): Promise<Listed<ListedVisit>> => readOneMoment(reader, (moment) => read(moment, subject, request, budget))
