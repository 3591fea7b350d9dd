import { seqOf } from '../../projections/statistics/clickfacts.ts'
import { details } from '../../projections/statistics/labels.ts'
import { sameRoute } from '../../projections/statistics/routestats.ts'
import { firstMinute, readCounted } from '../statistics/facts.ts'
import type { Reader } from '../reader.ts'

/** How many visitors a revision of a link has sent to a destination, by a rule. */
export interface Route {
  readonly revision: number
  readonly rule: string
  readonly destination: string
  /** as in the total of the link */
  readonly clicks: number
  /** including bots, link previewers and prefetching browsers */
  readonly visits: number
}

type Row = Omit<Route, 'clicks' | 'visits'> & { readonly clicks: string; readonly visits: string }

/** Which revisions of a link: SQL of a condition on `t`. */
type Revisions = string

/**
 * SQL of the ways of a link at an earlier position: what they had at the next position of `rolls`, less the clicks
 * since. A way without counters there has not changed since those that it has before. What is after the last position
 * of `rolls` is taken from the counters of today.
 */
const routesAt = async (reader: Reader, position: bigint, link: number, revisions: Revisions) => {
  const { table } = reader
  const { rolled, earlier } = await readCounted(reader, { link })
  const [from, to] = [rolled ?? firstMinute, earlier?.hi ?? 0]
  const classAt = `coalesce((select k.was from ${table('corrections')} k
    where k.seq = c.seq and k.position > ${position} order by k.position limit 1), c.class)`
  const own = `c.link = ${link} and c.seq >= ${seqOf(position + 1n, 0)}
    and c.seq < coalesce(((select position from next) + 1) * 1000, ${2n ** 63n - 1n})`
  return `
    with next as materialized (
      select position from ${table('rolls')} where subject = ${link} and position > ${position} order by position limit 1
    ), stray as (
      select distinct minute from ${table('strays')}
      where subject = ${link} and (minute < ${from} and position > ${position} or minute > ${to})
        and position <= coalesce((select position from next), ${2n ** 63n - 1n})
    ), later as materialized (
      select c.route, ${classAt} as class from ${table('clicks')} c where ${own} and c.minute >= ${from} and c.minute <= ${to}
      union all
      select c.route, ${classAt} from stray m join ${table('clicks')} c on c.minute = m.minute where ${own}
    ), sent as (
      select split_part(label, ' ', 1)::int as revision,
        substr(label, length(split_part(label, ' ', 1)) + length(split_part(label, ' ', 2)) + 3) as rule,
        count(*) filter (where class <= 0) as clicks, count(*) as visits
      from later join ${table('details')} d on d.dim = ${details.route} and d.id = later.route group by 1, 2
    ), counted as (
      select t.revision, t.rule, t.destination,
        case when (select position from next) is null then t.clicks else coalesce(n.clicks, s.clicks, 0) end as clicks,
        case when (select position from next) is null then t.visits else coalesce(n.visits, s.visits, 0) end as visits
      from ${table('link_routes')} t
      left join lateral (
        select r.clicks, r.visits from ${table('route_rolls')} r where ${sameRoute('r', 't')} and r.position = (select position from next)
      ) n on true
      left join lateral (
        select r.clicks, r.visits from ${table('route_rolls')} r where ${sameRoute('r', 't')} and r.position <= ${position}
        order by r.position desc limit 1
      ) s on true
      where t.link = ${link} and ${revisions}
    )
    select revision, rule, destination, c.clicks - coalesce(s.clicks, 0) as clicks, c.visits - coalesce(s.visits, 0) as visits
    from counted c left join sent s using (revision, rule)`
}

const findRoutes = async (reader: Reader, link: number, revisions: Revisions): Promise<readonly Route[]> => {
  const { db, table, clicksUpTo } = reader
  const all =
    clicksUpTo === undefined
      ? `select revision, rule, destination, clicks, visits from ${table('link_routes')} t where link = ${link} and ${revisions}`
      : await routesAt(reader, clicksUpTo, link, revisions)
  const { rows } = await db.raw<{ rows: Row[] }>(
    `select * from (${all}) r where visits > 0 order by clicks desc, visits desc, rule, destination`,
  )
  return rows.map((row) => ({ ...row, clicks: Number(row.clicks), visits: Number(row.visits) }))
}

/**
 * Returns where some revisions of a link have sent visitors, most clicks first. The sums over all revisions are the
 * link's totals.
 */
export const routesOf = (reader: Reader, link: number, revisions: readonly number[]): Promise<readonly Route[]> =>
  findRoutes(reader, link, `t.revision = any('{${revisions.join()}}'::int[])`)

/** Returns the revisions of a link from a number on by which visitors were sent somewhere. */
export const revisionsWithVisits = async (reader: Reader, link: number, from: number): Promise<readonly number[]> => {
  const routes = await findRoutes(reader, link, `t.revision >= ${from}`)
  return [...new Set(routes.map(({ revision }) => revision))].toSorted((a, b) => a - b)
}

/** Returns the numbers and names of API keys that still exist, by their public ids. */
export const namesOfOwnKeys = async ({ db, table }: Reader, account: number, keys: readonly string[]) => {
  const rows = (await db(table('api_keys'))
    .where({ account })
    .whereIn('key', keys)
    .select('key', 'number', 'name')) as {
    key: string
    number: string
    name: string
  }[]
  return new Map(rows.map(({ key, number, name }) => [key, { key: Number(number), name }]))
}
