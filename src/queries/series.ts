import { isClick, isUnique, minuteMs, timeOf } from '../projections/clickfacts.ts'
import { dims } from '../projections/labels.ts'
import { plausible } from '../projections/rollup.ts'
import { BeforeHorizon, type Counted, factsOf, type Minutes, readCounted, type Subject } from './facts.ts'
import { type Reader, readOneMoment } from './reader.ts'
import type { Count } from './stats.ts'

export type { Subject } from './facts.ts'
export type Interval = 'hour' | 'day' | 'month'
export const seriesDimensions = [
  'country',
  'referrer',
  'browser',
  'os',
  'device',
  'language',
  'source',
  'variant',
] as const
export type SeriesDimension = (typeof seriesDimensions)[number]

export interface SeriesOptions {
  /** inclusive */
  readonly from: Date
  /** exclusive */
  readonly to: Date
  readonly interval: Interval
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
  readonly points: readonly { readonly at: Date; readonly clicks: number; readonly uniques: number }[]
  readonly by: Readonly<Partial<Record<SeriesDimension, readonly Count[]>>>
}

/** Returns the clicks over time and their total, which is the sum over the intervals. */
export const clickSeries = (reader: Reader, subject: Subject, options: SeriesOptions): Promise<Series> =>
  readOneMoment(reader, (moment) => readSeries(moment, subject, options))

/** How a question is answered: by roll-ups of whole periods of time, and by the facts of all other minutes. */
interface Plan {
  /** the periods, counted since 1970 */
  readonly rolled: Minutes
  readonly facts: readonly Minutes[]
}

/** Throws `BeforeHorizon` if the plan needs facts that were dropped. */
const checked = (plan: Plan, { from }: SeriesOptions, { rolled, since, horizon }: Counted): Plan => {
  if (since !== null && from.getTime() < since * minuteMs) throw new BeforeHorizon(Math.max(since, horizon ?? since))
  // before the horizon was set, everything from `rolled` to it was rolled up
  const gone = rolled === null || horizon === null ? -Infinity : Math.min(rolled, horizon)
  if (plan.facts.some((range) => range.from < gone)) throw new BeforeHorizon(horizon ?? gone)
  return plan
}

/** Splits a time into whole periods of so many minutes, as far as they are rolled up, and the minutes before and after them. */
const planOf = (options: SeriesOptions, period: number, counted: Counted): Plan => {
  const { from, to } = options
  const { rolled } = counted
  const [first, end] = [from.getTime() / minuteMs, to.getTime() / minuteMs]
  const all = { from: Math.floor(first), to: Math.ceil(end) }
  const whole = { from: Math.ceil(first / period), to: Math.floor(end / period) }
  if (rolled === null || whole.from >= whole.to)
    return checked({ rolled: { from: 0, to: 0 }, facts: [all] }, options, counted)
  const [start, stop] = [whole.from * period, whole.to * period]
  const recent = { from: Math.max(start, rolled), to: stop }
  const facts = [{ from: all.from, to: start }, recent, { from: stop, to: all.to }]
  return checked({ rolled: whole, facts: facts.filter((range) => range.from < range.to) }, options, counted)
}

/** SQL of the facts in the plan that are not before the first moment and not after the last one. */
const factsIn = (reader: Reader, counted: Counted, { facts }: Plan, { from, to }: SeriesOptions) => {
  const [first, end] = [timeOf(from.getTime()), timeOf(to.getTime())]
  return `select * from (${factsOf(reader, counted, facts)}) c
    where (c.minute, c.ms) >= (${first.minute}, ${first.ms}) and (c.minute, c.ms) < (${end.minute}, ${end.ms})`
}

const readSeries = async (reader: Reader, of: Subject, options: SeriesOptions): Promise<Series> => {
  const { db, table } = reader
  const { from, to, interval, by } = options
  const counted = await readCounted(reader, of)
  const plan = planOf(options, 60, counted)
  const facts = factsIn(reader, counted, plan, options)
  const hours = `${table('hours')} h where h.subject = ${counted.subject} and h.hour >= ${plan.rolled.from} and h.hour < ${plan.rolled.to}`
  const start = (minutes: string) =>
    `date_trunc('${interval}', to_timestamp(${minutes}::bigint * 60) at time zone 'UTC') as at`
  const { rows } = await db.raw<{ rows: { at: Date; clicks: string; uniques: string; visits: string }[] }>(
    `with parts as (
       select ${start('c.minute')}, count(*) filter (where ${isClick}) as clicks, count(*) filter (where ${isUnique}) as uniques, count(*) as visits
       from (${facts}) c group by 1
       union all
       select ${start('h.hour * 60')}, sum(clicks), sum(uniques), sum(visits) from ${hours} group by 1
     ), counted as (
       select at, sum(clicks) as clicks, sum(uniques) as uniques, sum(visits) as visits from parts group by 1
     )
     select i.at at time zone 'UTC' as at, coalesce(clicks, 0) as clicks, coalesce(uniques, 0) as uniques, coalesce(visits, 0) as visits
     from generate_series(date_trunc('${interval}', ?::timestamptz at time zone 'UTC'),
       (?::timestamptz - interval '1 millisecond') at time zone 'UTC', '1 ${interval}') i (at)
     left join counted using (at) order by i.at`,
    [from.toISOString(), to.toISOString()],
  )
  const suspected = await db.raw<{ rows: { n: string }[] }>(
    `select coalesce(sum(n), 0) as n from (
       select count(*) - ${plausible} as n from (${facts}) c where ${isClick} group by link, visitor, minute having count(*) > ${plausible}
       union all
       select sum(suspects) from ${hours}
     ) many`,
  )
  const labelled: [SeriesDimension, readonly Count[]][] = []
  // one after another: the connection of a moment runs one query at a time
  for (const dimension of by) labelled.push([dimension, await readLabels(reader, counted, dimension, options)])
  const sum = (column: 'clicks' | 'uniques' | 'visits') => rows.reduce((total, row) => total + Number(row[column]), 0)
  return {
    total: {
      clicks: sum('clicks'),
      uniques: sum('uniques'),
      visits: sum('visits'),
      suspects: Number(suspected.rows[0]?.n ?? 0),
    },
    points: rows.map(({ at, clicks, uniques }) => ({ at, clicks: Number(clicks), uniques: Number(uniques) })),
    by: Object.fromEntries(labelled),
  }
}

/** Returns the clicks by the labels of a dimension, in descending order. */
const readLabels = async (
  reader: Reader,
  counted: Counted,
  dimension: SeriesDimension,
  options: SeriesOptions,
): Promise<readonly Count[]> => {
  const { db, table } = reader
  const plan = planOf(options, 1440, counted)
  const { rows } = await db.raw<{ rows: { label: string; n: string }[] }>(
    `select l.label, n from (
       select id, sum(n) as n from (
         select ${dimension}::int as id, count(*) as n from (${factsIn(reader, counted, plan, options)}) c where ${isClick} group by 1
         union all
         select label, sum(clicks) from ${table('days')}
         where subject = ${counted.subject} and dim = ${dims[dimension]} and day >= ${plan.rolled.from} and day < ${plan.rolled.to} group by 1
       ) parts group by 1
     ) counted join ${table('labels')} l on l.id = counted.id and l.dim = ${dims[dimension]}
     order by n desc, l.label`,
  )
  return rows.map(({ label, n }) => ({ label, n: Number(n) }))
}
