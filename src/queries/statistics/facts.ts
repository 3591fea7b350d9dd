import { prepared } from '../../postgres/database.ts'
import { aboveViews, highestAccount, minuteMs, seqOf, subjects } from '../../projections/statistics/clickfacts.ts'
import { detailNames, dimensions } from '../../projections/statistics/labels.ts'
import type { Reader } from '../reader.ts'

/**
 * The clicks of one link, or all clicks of an account, including the scans of its QR codes and clicks on entries of its
 * bio pages.
 */
export type Subject = { readonly link: number } | { readonly account: number }

/** The scans of a QR code, also where they led to a link. */
export const scansOf = (qr: number): Subject => ({ link: subjects.qr(qr) })
/** The views of a bio page, which are not clicks of the account. */
export const viewsOf = (bio: number): Subject => ({ link: subjects.view(bio) })

/** What the tables have about a subject. */
export interface SubjectCounts {
  /** value of the columns `subject` of roll-ups */
  readonly subject: number
  /** SQL of a condition on the facts of a question, when it is not about the whole subject */
  readonly whose?: string
  readonly clicks: number
  readonly uniques: number
  /** the roll-ups have all visits before this minute, and no others; they have none when it is null */
  readonly rolled: number | null
  /** clicks before this minute are in totals only: they were dropped before the subject had roll-ups */
  readonly since: number | null
  /** the facts of clicks before this minute were dropped */
  readonly horizon: number | null
  /** undefined: the present */
  readonly earlier?: Earlier
  /** each fact has the class that it was counted with first, without later corrections */
  readonly asThen?: boolean
}

/**
 * The state of a subject at an earlier position of the log. The roll-ups have its visits before `rolled`, but later
 * ones too.
 */
export interface Earlier {
  readonly position: bigint
  /** numbers of its visits are below this */
  readonly end: bigint
  /** the latest minute that its visits have, apart from those that are named below */
  readonly hi: number
  /** minutes before `rolled` with visits in the roll-ups that were recorded later */
  readonly changed: readonly number[]
  /** minutes after `hi` that may have visits */
  readonly ahead: readonly number[]
  /** a later event has changed classes of visits, or has added or withdrawn visits of another service */
  readonly corrected: boolean
}

/** A question about a part of the time before the horizon that the roll-ups do not have. */
export class BeforeHorizon extends Error {
  override readonly name = 'BeforeHorizon'
  /** of the first click that is kept */
  readonly horizon: Date
  constructor(minute: number) {
    super('clicks of that time are no longer kept one by one')
    this.horizon = new Date(minute * minuteMs)
  }
}

interface CountedRow {
  readonly clicks: string
  readonly uniques: string
  readonly rolled: number | null
  readonly since: number | null
  readonly horizon: number | null
  readonly hi: number | null
  /** minutes, without repeats */
  readonly strays: readonly number[] | null
  readonly corrected: boolean
}

/**
 * SQL of the columns that an earlier position also needs. Its parameters are the subject, and the position three times.
 */
const earlierColumns = ({ table }: Reader) => `
  hi,
  (select json_agg(distinct minute) from ${table('strays')} t where t.subject = ?
     and (minute < coalesce(rolled, ${firstMinute}) and position > ? or minute > coalesce(hi, ${endOfMinutes}))) as strays,
  exists (select from ${table('corrections')} where position > ?)
    or exists (select from ${table('visit_imports')} where greatest(position, gone) > ?) as corrected`

/** The row of a subject without visits. */
const nothing: CountedRow = {
  clicks: '0',
  uniques: '0',
  rolled: null,
  since: null,
  horizon: null,
  hi: null,
  strays: null,
  corrected: false,
}

const earlierOf = (position: bigint, { rolled, hi, strays, corrected }: CountedRow): Earlier => {
  const [from, to] = [rolled ?? firstMinute, hi ?? endOfMinutes]
  const minutes = (strays ?? []).toSorted((a, b) => a - b)
  return {
    position,
    end: seqOf(position + 1n, 0),
    hi: to,
    changed: minutes.filter((minute) => minute < from),
    ahead: minutes.filter((minute) => minute > to),
    corrected,
  }
}

/**
 * Reads the counts of a subject. PostgreSQL caches the plan of the statement, also for an earlier position: the view
 * looks everything up by an index at any position, and planning takes as long as executing.
 */
export const readCounted = async (reader: Reader, of: Subject): Promise<SubjectCounts> => {
  const { db, table, clicksUpTo } = reader
  const [name, key, since] =
    'link' in of ? (['link_stats', 'link', 'since'] as const) : (['account_stats', 'account', 'null::int'] as const)
  const [id, subject] = 'link' in of ? [of.link, of.link] : [of.account, subjects.account(of.account)]
  const sql = `
    select clicks, uniques, rolled, ${since} as since, (select max(minute) from ${table('click_horizon')}) as horizon
      ${clicksUpTo === undefined ? '' : `, ${earlierColumns(reader)}`}
    from ${table(name)} where ${key} = ?`
  const position = clicksUpTo?.toString()
  const { rows } = await db
    .raw<{ rows: CountedRow[] }>(sql, position === undefined ? [id] : [subject, position, position, position, id])
    .options(prepared(sql))
  const [row = nothing] = rows
  return {
    subject,
    clicks: Number(row.clicks),
    uniques: Number(row.uniques),
    rolled: row.rolled,
    since: row.since,
    horizon: row.horizon,
    ...(clicksUpTo !== undefined && { earlier: earlierOf(clicksUpTo, row) }),
  }
}

/** A range of minutes; the end is exclusive. */
export interface Minutes {
  readonly from: number
  readonly to: number
}
/**
 * The minutes that a table can number. They begin with a whole day, so that roll-ups of days leave no minutes before
 * them to the facts.
 */
export const [firstMinute, endOfMinutes] = [Math.ceil(-(2 ** 31) / 1440) * 1440, 2 ** 31 - 1]

/**
 * SQL of the facts of a subject within the given minutes, as `c`. The planner looks up each range in the index on the
 * subject and the minute, in the partitions that have it; a view of a bio page is no click of an account. At an earlier
 * position, it has the facts that were recorded up to it, or the later ones.
 */
export const factsOf = (
  { table }: Reader,
  { subject, whose, earlier, asThen }: Pick<SubjectCounts, 'subject' | 'whose' | 'earlier' | 'asThen'>,
  ranges: readonly Minutes[],
  side: 'up to it' | 'later' = 'up to it',
) => {
  const of =
    whose ??
    (subject <= highestAccount
      ? `c.account = ${highestAccount - subject} and c.link > ${aboveViews}`
      : `c.link = ${subject}`)
  const own = earlier ? `${of} and c.seq ${side === 'later' ? '>=' : '<'} ${earlier.end}` : of
  const later = earlier && !asThen ? `and k.position * 1000 >= ${earlier.end}` : ''
  const columns =
    asThen || earlier?.corrected
      ? `c.seq, c.visitor, c.link, c.account, c.minute, c.ms, c.recorded, ${[...detailNames, ...dimensions].map((name) => `c.${name}`).join()},
       coalesce((select k.was from ${table('corrections')} k where k.seq = c.seq ${later}
         order by k.position limit 1), c.class) as class`
      : '*'
  const parts = ranges.map(
    ({ from, to }) =>
      `select ${columns} from ${table('clicks')} c where ${own} and c.minute >= ${from} and c.minute < ${to}`,
  )
  return parts.length === 0 ? `select * from ${table('clicks')} where false` : parts.join(' union all ')
}

/** How to answer a question: from roll-ups of whole periods, and from the facts of all other minutes. */
export interface Plan {
  /** the periods, counted since 1970 */
  readonly rolled: Minutes
  /** periods among them that the facts answer */
  readonly skipped: readonly number[]
  readonly facts: readonly Minutes[]
}

/** SQL of a condition on the periods of a plan. */
export const inPlan = (name: string, { rolled, skipped }: Plan) =>
  `${name} >= ${rolled.from} and ${name} < ${rolled.to}${skipped.length > 0 ? ` and ${name} not in (${skipped.join()})` : ''}`

/** SQL of the conditions on all other periods, each of which an index answers. */
export const outsidePlan = (name: string, { rolled, skipped }: Plan): readonly string[] => [
  `${name} < ${rolled.from}`,
  `${name} >= ${rolled.to}`,
  ...(skipped.length > 0 ? [`${name} in (${skipped.join()})`] : []),
]

/** Returns SQL, with the given columns, of the changes that later reclassifications made to the roll-ups of a plan. */
export const correctedIn = (
  { table }: Pick<Reader, 'table'>,
  { subject, earlier }: SubjectCounts,
  { plan, period, select, dim }: CorrectedIn,
) =>
  earlier?.corrected
    ? `union all select ${select} from ${table(`corrected_${period}s`)}
       where subject = ${subject} and position > ${earlier.position} and ${inPlan(period, plan)}${dim ? ` and dim in (${dim})` : ''}`
    : ''

interface CorrectedIn {
  readonly plan: Plan
  readonly period: 'quarter' | 'day'
  readonly select: string
  /** of labels: the numbers of the dimensions, separated by commas */
  readonly dim?: string
}

const isFilled = ({ from, to }: Minutes) => from < to

/** Returns the minutes within some ranges that may have visits of an earlier position. */
const known = (ranges: readonly Minutes[], { hi, ahead }: Earlier): readonly Minutes[] => [
  ...ranges.map(({ from, to }) => ({ from, to: Math.min(to, hi + 1) })),
  ...ranges.flatMap(({ from, to }) =>
    ahead.flatMap((minute) => (minute >= from && minute < to ? [{ from: minute, to: minute + 1 }] : [])),
  ),
]

/**
 * Splits minutes into whole periods of so many, as far as they are rolled up, and the minutes before and after them.
 * The last period may end after the minutes, if its roll-up does not. At an earlier position, the facts answer the last
 * period, and those with visits that came later.
 */
export const planOf = (all: Minutes, whole: Minutes, period: number, { rolled, earlier }: SubjectCounts): Plan => {
  const none = { rolled: { from: 0, to: 0 }, skipped: [] }
  if (rolled === null || whole.from >= whole.to)
    return { ...none, facts: (earlier ? known([all], earlier) : [all]).filter(isFilled) }
  const [start, stop] = [whole.from * period, whole.to * period]
  const reach = earlier ? Math.floor(rolled / period) : undefined
  const facts = [
    { from: all.from, to: start },
    { from: Math.max(start, reach === undefined ? rolled : reach * period), to: Math.min(stop, all.to) },
    { from: stop, to: all.to },
  ]
  if (!earlier || reach === undefined) return { rolled: whole, skipped: [], facts: facts.filter(isFilled) }
  const end = Math.min(whole.to, reach)
  const changed = new Set(earlier.changed.map((minute) => Math.floor(minute / period)))
  const skipped = [...changed].filter((one) => one >= whole.from && one < end)
  return {
    rolled: { from: whole.from, to: end },
    skipped,
    facts: [...known(facts, earlier), ...skipped.map((one) => ({ from: one * period, to: (one + 1) * period }))].filter(
      isFilled,
    ),
  }
}
