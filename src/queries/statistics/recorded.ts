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

interface Row extends Readonly<Record<Dim, number>> {
  readonly seq: string
  readonly link: string
  readonly minute: number
  readonly ms: number
  readonly class: number
}

/** visits in one statement */
const batchSize = 5000

const classNames = new Map<number, string>(Object.entries(classes).map(([name, value]) => [value, name]))
const classOf = (value: number) => (value === classes.first ? 'human' : (classNames.get(value) ?? 'other'))

/** Returns the labels of visits by dimension; empty for those that are unknown. */
const labelsOf = async (reader: Reader, rows: readonly Row[]) => {
  const labelOf = await readLabels(
    reader,
    dimensions.map((dim) => ({ dim: dims[dim], ids: [...new Set(rows.map((row) => row[dim]))] })),
  )
  return (row: Row) =>
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
  after: Pick<Row, 'minute' | 'seq'>,
) => {
  const { rows } = await db.raw<{ rows: Row[] }>(
    `select seq, link, minute, ms, class, ${dimensions.join()} from ${table('clicks')}
     where account = ? and minute >= ${first} and minute <= ${last} and (minute, seq) > (?, ?)
     order by minute, seq limit ${batchSize}`,
    [account, after.minute, after.seq],
  )
  return rows
}

/** Returns the codes that visitors of links have scanned, by the visits. */
const codesOf = async ({ db, table }: Reader, { account }: Wanted, rows: readonly Row[]) => {
  const links = rows.filter(({ link }) => Number(link) > 0)
  const { rows: scans } = await db.raw<{ rows: { seq: string; link: string }[] }>(
    `select seq - ${scanOffset} as seq, link from ${table('clicks')}
     where account = ? and minute >= ? and minute <= ? and seq - ${scanOffset} = any(?::bigint[])`,
    [-account, rows[0]?.minute ?? 0, rows.at(-1)?.minute ?? 0, links.map(({ seq }) => seq)],
  )
  return new Map(scans.map(({ seq, link }) => [seq, visited(Number(link)).id]))
}

/**
 * Returns the visits of an account, oldest first to the minute. Those of months before `CLICK_RETENTION_MONTHS` are
 * gone.
 */
export const clicksOf = async function* (reader: Reader, wanted: Wanted): AsyncGenerator<ExportedClick> {
  let after: Pick<Row, 'minute' | 'seq'> = { minute: firstMinute, seq: '-1' }
  for (let from = firstMinute; ;) {
    const minutes = await nextMinutes(reader, wanted, from)
    if (!minutes) return
    for (;;) {
      const rows = await readBatch(reader, wanted, minutes, after)
      const [labels, codes] = [await labelsOf(reader, rows), await codesOf(reader, wanted, rows)]
      for (const row of rows) {
        const at = new Date(row.minute * minuteMs + row.ms + minuteMs / 2)
        const { class: value } = row
        const unique = value === classes.first
        const qr = codes.get(row.seq)
        const what = { ...visited(Number(row.link)), ...(qr !== undefined && { qr }) }
        yield { at, ...what, class: classOf(value), unique, labels: labels(row) }
      }
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
