import { aboveViews, isClick, isUnique, minuteMs, subjects, timeOf } from '../../projections/statistics/clickfacts.ts'
import { type Dim, dims } from '../../projections/statistics/labels.ts'
import { quarter } from '../../projections/statistics/rollup.ts'
import type { Reader } from '../reader.ts'
import { visitedWithin, type VisitedWithin } from '../streams/membership.ts'
import { type Filters, scansBy } from './conditions.ts'
import type { Subject } from './facts.ts'
import { intervalOf, minutesOf, type SeriesOptions } from './series.ts'

/** The columns to group by: `at` is the interval. */
export type Grouped = 'at' | 'link' | Dim
type Options = Omit<SeriesOptions, 'by'>

/** maximum visits of links without roll-ups that are looked up link by link: more are read in the account's order */
const mostUnrolled = 100_000
/** maximum scans that are looked up by their minutes */
const fewScans = 10_000
const day = 1440

/** SQL of the members of the campaign or the channel, except QR codes, and views: these are not the account's. */
const isMember = ({ visited }: VisitedWithin) =>
  `${visited} and (link > 0 or link <= ${subjects.bio(0)} and link > ${aboveViews})`

/** SQL of the minutes of a period's roll-ups, and whether the roll-ups of a member cover all whole periods. */
const periodsOf = ({ from, to }: Options, period: number) => {
  const [first, end] = [from.getTime() / minuteMs, to.getTime() / minuteMs]
  const start = Math.ceil(first / period) * period
  // the current period counts as a whole one, as in the series of one subject
  const stop = `case when rolled <= ${end} then ${Math.ceil(end / period) * period} else ${Math.floor(end / period) * period} end`
  return { period, start, stop, isWhole: `(rolled is not null and ${start} < ${stop})` }
}
type Periods = ReturnType<typeof periodsOf>

/** SQL of the ranges of minutes of a member that its roll-ups lack. */
const rangesOf = (options: Options, { start, stop, isWhole }: Periods) => {
  const { from, to } = minutesOf(options)
  return `(values (${from}, case when ${isWhole} then ${start} else ${to} end),
    (greatest(${start}, rolled), case when ${isWhole} then least(${stop}, ${to}) else ${from} end),
    (case when ${isWhole} then ${stop} else ${to} end, ${to})) as r (lo, hi)`
}

const inTime = ({ from, to }: Options) => {
  const [first, end] = [timeOf(from.getTime()), timeOf(to.getTime())]
  return `(c.minute, c.ms) >= (${first.minute}, ${first.ms}) and (c.minute, c.ms) < (${end.minute}, ${end.ms})`
}

/** Whether the members can be summed: visits that roll-ups lack are still kept one by one, and are few. */
const canSum = async ({ db, table }: Reader, members: string, options: Options, periods: readonly Periods[]) => {
  const { from, to } = minutesOf(options)
  const gone = `least(rolled, horizon)`
  const isGone = periods.map(
    (one) => `(${from} < ${gone} and (not ${one.isWhole} or ${from} < ${one.start})
      or ${one.isWhole} and ${one.stop} < least(${to}, ${gone}))`,
  )
  const { rows } = await db.raw<{ rows: { lost: boolean | null; unrolled: string }[] }>(
    `select bool_or(since > ${options.from.getTime() / minuteMs} or rolled is not null and horizon is not null and (${isGone.join(' or ')})) as lost,
       coalesce(sum(visits) filter (where rolled is null), 0) as unrolled
     from (${members}) m cross join (select max(minute) as horizon from ${table('click_horizon')}) h`,
  )
  return rows[0]!.lost !== true && Number(rows[0]!.unrolled) <= mostUnrolled
}

/** Whether the scans of some codes are few enough to look up the visits of their minutes, instead of all visits. */
const areFew = async ({ db, table }: Reader, codes: string, options: Options) => {
  const { from, to } = minutesOf(options)
  const { rows } = await db.raw<{ rows: { n: number }[] }>(
    `select count(*)::int as n from (select from ${table('clicks')} where link in (${codes}) and minute >= ${from} and minute < ${to} limit ${fewScans + 1}) s`,
  )
  return rows[0]!.n <= fewScans
}

/** SQL of visits by QR codes to resources that are no members, and of scans that led to none of our links. */
const codedFacts = (
  reader: Reader,
  account: number,
  within: VisitedWithin,
  options: Options,
  { columns, few }: { readonly columns: string; readonly few: boolean },
) => {
  const { table } = reader
  const minutes = minutesOf(options)
  const inMinutes = `minute >= ${minutes.from} and minute < ${minutes.to}`
  const scans = `select distinct minute from ${table('clicks')} where link in (${within.codes}) and account < 0 and ${inMinutes}`
  const byCode = `source = (select id from ${table('labels')} where dim = ${dims.source} and label = 'qr')`
  const visits = `select ${columns}, seq from ${table('clicks')} c
    where c.account = ${account} and c.link > ${aboveViews} and ${byCode} and ${inTime(options)}`
  const looked = few
    ? `select v.* from (${scans}) s cross join lateral (${visits} and c.minute = s.minute) v`
    : `${visits} and ${inMinutes}`
  return `select ${columns} from (${looked}) f ${scansBy(reader, 'among', within.codes, minutes)}
    where among_seq is not null and not (${isMember(within)})
    union all select ${columns} from ${table('clicks')} c
      where c.link in (${within.codes}) and c.account > 0 and ${inMinutes} and ${inTime(options)}`
}

/**
 * SQL of facts counted by some columns, each at its place among all columns. `from` follows the keyword of the query.
 */
export const countedBy = (names: readonly string[], all: readonly string[], options: Options, from: string) => `
  select case ${names.map((name) => `when grouping(${name}) = 0 then ${all.indexOf(name)}`).join(' ')} end as dim,
    case ${names.map((name) => `when grouping(${name}) = 0 then ${name}::bigint`).join(' ')} end as value,
    count(*) filter (where ${isClick}) as clicks, count(*) filter (where ${isUnique}) as uniques, count(*) as visits
  from (select *, ${intervalOf('minute', options)} as at from ${from}) c
  group by grouping sets (${names.map((name) => `(${name})`).join()})`

/** SQL of roll-ups of the members' whole periods: a look-up for each, regardless of the planner's estimates. */
const rolledUp = ({ table }: Reader, { start, stop, isWhole, period }: Periods, columns: string, also = '') => {
  const [name, unit] = period === day ? (['days', 'day'] as const) : (['quarters', 'quarter'] as const)
  return `select ${columns} from m cross join lateral (
    select * from ${table(name)} t where t.subject = m.link and ${isWhole} and t.${unit} >= ${start / period} and t.${unit} < ${stop} / ${period} ${also}
    offset 0) t`
}

/**
 * Returns SQL of the sums of the members of a campaign or a channel, or of a part of the account, by columns: of the
 * roll-ups of each link and bio page, of their visits that are not rolled up yet, and of visits by QR codes, which are
 * read one by one. Undefined where the facts of the account have to answer.
 */
export const memberCounts = async (
  reader: Reader,
  subject: Subject,
  { campaign, channel, part, ...others }: Filters,
  options: Options & { readonly asThen?: boolean },
  columns: readonly Grouped[],
): Promise<{ readonly ctes: string; readonly joins: readonly string[]; readonly readsAll: boolean } | undefined> => {
  const isOther = Object.values(others).some((value) => value !== undefined)
  if ('link' in subject || isOther || (campaign ?? channel ?? part) === undefined) return undefined
  if (reader.clicksUpTo !== undefined || options.asThen || options.from >= options.to) return undefined
  const within = await visitedWithin(reader, { campaign, channel, part })
  const members = `select link, rolled, since, visits from ${reader.table('link_stats')} where ${isMember(within)}`
  const [quarters, days] = [periodsOf(options, quarter), periodsOf(options, day)]
  const labels = columns.filter((name): name is Dim => name !== 'at' && name !== 'link')
  if (!(await canSum(reader, members, options, labels.length > 0 ? [quarters, days] : [quarters]))) return undefined
  const sums = columns.filter((name) => !labels.includes(name as Dim))
  const tail = (periods: Periods) => `select c.* from m cross join lateral ${rangesOf(options, periods)}
    cross join lateral (select * from ${reader.table('clicks')} c where c.link = m.link and c.minute >= r.lo and c.minute < r.hi and ${inTime(options)} offset 0) c
    where r.lo < r.hi`
  const counted = 'sum(clicks) as clicks, sum(uniques) as uniques, sum(visits) as visits'
  const parts = [
    ...sums.map(
      (name) =>
        `select ${columns.indexOf(name)} as dim, ${name === 'at' ? intervalOf(`(quarter * ${quarter})`, options) : 'subject'}::bigint as value, ${counted}
         from (${rolledUp(reader, quarters, 't.*')}) t group by 2`,
    ),
    ...(sums.length > 0 ? [countedBy(sums, columns, options, `(${tail(quarters)}) f`)] : []),
    ...labels.map(
      (name) =>
        `select ${columns.indexOf(name)}, label::bigint, sum(clicks), 0, 0 from (${rolledUp(reader, days, 't.*', `and t.dim = ${dims[name]}`)}) t group by 2`,
    ),
    ...(labels.length > 0 ? [countedBy(labels, columns, options, `(${tail(days)}) f`)] : []),
  ]
  const byCodes = within.codes !== ''
  const few = !byCodes || (await areFew(reader, within.codes, options))
  if (byCodes) {
    const coded = { columns: ['minute', 'class', 'link', ...labels].join(), few }
    const facts = codedFacts(reader, subject.account, within, options, coded)
    parts.push(countedBy(columns, columns, options, `(${facts}) f`))
  }
  return {
    ctes: `m as materialized (${members}), counts as (
      select dim, value, ${counted} from (${parts.join(' union all ')}) p group by 1, 2)`,
    joins: byCodes ? [within.codes] : [],
    readsAll: !few,
  }
}
