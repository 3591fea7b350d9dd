import { prepared } from '../../postgres/database.ts'
import { isClick, subjects } from '../../projections/statistics/clickfacts.ts'
import { dims, topDimensions } from '../../projections/statistics/labels.ts'
import {
  BeforeHorizon,
  correctedIn,
  type SubjectCounts,
  endOfMinutes,
  factsOf,
  firstMinute,
  inPlan,
  type Minutes,
  outsidePlan,
  planOf,
  readCounted,
} from './facts.ts'
import { type Count, readCounts } from './labels.ts'
import { type Reader, readOneMoment } from '../reader.ts'

type Dimension = (typeof topDimensions)[number]

/** Clicks without bots, previews and prefetches; the counts are in descending order. */
export interface ClickStats extends Readonly<Record<Dimension, readonly Count[]>> {
  readonly clicks: number
  readonly uniques: number
}

const tops = topDimensions.map((name) => dims[name]).join()
const dayMinutes = 1440

/** SQL of the labels of a subject that are rolled up, with the minutes whose facts have the others. */
interface Labels {
  readonly rolled: string
  readonly facts: readonly Minutes[]
  /** minutes whose visits after an earlier position are in `rolled`, too */
  readonly later: readonly Minutes[]
}

/** Returns the first and the last day of a subject that are rolled up. */
const daysOf = async ({ db, table }: Reader, subject: number) => {
  const sql = `select min(day) as first, max(day) as last from ${table('days')} where subject = ? and dim = ${dims.country}`
  const { rows } = await db
    .raw<{ rows: { first: number | null; last: number | null }[] }>(sql, [subject])
    .options(prepared(sql))
  const { first = null, last = null } = rows[0] ?? {}
  return { first: first ?? 0, last: last ?? 0 }
}

/**
 * Returns the day of an earlier position if it is to be counted by its roll-up less the later visits, which are fewer
 * in its second half. A day that a later one follows is rolled up whole. Where classes were changed since, that may
 * have been before or after a visit was rolled up.
 */
const wholeDay = ({ rolled, horizon, earlier }: SubjectCounts, last: number): number | undefined => {
  const day = Math.floor((rolled ?? firstMinute) / dayMinutes)
  const isLate = rolled !== null && rolled - day * dayMinutes > dayMinutes / 2
  const isKept = horizon === null || horizon <= day * dayMinutes
  return isLate && isKept && last > day && !earlier?.corrected ? day : undefined
}

/**
 * Returns the labels of a subject. At an earlier position, they are the sum of the days before it, or all time less the
 * other days, whichever are fewer.
 */
const labelsOf = async (reader: Reader, counted: SubjectCounts): Promise<Labels> => {
  const { table } = reader
  const { subject, rolled, since, horizon, earlier } = counted
  const allTime = `select dim, label, clicks as n from ${table('tops')} where subject = ${subject}`
  if (!earlier) return { rolled: allTime, facts: [{ from: rolled ?? firstMinute, to: endOfMinutes }], later: [] }
  const { first, last } = await daysOf(reader, subject)
  const day = wholeDay(counted, last)
  const whole = { from: Math.ceil(firstMinute / dayMinutes), to: Math.floor(endOfMinutes / dayMinutes) }
  const plan = planOf({ from: firstMinute, to: endOfMinutes }, whole, dayMinutes, {
    ...counted,
    rolled: day === undefined ? rolled : (day + 1) * dayMinutes,
  })
  const gone = rolled === null || horizon === null ? undefined : horizon
  if (gone !== undefined && plan.skipped.some((skipped) => skipped * dayMinutes < gone)) throw new BeforeHorizon(gone)
  const select = 'dim, label, -clicks as n'
  const days = `from ${table('days')} where subject = ${subject} and dim in (${tops})`
  const corrected = correctedIn({ table }, counted, { plan, period: 'day', select, dim: tops })
  // what was moved there without a day is in all time only
  const isFromAll = since !== null || 2 * plan.rolled.to > first + last
  const others = outsidePlan('day', plan).map((condition) => `union all select ${select} ${days} and ${condition}`)
  const sum = isFromAll
    ? `${allTime} ${others.join(' ')}`
    : `select dim, label, clicks as n ${days} and ${inPlan('day', plan)}`
  const isWhole = day !== undefined && !plan.skipped.includes(day)
  return {
    rolled: `${sum} ${corrected}`,
    facts: plan.facts,
    later: isWhole && rolled !== null ? [{ from: rolled, to: (day + 1) * dayMinutes }] : [],
  }
}

const clickStats = async (reader: Reader, link: number): Promise<ClickStats> => {
  const counted = await readCounted(reader, { link })
  const { clicks, uniques } = counted
  if (clicks === 0) return { clicks, uniques, country: [], referrer: [], browser: [], os: [], variant: [], address: [] }
  const labels = await labelsOf(reader, counted)
  const columns = `${topDimensions.join()}, class`
  const facts = [
    `select ${columns}, 1 as n from (${factsOf(reader, counted, labels.facts)}) c`,
    ...(labels.later.length > 0
      ? [`select ${columns}, -1 from (${factsOf(reader, counted, labels.later, 'later')}) c`]
      : []),
  ]
  // one pass over the clicks that are not rolled up counts by all dimensions
  const countsOf = await readCounts(
    reader,
    `recent as (
       select ${topDimensions.join()}, sum(n) as n from (${facts.join(' union all ')}) c where ${isClick}
       group by grouping sets (${topDimensions.map((name) => `(${name})`).join()})
     ), counted as (
       ${labels.rolled}
       union all
       select d.dim, d.label, n from recent
       cross join lateral (values ${topDimensions.map((name) => `(${dims[name]}::smallint, ${name}::int)`).join()}) as d (dim, label)
       where d.label is not null
     )`,
    'counted',
  )
  const of = (dimension: Dimension) => countsOf(dims[dimension]).counts
  return {
    clicks,
    uniques,
    country: of('country'),
    referrer: of('referrer'),
    browser: of('browser'),
    os: of('os'),
    variant: of('variant'),
    address: of('address'),
  }
}

export const linkStats = (reader: Reader, id: number) =>
  readOneMoment(reader, (moment) => clickStats(moment, subjects.link(id)))
/** Returns the statistics of the scans of a QR code. */
export const scanStats = (reader: Reader, id: number) =>
  readOneMoment(reader, (moment) => clickStats(moment, subjects.qr(id)))
/** Returns the statistics of the views of a bio page. The caller reads its clicks too, from the same moment. */
export const viewStats = (reader: Reader, id: number) => clickStats(reader, subjects.view(id))
