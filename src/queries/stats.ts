import { classes, subjects } from '../projections/stats.ts'
import { type Reader, readOneMoment } from './reader.ts'

const dimensions = ['country', 'referrer', 'browser', 'os'] as const
type Dimension = (typeof dimensions)[number]

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

interface Row {
  readonly dimension: Dimension
  readonly label: string
  readonly n: string
}

const clickStats = async ({ db, table }: Reader, link: number): Promise<ClickStats> => {
  const [counters] = await db<{ link: number; clicks: string; uniques: string }>(table('link_stats')).where({ link })
  const totals = { clicks: Number(counters?.clicks ?? 0), uniques: Number(counters?.uniques ?? 0) }
  if (totals.clicks === 0) return { ...totals, country: [], referrer: [], browser: [], os: [] }
  // one pass over the clicks counts by all dimensions
  const { rows } = await db.raw<{ rows: Row[] }>(
    `with counted as (
       select country, referrer, browser, os, count(*) as n from ${table('clicks')} where link = ? and class = ${classes.human}
       group by grouping sets ((country), (referrer), (browser), (os))
     )
     select d.dimension, l.label, n
     from counted cross join lateral (values ('country', country), ('referrer', referrer), ('browser', browser), ('os', os)) as d (dimension, id)
     join ${table('labels')} l on l.id = d.id
     order by n desc, l.label`,
    [link],
  )
  const of = (dimension: Dimension) =>
    rows.filter((row) => row.dimension === dimension).map(({ label, n }) => ({ label, n: Number(n) }))
  return { ...totals, country: of('country'), referrer: of('referrer'), browser: of('browser'), os: of('os') }
}

export const linkStats = (reader: Reader, id: number) =>
  readOneMoment(reader, (moment) => clickStats(moment, subjects.link(id)))
/** Returns the statistics of the scans of a QR code. */
export const scanStats = (reader: Reader, id: number) =>
  readOneMoment(reader, (moment) => clickStats(moment, subjects.qr(id)))
/** Returns the statistics of the views of a bio page. The caller reads its clicks too, from the same moment. */
export const viewStats = (reader: Reader, id: number) => clickStats(reader, subjects.view(id))
