import { type Interval, startsIn, utc } from '../../lib/zone.ts'
import { isClick, isUnique, minuteMs, timeOf, unknownVisitor } from '../../projections/statistics/clickfacts.ts'
import { dims } from '../../projections/statistics/labels.ts'
import { plausible, quarter } from '../../projections/statistics/rollup.ts'
import {
  BeforeHorizon,
  correctedIn,
  type SubjectCounts,
  factsOf,
  inPlan,
  type Minutes,
  type Plan,
  planOf as planFor,
  readCounted,
  type Subject,
} from './facts.ts'
import { type Breakdown, readCounts } from './labels.ts'
import { type Reader, readOneMoment } from '../reader.ts'

export type { Subject } from './facts.ts'
export const seriesDimensions = [
  'country',
  'referrer',
  'browser',
  'os',
  'device',
  'language',
  'source',
  'variant',
  'medium',
  'address',
] as const
export type SeriesDimension = (typeof seriesDimensions)[number]

export interface SeriesOptions {
  /** inclusive */
  readonly from: Date
  /** exclusive */
  readonly to: Date
  readonly interval: Interval
  /** whose hours, days, weeks and months these are; UTC without it */
  readonly zone?: string | undefined
  readonly by: readonly SeriesDimension[]
}
export interface Series {
  readonly total: {
    readonly clicks: number
    readonly uniques: number
    /** including bots, previews and prefetches */
    readonly visits: number
    /** clicks beyond 30 per minute by one visitor on one link; they count as clicks too */
    readonly suspects: number
  }
  /** one per interval, including empty ones */
  readonly points: readonly {
    readonly at: Date
    readonly clicks: number
    readonly uniques: number
    readonly visits: number
  }[]
  readonly by: Readonly<Partial<Record<SeriesDimension, Breakdown>>>
}

/** Returns the clicks over time and their total, which is the sum over the intervals. */
export const clickSeries = (reader: Reader, subject: Subject, options: SeriesOptions): Promise<Series> =>
  readOneMoment(reader, (moment) => readSeries(moment, subject, options))

/** Throws `BeforeHorizon` if the plan needs facts that were dropped. */
const checked = (
  plan: Plan,
  { from }: Pick<SeriesOptions, 'from'>,
  { rolled, since, horizon }: SubjectCounts,
): Plan => {
  if (since !== null && from.getTime() < since * minuteMs) throw new BeforeHorizon(Math.max(since, horizon ?? since))
  // before the horizon was set, everything from `rolled` to it was rolled up
  const gone = rolled === null || horizon === null ? -Infinity : Math.min(rolled, horizon)
  if (plan.facts.some((range) => range.from < gone)) throw new BeforeHorizon(horizon ?? gone)
  return plan
}

/**
 * Plans a question about a time, by periods of so many minutes. The period that is under way counts as a whole one:
 * what it has in the roll-ups is all before the end of a time that ends now. At an earlier position, they may have
 * later visits.
 */
const planOf = (options: SeriesOptions, period: number, counted: SubjectCounts): Plan => {
  const [first, end] = [options.from.getTime() / minuteMs, options.to.getTime() / minuteMs]
  const all = { from: Math.floor(first), to: Math.ceil(end) }
  const { rolled, earlier } = counted
  const isUnderWay = rolled !== null && rolled <= end && !earlier
  const whole = {
    from: Math.ceil(first / period),
    to: isUnderWay ? Math.ceil(end / period) : Math.floor(end / period),
  }
  return checked(planFor(all, whole, period, counted), options, counted)
}

export type Time = Pick<SeriesOptions, 'from' | 'to'>
/** Returns the minutes that a time has a part of. */
export const minutesOf = ({ from, to }: Time): Minutes => ({
  from: Math.floor(from.getTime() / minuteMs),
  to: Math.ceil(to.getTime() / minuteMs),
})

/**
 * Returns SQL of all facts of a time, without the roll-ups: for what they do not have. Throws `BeforeHorizon` if some
 * of the facts were dropped.
 */
export const factsOfTime = (reader: Reader, counted: SubjectCounts, time: Time): string =>
  factsIn(reader, counted, withoutRollups(counted, time), time)

/** The same of whole minutes, which an index has without the rows. */
export const factsOfMinutes = (reader: Reader, counted: SubjectCounts, time: Time): string =>
  factsOf(reader, counted, withoutRollups(counted, time).facts)

const withoutRollups = (counted: SubjectCounts, time: Time) =>
  checked(planFor(minutesOf(time), { from: 0, to: 0 }, 1, counted), time, counted)

/** SQL of the facts in the plan that are not before the first moment and not after the last one. */
const factsIn = (
  reader: Reader,
  counted: SubjectCounts,
  { facts }: Plan,
  { from, to }: Pick<SeriesOptions, 'from' | 'to'>,
) => {
  const [first, end] = [timeOf(from.getTime()), timeOf(to.getTime())]
  return `select * from (${factsOf(reader, counted, facts)}) c
    where (c.minute, c.ms) >= (${first.minute}, ${first.ms}) and (c.minute, c.ms) < (${end.minute}, ${end.ms})`
}

const readSeries = async (reader: Reader, of: Subject, options: SeriesOptions): Promise<Series> => {
  const counted = await readCounted(reader, of)
  const points = await readPoints(reader, counted, options)
  const by = options.by.length === 0 ? {} : await readBreakdowns(reader, counted, options)
  const sum = (column: 'clicks' | 'uniques' | 'visits' | 'suspects') =>
    points.reduce((total, point) => total + point[column], 0)
  return {
    total: { clicks: sum('clicks'), uniques: sum('uniques'), visits: sum('visits'), suspects: sum('suspects') },
    points: points.map(({ at, clicks, uniques, visits }) => ({ at, clicks, uniques, visits })),
    by,
  }
}

/** The sums of one interval. */
interface Point extends Readonly<Series['total']> {
  readonly at: Date
}

/** Returns the moments at which the intervals of a series begin. */
const startsOf = ({ zone = utc, from, to, interval }: Omit<SeriesOptions, 'by'>): readonly Date[] =>
  startsIn(zone, from.getTime(), to.getTime(), interval).map((start) => new Date(start))

/** SQL of the number of the interval that a minute is in; the first one is 1. */
export const intervalOf = (minute: string, options: Omit<SeriesOptions, 'by'>): string =>
  `width_bucket(${minute}::bigint, '{${startsOf(options)
    .map((start) => Math.floor(start.getTime() / minuteMs))
    .join()}}'::bigint[])`

const readPoints = async (
  reader: Reader,
  counted: SubjectCounts,
  options: SeriesOptions,
): Promise<readonly Point[]> => {
  const plan = planOf(options, quarter, counted)
  type Row = Readonly<Record<keyof Series['total'], string>> & { readonly at: number }
  const columns = ['clicks', 'uniques', 'visits', 'suspects'] as const
  const { rows } = await reader.db.raw<{ rows: Row[] }>(
    `with minutes as (
       select minute, visitor, count(*)::int as visits, (count(*) filter (where ${isClick}))::int as clicks,
         (count(*) filter (where ${isUnique}))::int as uniques
       from (${factsIn(reader, counted, plan, options)}) c group by link, visitor, minute
     ), quarters as (
       select minute / ${quarter} as quarter, sum(clicks) as clicks, sum(uniques) as uniques, sum(visits) as visits,
         sum(case when visitor = ${unknownVisitor} then 0 else greatest(clicks - ${plausible}, 0) end) as suspects
       from minutes group by 1
       union all
       select quarter, ${columns.join()} from ${reader.table('quarters')} where subject = ${counted.subject} and ${inPlan('quarter', plan)}
       ${correctedIn(reader, counted, { plan, period: 'quarter', select: `quarter, -clicks, -uniques, -visits, -suspects` })}
     )
     select ${intervalOf(`(quarter * ${quarter})`, options)} as at, ${columns.map((name) => `sum(${name}) as ${name}`).join()}
     from quarters group by 1`,
  )
  const sums = new Map(rows.map((row) => [row.at, row]))
  return startsOf(options).map((at, n) => {
    const { clicks = 0, uniques = 0, visits = 0, suspects = 0 } = sums.get(n + 1) ?? {}
    const [clicked, first, visited, suspected] = [clicks, uniques, visits, suspects].map(Number) as [
      number,
      number,
      number,
      number,
    ]
    return { at, clicks: clicked, uniques: first, visits: visited, suspects: suspected }
  })
}

/** Returns the clicks by the labels of each dimension that is asked for, in descending order. */
const readBreakdowns = async (
  reader: Reader,
  counted: SubjectCounts,
  options: SeriesOptions,
): Promise<Series['by']> => {
  const { table } = reader
  const { by } = options
  const plan = planOf(options, 1440, counted)
  const countsOf = await readCounts(
    reader,
    `counted as (
       select ${by.join()}, count(*) as n from (${factsIn(reader, counted, plan, options)}) c where ${isClick}
       group by grouping sets (${by.map((name) => `(${name})`).join()})
     ), parts as (
       select d.dim, d.label, n from counted
       cross join lateral (values ${by.map((name) => `(${dims[name]}::smallint, ${name}::int)`).join()}) as d (dim, label)
       where d.label is not null
       union all
       ${by
         .map(
           (name) => `select dim, label, clicks from ${table('days')}
           where subject = ${counted.subject} and dim = ${dims[name]} and ${inPlan('day', plan)}`,
         )
         .join(' union all ')}
       ${correctedIn(reader, counted, { plan, period: 'day', select: 'dim, label, -clicks', dim: by.map((name) => dims[name]).join() })}
     )`,
    'parts',
  )
  return Object.fromEntries(by.map((name) => [name, countsOf(dims[name])]))
}
