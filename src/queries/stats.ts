import { isClick, subjects } from '../projections/clickfacts.ts'
import { dims, topDimensions } from '../projections/labels.ts'
import { endOfMinutes, factsOf, firstMinute, readCounted } from './facts.ts'
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

const clickStats = async (reader: Reader, link: number): Promise<ClickStats> => {
  const { db, table } = reader
  const counted = await readCounted(reader, { link })
  const { clicks, uniques, rolled } = counted
  if (clicks === 0) return { clicks, uniques, country: [], referrer: [], browser: [], os: [], variant: [] }
  const facts = factsOf(reader, counted, [{ from: rolled ?? firstMinute, to: endOfMinutes }])
  // one pass over the clicks that are not rolled up counts by all dimensions
  const { rows } = await db.raw<{ rows: { dim: number; label: string; n: string }[] }>(
    `with recent as (
       select ${topDimensions.join()}, count(*) as n from (${facts}) c where ${isClick}
       group by grouping sets (${topDimensions.map((name) => `(${name})`).join()})
     ), counted as (
       select dim, label, clicks as n from ${table('tops')} where subject = ?
       union all
       select d.dim, d.label, n from recent
       cross join lateral (values ${topDimensions.map((name) => `(${dims[name]}::smallint, ${name}::int)`).join()}) as d (dim, label)
       where d.label is not null
     )
     select dim, l.label, n from (select dim, label, sum(n) as n from counted group by 1, 2) c
     join ${table('labels')} l using (dim) where l.id = c.label
     order by n desc, l.label`,
    [link],
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
