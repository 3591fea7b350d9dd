import { aboveViews, highestAccount, minuteMs, subjects } from '../projections/clickfacts.ts'
import type { Reader } from './reader.ts'

/** The clicks of one link, or all clicks of an account, including the scans of its QR codes and clicks on entries of its bio pages. */
export type Subject = { readonly link: number } | { readonly account: number }

/** What the tables know about a subject. */
export interface Counted {
  /** value of the columns `subject` of roll-ups */
  readonly subject: number
  readonly clicks: number
  readonly uniques: number
  /** the roll-ups have all visits before this minute, and no others; they have none when it is null */
  readonly rolled: number | null
  /** clicks before this minute are in totals only: they were dropped before the subject had roll-ups */
  readonly since: number | null
  /** the facts of clicks before this minute were dropped */
  readonly horizon: number | null
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

export const readCounted = async ({ db, table }: Reader, of: Subject): Promise<Counted> => {
  const [name, key, since] =
    'link' in of ? (['link_stats', 'link', 'since'] as const) : (['account_stats', 'account', 'null::int'] as const)
  type Row = Omit<Counted, 'subject' | 'clicks' | 'uniques'> & { readonly clicks: string; readonly uniques: string }
  const { rows } = await db.raw<{ rows: Row[] }>(
    `select clicks, uniques, rolled, ${since} as since, (select max(minute) from ${table('click_horizon')}) as horizon
     from ${table(name)} where ${key} = ?`,
    ['link' in of ? of.link : of.account],
  )
  const [row] = rows
  return {
    subject: 'link' in of ? of.link : subjects.account(of.account),
    clicks: Number(row?.clicks ?? 0),
    uniques: Number(row?.uniques ?? 0),
    rolled: row?.rolled ?? null,
    since: row?.since ?? null,
    horizon: row?.horizon ?? null,
  }
}

/** The minutes from one up to another, which is not included. */
export interface Minutes {
  readonly from: number
  readonly to: number
}
/** All minutes that a table can number. */
export const [firstMinute, endOfMinutes] = [-(2 ** 31), 2 ** 31 - 1]

/**
 * SQL of the facts of a subject within the given minutes, as `c`. The planner looks up each range in the index on the subject and the
 * minute, in the partitions that have it; a view of a bio page is no click of an account.
 */
export const factsOf = ({ table }: Reader, { subject }: Pick<Counted, 'subject'>, ranges: readonly Minutes[]) => {
  const own =
    subject <= highestAccount
      ? `c.account = ${highestAccount - subject} and c.link > ${aboveViews}`
      : `c.link = ${subject}`
  const parts = ranges.map(
    ({ from, to }) => `select * from ${table('clicks')} c where ${own} and c.minute >= ${from} and c.minute < ${to}`,
  )
  return parts.length === 0 ? `select * from ${table('clicks')} where false` : parts.join(' union all ')
}
