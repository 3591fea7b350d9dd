import { isClick, timeOf } from '../../projections/statistics/clickfacts.ts'
import {
  type Detail,
  details,
  type Dim,
  dims,
  type Profile,
  readProfile,
  readRoute,
  type Route,
} from '../../projections/statistics/labels.ts'
import { factsOf, type Minutes } from './facts.ts'
import { momentOf } from './recorded.ts'
import type { Reader } from '../reader.ts'

/** Which visits of a link: `from` is inclusive, `to` exclusive. */
export interface Period {
  readonly link: number
  readonly from: Date
  readonly to: Date
}
export interface Counts {
  readonly clicks: number
  /** including bots, previews and prefetches */
  readonly visits: number
}
/** Where visits of a link were sent. */
export interface SentTo {
  readonly revision: number
  readonly rule: string
  readonly destination: string
}
/** Columns of facts that rules ask about. */
export type AskedDimension = Extract<Dim | Detail, 'country' | 'os' | 'device' | 'browser' | 'language' | 'profile'>

/** Visits that are alike in everything that rules ask about. A column that was not asked for is undefined. */
export interface VisitGroup extends Counts {
  readonly route: Route
  readonly country: string | undefined
  readonly os: string | undefined
  readonly device: string | undefined
  readonly browser: string | undefined
  readonly language: string | undefined
  readonly profile: Profile | undefined
  /** how many of the moments they come at or after */
  readonly phase: number
  /** come after the last click that the link may have */
  readonly usedUp: boolean
}

/** A visit's place in time; visits of the same millisecond are in the order of the log. */
export interface VisitPlace {
  readonly minute: number
  readonly ms: number
  readonly seq: string
}

/** visits in one statement, unless more are of one millisecond: visitors make up what their kinds are told apart by */
const perStatement = 25_000

const minutesOf = ({ from, to }: Pick<Period, 'from' | 'to'>): Minutes => ({
  from: timeOf(from.getTime()).minute,
  to: timeOf(to.getTime() - 1).minute + 1,
})
const within = (reader: Reader, { link, from, to }: Period) => {
  const [first, end] = [timeOf(from.getTime()), timeOf(to.getTime())]
  return `select * from (${factsOf(reader, { subject: link }, [minutesOf({ from, to })])}) c
    where (c.minute, c.ms) >= (${first.minute}, ${first.ms}) and (c.minute, c.ms) < (${end.minute}, ${end.ms})`
}

/** Returns where a link has sent visitors, by revision and rule. */
export const sentTo = async ({ db, table }: Reader, link: number): Promise<readonly SentTo[]> =>
  (await db(table('link_routes')).where({ link }).select('revision', 'rule', 'destination')) as SentTo[]

/** Returns the place of a link's n-th click from a moment on. */
export const nthClick = async (
  reader: Reader,
  link: number,
  n: number,
  from: Date,
): Promise<VisitPlace | undefined> => {
  const all = { link, from, to: new Date(8.64e15 / 100) }
  const { rows } = await reader.db.raw<{ rows: VisitPlace[] }>(
    `select minute, ms, seq from (${within(reader, all)}) c where ${isClick} order by minute, ms, seq offset ${n - 1} limit 1`,
  )
  return rows[0]
}

interface Question {
  readonly asked: readonly AskedDimension[]
  /** in order of time */
  readonly moments: readonly Date[]
  /** of the last click that the link may have */
  readonly last: VisitPlace | undefined
}
interface Row extends Readonly<Partial<Record<AskedDimension, number>>> {
  readonly route: number
  readonly phase: number
  readonly used_up: boolean
  readonly clicks: string
  readonly visits: string
}

const phaseOf = (moments: readonly Date[]) =>
  moments
    .map((moment) => timeOf(moment.getTime()))
    .reduce((sql, { minute, ms }) => `${sql} + ((minute, ms) >= (${minute}, ${ms}))::int`, '0')

type Labelled = AskedDimension | 'route'
/** labels that are kept for the next statements, and those of one besides */
const mostKept = 50_000
const isDetail = (name: Labelled): name is Extract<Labelled, Detail> => name in details

/** Keeps the labels that were looked up. A subquery for each uses the index. */
const labelsOf = (reader: Reader) => {
  const known = new Map<string, unknown>()
  const key = (name: Labelled, id: number) => `${name} ${id}`
  const read = (name: Labelled, label: string) =>
    name === 'profile' ? readProfile(label) : name === 'route' ? readRoute(label) : label
  return {
    load: async (rows: readonly Row[], asked: readonly AskedDimension[]) => {
      if (known.size > mostKept) known.clear()
      for (const name of ['route', ...asked] as const) {
        const missing = [...new Set(rows.map((row) => row[name] ?? 0))].filter((id) => !known.has(key(name, id)))
        const [table, dim] = isDetail(name) ? (['details', details[name]] as const) : (['labels', dims[name]] as const)
        const { rows: found } = await reader.db.raw<{ rows: { id: number; label: string | null }[] }>(
          `select id, (select l.label from ${reader.table(table)} l where l.dim = ${dim} and l.id = w.id) as label
           from unnest(?::int[]) as w (id)`,
          [missing],
        )
        for (const { id, label } of found) known.set(key(name, id), read(name, label ?? ''))
      }
    },
    get: <T>(name: Labelled, row: Row) => known.get(key(name, row[name] ?? 0)) as T,
  }
}

const readAlike = async (reader: Reader, period: Period, { asked, moments, last }: Question) => {
  const columns = ['route', ...asked].join()
  const usedUp = last ? `(minute, ms, seq) > (${last.minute}, ${last.ms}, ${last.seq})` : 'false'
  const { rows } = await reader.db.raw<{ rows: Row[] }>(
    `select ${columns}, phase, used_up, count(*) filter (where ${isClick}) as clicks, count(*) as visits
     from (select ${columns}, class, ${phaseOf(moments)} as phase, ${usedUp} as used_up from (${within(reader, period)}) c) c
     group by ${columns}, phase, used_up`,
  )
  return rows
}

/** Returns the end of the next statement: the moment of the visit after `most` others. */
const endOfNext = async (reader: Reader, period: Period, most: number): Promise<Date> => {
  const { rows } = await reader.db.raw<{ rows: Pick<VisitPlace, 'minute' | 'ms'>[] }>(
    `select minute, ms from (${within(reader, period)}) c order by minute, ms offset ${most} limit 1`,
  )
  const next = rows[0]?.minute === undefined ? undefined : momentOf(rows[0]).getTime()
  return next === undefined ? period.to : new Date(Math.max(next, period.from.getTime() + 1))
}

/**
 * Returns the visits of a period in batches, those that are alike together. Each statement reads about as many visits,
 * so that none takes long and a caller can stop in between.
 */
export const alikeVisits = async function* (
  reader: Reader,
  period: Period,
  question: Question,
  most = perStatement,
): AsyncGenerator<readonly VisitGroup[]> {
  const labels = labelsOf(reader)
  for (let { from } = period; from < period.to;) {
    const to = await endOfNext(reader, { ...period, from }, most)
    const rows = await readAlike(reader, { ...period, from, to }, question)
    await labels.load(rows, question.asked)
    yield rows.map((row) => ({
      route: labels.get<Route>('route', row),
      country: labels.get<string | undefined>('country', row),
      os: labels.get<string | undefined>('os', row),
      device: labels.get<string | undefined>('device', row),
      browser: labels.get<string | undefined>('browser', row),
      language: labels.get<string | undefined>('language', row),
      profile: labels.get<Profile | undefined>('profile', row),
      phase: row.phase,
      usedUp: row.used_up,
      clicks: Number(row.clicks),
      visits: Number(row.visits),
    }))
    from = to
  }
}

/** Returns the revisions of a link that have sent visitors in a period. */
export const revisionsIn = async (reader: Reader, period: Period): Promise<readonly number[]> => {
  const { rows } = await reader.db.raw<{ rows: { label: string }[] }>(
    `select label from ${reader.table('details')} l where l.dim = ${details.route} and l.id in (
       select distinct route from (${within(reader, period)}) c)`,
  )
  return [...new Set(rows.map(({ label }) => readRoute(label).revision))]
}
