import { isClick, subjects } from '../projections/clickfacts.ts'
import { dims, topDimensions } from '../projections/labels.ts'
import {
  BeforeHorizon,
  correctedIn,
  type Counted,
  endOfMinutes,
  factsOf,
  firstMinute,
  inPlan,
  type Minutes,
  outsidePlan,
  planOf,
  readCounted,
} from './facts.ts'
import { type Reader, readOneMoment } from './reader.ts'

type Dimension = (typeof topDimensions)[number]

/** A label and its number of clicks. */
export interface Count {
  readonly label: string
  readonly n: number
}
/** Clicks without bots, previews and prefetches; the counts are in descending order. */
export interface ClickStats extends Readonly<Record<Dimension, readonly Count[]>> {
  readonly clicks: number
  readonly uniques: number
}

const tops = topDimensions.map((name) => dims[name]).join()
const dayMinutes = 1440

/** Returns whether more of the days of a subject that are rolled up are before a day than after it. */
const isLate = async ({ db, table }: Reader, subject: number, day: number) => {
  const { rows } = await db.raw<{ rows: { first: number | null; last: number | null }[] }>(
    `select min(day) as first, max(day) as last from ${table('days')} where subject = ? and dim = ?`,
    [subject, dims.country],
  )
  const { first = null, last = null } = rows[0] ?? {}
  return first !== null && last !== null && 2 * day > first + last
}

/**
 * Returns SQL of the labels of a subject that are rolled up, with the minutes whose facts have the others. At an earlier position that is the sum of
 * the days before it, or of all time less the other days, whichever are fewer.
 */
const labelsOf = async (
  reader: Reader,
  counted: Counted,
): Promise<{ readonly rolled: string; readonly facts: readonly Minutes[] }> => {
  const { table } = reader
  const { subject, rolled, since, horizon, earlier } = counted
  const allTime = `select dim, label, clicks as n from ${table('tops')} where subject = ${subject}`
  if (!earlier) return { rolled: allTime, facts: [{ from: rolled ?? firstMinute, to: endOfMinutes }] }
  const whole = { from: Math.ceil(firstMinute / dayMinutes), to: Math.floor(endOfMinutes / dayMinutes) }
  const plan = planOf({ from: firstMinute, to: endOfMinutes }, whole, dayMinutes, counted)
  const gone = rolled === null || horizon === null ? undefined : horizon
  if (gone !== undefined && plan.skipped.some((day) => day * dayMinutes < gone)) throw new BeforeHorizon(gone)
  const select = 'dim, label, -clicks as n'
  const days = `from ${table('days')} where subject = ${subject} and dim in (${tops})`
  const corrected = correctedIn({ table }, counted, { plan, period: 'day', select, dim: tops })
  // what was moved there without a day is in all time only
  const isFromAll = since !== null || (await isLate(reader, subject, plan.rolled.to))
  const others = outsidePlan('day', plan).map((condition) => `union all select ${select} ${days} and ${condition}`)
  const sum = isFromAll
    ? `${allTime} ${others.join(' ')}`
    : `select dim, label, clicks as n ${days} and ${inPlan('day', plan)}`
  return { rolled: `${sum} ${corrected}`, facts: plan.facts }
}

const clickStats = async (reader: Reader, link: number): Promise<ClickStats> => {
  const { db, table } = reader
  const counted = await readCounted(reader, { link })
  const { clicks, uniques } = counted
  if (clicks === 0) return { clicks, uniques, country: [], referrer: [], browser: [], os: [], variant: [] }
  const labels = await labelsOf(reader, counted)
  const facts = factsOf(reader, counted, labels.facts)
  // one pass over the clicks that are not rolled up counts by all dimensions
  const { rows } = await db.raw<{ rows: { dim: number; label: string; n: string }[] }>(
    `with recent as (
       select ${topDimensions.join()}, count(*) as n from (${facts}) c where ${isClick}
       group by grouping sets (${topDimensions.map((name) => `(${name})`).join()})
     ), counted as (
       ${labels.rolled}
       union all
       select d.dim, d.label, n from recent
       cross join lateral (values ${topDimensions.map((name) => `(${dims[name]}::smallint, ${name}::int)`).join()}) as d (dim, label)
       where d.label is not null
     )
     select dim, l.label, n from (select dim, label, sum(n) as n from counted group by 1, 2) c
     join ${table('labels')} l using (dim) where l.id = c.label and n > 0
     order by n desc, l.label`,
  )
  const of = (dimension: Dimension) =>
    rows.filter(({ dim }) => dim === dims[dimension]).map(({ label, n }) => ({ label, n: Number(n) }))
  return {
    clicks,
    uniques,
    country: of('country'),
    referrer: of('referrer'),
    browser: of('browser'),
    os: of('os'),
    variant: of('variant'),
  }
}

export const linkStats = (reader: Reader, id: number) =>
  readOneMoment(reader, (moment) => clickStats(moment, subjects.link(id)))
/** Returns the statistics of the scans of a QR code. */
export const scanStats = (reader: Reader, id: number) =>
  readOneMoment(reader, (moment) => clickStats(moment, subjects.qr(id)))
/** Returns the statistics of the views of a bio page. The caller reads its clicks too, from the same moment. */
export const viewStats = (reader: Reader, id: number) => clickStats(reader, subjects.view(id))
