import { aboveViews, classes, dims } from '../projections/stats.ts'
import { type Reader, readOneMoment } from './reader.ts'

export type Interval = 'hour' | 'day' | 'month'
export const seriesDimensions = ['country', 'referrer', 'browser', 'os', 'device', 'language', 'source'] as const
export type SeriesDimension = (typeof seriesDimensions)[number]

/** The clicks of one link, or all clicks of an account, including the scans of its QR codes and clicks on entries of its bio pages. */
export type Subject = { readonly link: number } | { readonly account: number }

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
  readonly by: Readonly<Partial<Record<SeriesDimension, readonly { readonly label: string; readonly n: number }[]>>>
}

/** Clicks per minute of one visitor on one link that do not look automated. */
const plausible = 30

/** The clicks of the subject, as `c`; a view of a bio page is none. A click has its account, because a join may be planned as all links for each click. */
const clicksOf = ({ table }: Reader, subject: Subject) =>
  'link' in subject
    ? { sql: `${table('clicks')} c where c.link = ?`, value: subject.link }
    : { sql: `${table('clicks')} c where c.account = ? and c.link > ${aboveViews}`, value: subject.account }

/** Returns the clicks over time and their total, which is the sum over the intervals. */
export const clickSeries = (reader: Reader, subject: Subject, options: SeriesOptions): Promise<Series> =>
  readOneMoment(reader, (moment) => readSeries(moment, subject, options))

const readSeries = async (
  reader: Reader,
  subject: Subject,
  { from, to, interval, by }: SeriesOptions,
): Promise<Series> => {
  const { sql, value } = clicksOf(reader, subject)
  const inRange = `${sql} and c.at >= ? and c.at < ?`
  const values = [value, from.toISOString(), to.toISOString()]
  const { rows } = await reader.db.raw<{ rows: { at: Date; clicks: string; uniques: string; visits: string }[] }>(
    `with counted as (
       select date_trunc('${interval}', c.at at time zone 'UTC') as at, count(*) filter (where c.class = ${classes.human}) as clicks,
         count(*) filter (where c.first) as uniques, count(*) as visits
       from ${inRange} group by 1
     )
     select i.at at time zone 'UTC' as at, coalesce(clicks, 0) as clicks, coalesce(uniques, 0) as uniques, coalesce(visits, 0) as visits
     from generate_series(date_trunc('${interval}', ?::timestamptz at time zone 'UTC'),
       (?::timestamptz - interval '1 millisecond') at time zone 'UTC', '1 ${interval}') i (at)
     left join counted using (at) order by i.at`,
    [...values, from.toISOString(), to.toISOString()],
  )
  const suspected = await reader.db.raw<{ rows: { n: string }[] }>(
    `select coalesce(sum(n - ${plausible}), 0) as n from (
       select count(*) as n from ${inRange} and c.class = ${classes.human}
       group by c.link, c.visitor, date_trunc('minute', c.at) having count(*) > ${plausible}
     ) many`,
    values,
  )
  const labelled: [SeriesDimension, Series['by'][SeriesDimension]][] = []
  // one after another: the connection of a moment runs one query at a time
  for (const dimension of by) {
    const counted = await reader.db.raw<{ rows: { label: string; n: string }[] }>(
      `select l.label, n from (
         select c.${dimension} as id, count(*) as n from ${inRange} and c.class = ${classes.human} group by 1
       ) counted join ${reader.table('labels')} l on l.id = counted.id and l.dim = ${dims[dimension]}
       order by n desc, l.label`,
      values,
    )
    labelled.push([dimension, counted.rows.map(({ label, n }) => ({ label, n: Number(n) }))])
  }
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
