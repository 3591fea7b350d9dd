import { highestAccount, minuteMs, subjects, timeOf } from '../../projections/statistics/clickfacts.ts'
import type { Reader } from '../reader.ts'
import { linksIn, visitedWithin } from '../streams/membership.ts'
import type { Filters } from './conditions.ts'
import { readCounted, type Subject, type SubjectCounts } from './facts.ts'
import { factsOfMinutes, factsOfTime, type Time } from './series.ts'

/** Which facts may answer a question, and of which subjects. */
export interface Source {
  readonly counted: SubjectCounts
  /** the subjects: an index has the newest facts of each */
  readonly links: readonly number[] | undefined
  /** QR codes whose scans are looked through besides */
  readonly codes: readonly number[]
  readonly filters: Filters
}

/**
 * Returns the QR codes that visits of one link are asked by; none for those of a code itself, or of a page. An account
 * has as many visits as scans, or more.
 */
const codesOf = async (
  reader: Reader,
  subject: Subject,
  { qr, channel, part }: Filters,
): Promise<readonly number[]> => {
  if ('account' in subject || subject.link < 0) return []
  const { codes } = (channel ?? part) === undefined ? { codes: '' } : await visitedWithin(reader, { channel, part })
  const named = /^-\d/.test(codes) ? codes.split(',').map(Number) : []
  return qr === undefined ? named : [...named, subjects.qr(qr)]
}

/** Of a campaign, the links are looked up one by one: it may have few visits among all those of the account. */
export const sourceOf = async (
  reader: Reader,
  subject: Subject,
  filters: Filters,
  asThen: boolean,
): Promise<Source> => {
  const counted = { ...(await readCounted(reader, subject)), asThen }
  const { campaign, ...others } = filters
  const links = campaign === undefined || 'link' in subject ? undefined : await linksIn(reader, campaign)
  return { counted, links, codes: await codesOf(reader, subject, filters), filters: links ? others : filters }
}

/** The newest visit that an answer may have is before this one. */
export interface Start {
  readonly ms: number
  readonly seq: string
}
/** SQL of the condition that a fact is before a visit. */
export const isBefore = ({ ms: at, seq }: Start): string => {
  const { minute, ms } = timeOf(at)
  return `(minute, ms, seq) < (${minute}, ${ms}, ${seq})`
}

/** Facts of several subjects at once. */
export const ofAll = ({ counted, links }: Pick<Source, 'counted' | 'links'>): SubjectCounts =>
  links ? { ...counted, whose: `c.link = any('{${links.join()}}'::bigint[])` } : counted

/** Views of bio pages are counted, too: without the rows, the index does not tell them from visits. */
const newestMinute = async (
  reader: Reader,
  { counted, links }: Pick<Source, 'counted' | 'links'>,
  time: Time,
  most: number,
) => {
  const { subject } = counted
  const whose = links
    ? 'c.link = l.id'
    : subject <= highestAccount
      ? `c.account = ${highestAccount - subject}`
      : undefined
  const facts = factsOfMinutes(reader, { ...counted, ...(whose && { whose }) }, time)
  const { rows } = await reader.db.raw<{ rows: { first: number | null }[] }>(
    `select max(first) as first from unnest(?::bigint[]) as l (id) cross join lateral (
       select minute as first from (${facts}) f order by minute desc limit 1 offset ${most}
     ) f`,
    [[...(links ?? [subject])]],
  )
  return rows[0]?.first ?? undefined
}

/**
 * Returns the first minute from which so many facts of each subject may be read; undefined when there are no more. The
 * index has the minutes without the rows.
 */
export const firstMinuteOf = async (
  reader: Reader,
  source: Source,
  time: Time,
  most: number,
): Promise<number | undefined> => {
  const { codes } = source
  const first = await newestMinute(reader, source, time, most)
  const scanned = codes.length === 0 ? undefined : await newestMinute(reader, { ...source, links: codes }, time, most)
  return first === undefined || scanned === undefined ? (first ?? scanned) : Math.max(first, scanned)
}

/**
 * Counts the visits of a time before one, without filters, up to so many: the index has all but those of its first and
 * last minute.
 */
export const countBefore = async (
  reader: Reader,
  source: Source,
  { from, to }: Time,
  start: Start,
  most: number,
): Promise<number> => {
  const own = ofAll(source)
  // the minute of the visit is not whole: others of it come after the visit
  const end = Math.min(to.getTime(), start.ms)
  const whole = [Math.ceil(from.getTime() / minuteMs), Math.floor(end / minuteMs)].map(
    (minute) => new Date(minute * minuteMs),
  ) as [Date, Date]
  const [first, last] = whole
  const parts =
    first < last
      ? [factsOfTime(reader, own, { from: last, to }), factsOfTime(reader, own, { from, to: first })]
      : [factsOfTime(reader, own, { from, to })]
  const within = first < last ? [`select 1 from (${factsOfMinutes(reader, own, { from: first, to: last })}) f`] : []
  const all = [...parts.map((facts) => `select 1 from (${facts}) f where ${isBefore(start)}`), ...within]
  const { rows } = await reader.db.raw<{ rows: { n: number }[] }>(
    `select count(*)::int as n from (select * from (${all.join(' union all ')}) f limit ${most}) f`,
  )
  return rows[0]!.n
}
