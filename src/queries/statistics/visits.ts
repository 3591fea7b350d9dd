import { indexOf, minuteMs, positionOf } from '../../projections/statistics/clickfacts.ts'
import type { Route } from '../../projections/statistics/labels.ts'
import { type Listed, mostCounted, type Position } from '../page.ts'
import { type Reader, readOneMoment } from '../reader.ts'
import { conditions, type Filters, joined, readRoutes } from './conditions.ts'
import type { Subject } from './facts.ts'
import { readDetails } from './labels.ts'
import { clicksFrom, type ExportedClick, factColumns, type FactRow, momentOf } from './recorded.ts'
import { factsOfTime, minutesOf, type Time } from './series.ts'
import { countBefore, firstMinuteOf, isBefore, ofAll, type Source, sourceOf, type Start } from './window.ts'

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

/**
 * Visits that an answer reads at most, where filters leave some of them out: of an account, whose visits are beside
 * each other on disk, and of a link, which may have each on a page of its own.
 */
const mostRead = { account: 25_000, link: 15_000 } as const

/** So many visits came before. */
interface Place extends Start {
  readonly seen: number
}
const placeOf = ([ms = 0, seq = 0, seen = 0]: Position): Place => ({
  ms: Number(ms),
  seq: String(seq),
  seen: Number(seen),
})

interface Row extends FactRow {
  readonly route: number
  readonly destination: number
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
  source: Source,
  time: Time,
  { start, most, limit }: Wanted,
): Promise<Found> => {
  const facts = factsOfTime(reader, ofAll(source), time)
  // in the order of the index: a planner that may not sort would else read all visits of a month for their routes
  const ordered = `select route from (${facts}) f order by minute desc`
  const found = await conditions(reader, ordered, source.filters, {
    ...minutesOf(time),
    subject: source.counted.subject,
  })
  const where = [isBefore(start), ...found.where].join(' and ')
  const [row] = await joined<Found>(
    reader,
    found,
    `with found as (select ${columns.join()} from (${facts}) f ${found.joins.join(' ')} where ${where} ${newestFirst} limit ${most})
     select (select count(*)::int from found) as n,
       (select json_agg(p) from (select ${inJson.join()} from found f ${newestFirst} limit ${limit}) p) as rows`,
    true,
  )
  return row!
}
interface Wanted {
  readonly start: Start
  readonly most: number
  readonly limit: number
}

/** The same without filters: of each subject, no more visits are read than are asked for. */
const newestVisits = async (reader: Reader, source: Source, time: Time, { start, most, limit }: Wanted) => {
  const { counted, links } = source
  const facts = factsOfTime(reader, links ? { ...counted, whose: 'c.link = l.id' } : counted, time)
  const { rows } = await reader.db.raw<{ rows: Pick<Found, 'rows'>[] }>(
    `select json_agg(p) as rows from (
       select ${inJson.join()} from unnest(?::bigint[]) as l (id) cross join lateral (
         select ${columns.join()} from (${facts}) f where ${isBefore(start)} ${newestFirst} limit ${limit}
       ) f ${newestFirst} limit ${limit}) p`,
    [[...(links ?? [counted.subject])]],
  )
  return { n: await countBefore(reader, source, time, start, most), rows: rows[0]!.rows }
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
  const { from, limit, after, asThen = false } = request
  const { seen, ...start } = after ? placeOf(after) : { ms: request.to.getTime(), seq: '0', seen: 0 }
  // no visit of its millisecond is before the number 0
  const to = new Date(Math.min(request.to.getTime(), start.seq === '0' ? start.ms : start.ms + 1))
  const source = await sourceOf(reader, subject, request.filters, asThen)
  if (from >= to || source.links?.length === 0) return { rows: [], total: Math.min(seen, mostCounted) }
  const wanted = { start, most: Math.max(limit, mostCounted - seen) + 1, limit: limit + 1 }
  // a planner whose statistics are old expects a few rows, and sorts a million of them
  // and looks through a month for a day of it, with several processes
  const off = ['sort', 'bitmapscan', 'seqscan'].map((name) => `set local enable_${name} = off`)
  await reader.db.raw(`${off.join('; ')}; set local max_parallel_workers_per_gather = 0`)
  const first = isFiltered(source.filters)
    ? await firstMinuteOf(reader, source, { from, to }, each(source, budget, limit))
    : undefined
  const time = { from: first === undefined ? from : new Date(Math.max(from.getTime(), first * minuteMs)), to }
  const find = isFiltered(source.filters) ? findVisits : newestVisits
  const { n, rows } = await find(reader, source, time, wanted)
  const page = (rows ?? []).slice(0, limit)
  const listed = { rows: await presented(reader, page, seen), total: Math.min(seen + n, mostCounted) }
  if (n > limit) return { ...listed, next: listed.rows.at(-1)?.place }
  return first === undefined ? listed : { ...listed, next: [first * minuteMs, '0', seen + n] }
}

/** Returns how many visits of each subject may be read. */
const each = ({ links, codes }: Source, budget: number, limit: number) =>
  Math.max(limit + 1, Math.ceil(budget / ((links?.length ?? 1) + codes.length)))

/**
 * Returns the visits behind a figure, newest first. Where filters leave most of them out, an answer ends before it has
 * as many as were asked for, and `next` is where to go on. `total` counts as far as was read.
 */
export const visitsBehind = (
  reader: Reader,
  subject: Subject,
  request: VisitsRequest,
  budget: number = 'account' in subject && request.filters.campaign === undefined ? mostRead.account : mostRead.link,
): Promise<Listed<ListedVisit>> => readOneMoment(reader, (moment) => read(moment, subject, request, budget))
