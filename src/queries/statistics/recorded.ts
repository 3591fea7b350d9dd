import { classes, minuteMs, minuteOf, scanOffset, visited } from '../../projections/statistics/clickfacts.ts'
import { dims, dimensions, type Dim } from '../../projections/statistics/labels.ts'
import { firstMinute } from './facts.ts'
import { readLabels } from './labels.ts'
import type { Reader } from '../reader.ts'

/** A visit, as the read tables have it. */
export interface ExportedClick {
  readonly at: Date
  /** what was visited; `view`: a bio page itself, `bio`: an entry of a bio page that leads to no link of the account */
  readonly of: 'link' | 'qr' | 'bio' | 'view'
  readonly id: number
  /** the code that the visitor of a link has scanned */
  readonly qr?: number
  readonly class: string
  /** whether it is the first of a person on this link, page or code */
  readonly unique: boolean
  readonly labels: Readonly<Record<Dim, string>>
}

/** A row of the facts. */
export interface FactRow extends Readonly<Record<Dim, number>> {
  readonly seq: string
  readonly link: string
  readonly account: string
  readonly minute: number
  readonly ms: number
  readonly class: number
}
export const factColumns = ['seq', 'link', 'account', 'minute', 'ms', 'class', ...dimensions] as const
/** Returns when a visit was. */
export const momentOf = ({ minute, ms }: Pick<FactRow, 'minute' | 'ms'>) =>
  new Date(minute * minuteMs + ms + minuteMs / 2)

/** visits in one statement */
const batchSize = 5000

const classNames = new Map<number, string>(Object.entries(classes).map(([name, value]) => [value, name]))
const classOf = (value: number) => (value === classes.first ? 'human' : (classNames.get(value) ?? 'other'))

/** Returns the labels of visits by dimension; empty for those that are unknown. */
const labelsOf = async (reader: Reader, rows: readonly FactRow[]) => {
  const labelOf = await readLabels(
    reader,
    dimensions.map((dim) => ({ dim: dims[dim], ids: [...new Set(rows.map((row) => row[dim]))] })),
  )
  return (row: FactRow) =>
    Object.fromEntries(dimensions.map((dim) => [dim, labelOf(dims[dim], row[dim]) ?? ''])) as Record<Dim, string>
}

interface Wanted {
  readonly account: number
  /** visits of later minutes are left out */
  readonly until: Date
}

/**
 * Returns the minutes of about one batch of visits from a minute on: the index has them without the rows. A statement
 * sorts at most these, or the visits of a single minute.
 */
const nextMinutes = async ({ db, table }: Reader, { account, until }: Wanted, from: number) => {
  const to = minuteOf(until.toISOString()) + 1
  const { rows } = await db.raw<{ rows: { first: number | null; last: number | null }[] }>(
    `select min(minute) as first, max(minute) as last from (
       select minute from ${table('clicks')} where account = ? and minute >= ? and minute < ? order by minute limit ${batchSize}
     ) as batch`,
    [account, from, to],
  )
  const { first = null, last = null } = rows[0] ?? {}
  return first === null || last === null ? undefined : { first, last }
}

const readBatch = async (
  { db, table }: Reader,
  { account }: Wanted,
  { first, last }: { readonly first: number; readonly last: number },
  after: Pick<FactRow, 'minute' | 'seq'>,
) => {
  const { rows } = await db.raw<{ rows: FactRow[] }>(
    `select ${factColumns.join()} from ${table('clicks')}
     where account = ? and minute >= ${first} and minute <= ${last} and (minute, seq) > (?, ?)
     order by minute, seq limit ${batchSize}`,
    [account, after.minute, after.seq],
  )
  return rows
}

/**
 * Returns what else was visited by visits, by their `seq`: `place` is the difference of that of the other row. Each is
 * looked up by its minute, so that it does not matter how far they are apart.
 */
const alsoVisited = async ({ db, table }: Reader, rows: readonly FactRow[], place: number) => {
  const { rows: found } = await db.raw<{ rows: { seq: string; link: string }[] }>(
    `select w.seq, c.link from unnest(?::bigint[], ?::bigint[], ?::int[]) as w (seq, account, minute)
     cross join lateral (
       select link from ${table('clicks')} c where c.account = -w.account and c.minute = w.minute and c.seq = w.seq + ${place} limit 1
     ) c`,
    [rows.map(({ seq }) => seq), rows.map(({ account }) => account), rows.map(({ minute }) => minute)],
  )
  return new Map(found.map(({ seq, link }) => [seq, link]))
}

/** Returns the visits of links that scans led to, instead of the scans. */
const withoutScans = async (reader: Reader, rows: readonly FactRow[]): Promise<readonly FactRow[]> => {
  const isScan = ({ account }: FactRow) => Number(account) < 0
  const led = await alsoVisited(reader, rows.filter(isScan), -scanOffset)
  return rows.map((row) =>
    isScan(row)
      ? {
          ...row,
          seq: String(BigInt(row.seq) - BigInt(scanOffset)),
          account: row.account.slice(1),
          link: led.get(row.seq) ?? row.link,
        }
      : row,
  )
}

/** Returns visits as their rows have them. */
export const clicksFrom = async (reader: Reader, given: readonly FactRow[]): Promise<readonly ExportedClick[]> => {
  const rows = await withoutScans(reader, given)
  const labels = await labelsOf(reader, rows)
  const codes = await alsoVisited(
    reader,
    rows.filter(({ link }) => Number(link) > 0),
    scanOffset,
  )
  return rows.map((row) => {
    const code = codes.get(row.seq)
    const qr = code === undefined ? {} : { qr: visited(Number(code)).id }
    const unique = row.class === classes.first
    return {
      at: momentOf(row),
      ...visited(Number(row.link)),
      ...qr,
      class: classOf(row.class),
      unique,
      labels: labels(row),
    }
  })
}

/**
 * Returns the visits of an account, oldest first to the minute. Those of months before `CLICK_RETENTION_MONTHS` are
 * gone.
 */
export const clicksOf = async function* (reader: Reader, wanted: Wanted): AsyncGenerator<ExportedClick> {
  let after: Pick<FactRow, 'minute' | 'seq'> = { minute: firstMinute, seq: '-1' }
  for (let from = firstMinute; ;) {
    const minutes = await nextMinutes(reader, wanted, from)
    if (!minutes) return
    for (;;) {
      const rows = await readBatch(reader, wanted, minutes, after)
      yield* await clicksFrom(reader, rows)
      after = rows.at(-1) ?? after
      if (rows.length < batchSize) break
    }
    from = minutes.last + 1
  }
}

/** Returns the time of the first visits that are kept; null when all are. */
export const clicksKeptSince = async ({ db, table }: Reader): Promise<Date | null> => {
  const { rows } = await db.raw<{ rows: { minute: number | null }[] }>(
    `select max(minute) as minute from ${table('click_horizon')}`,
  )
  const minute = rows[0]?.minute ?? null
  return minute === null ? null : new Date(minute * minuteMs)
}
