import type { Database } from './database.ts'

/** A checkpoint by its time, with the number that it has in its series. */
export interface Numbered {
  readonly size: number
  readonly signed_at: Date
  readonly series: string | null
  readonly number: number
  readonly before: number
  readonly seal: string
}

interface Row {
  readonly size: string
  readonly signed_at: Date
  readonly series: string | null
  readonly number: string | null
  readonly before: string | null
  readonly seal: string | null
}
const table = 'state.checkpoints'

const toNumbered = (row: Row): Numbered => ({
  size: Number(row.size),
  signed_at: row.signed_at,
  series: row.series,
  number: Number(row.number ?? 0),
  before: Number(row.before ?? 0),
  seal: row.seal ?? '',
})

const select = (db: Database) =>
  db<Row>(table).select('size', 'signed_at', 'series', 'number', 'before', 'seal').orderBy('size')

/** Returns all checkpoints that are kept, with their numbers, the smallest first. */
export const checkpointNumbers = async (db: Database): Promise<readonly Numbered[]> =>
  (await select(db)).map(toNumbered)

/** Returns the newest checkpoint that has a number of a series, and those after it. */
export const unnumbered = async (db: Database, series: string) => {
  const [last] = await db<Row>(table).where({ series }).orderBy('size', 'desc').limit(1)
  const after = await select(db).where('size', '>', last?.size ?? '-1')
  return { last: last && toNumbered(last), after: after.map(toNumbered) }
}

/** Keeps the numbers of checkpoints. */
export const numberCheckpoints = async (
  db: Database,
  numbers: readonly Omit<Numbered, 'signed_at'>[],
): Promise<void> => {
  await db.raw(
    `update ${table} c set series = n.series, number = n.number, before = n.before, seal = n.seal
     from json_to_recordset(?::json) as n (size bigint, series uuid, number bigint, before bigint, seal text) where c.size = n.size`,
    [JSON.stringify(numbers)],
  )
}

/** A series that is to begin, under a seal of the service: see 033_nextseries.sql. */
export interface NextSeries {
  readonly series: string
  readonly seal: string
}

/** Returns the series that was noted to begin with the next checkpoint. */
export const readNextSeries = (db: Database): Promise<NextSeries | undefined> =>
  db<NextSeries>('state.next_series').first('series', 'seal')

/** Notes the series that begins with the next checkpoint, instead of another one; none without one. */
export const keepNextSeries = async (db: Database, next?: NextSeries): Promise<void> => {
  await (next ? db('state.next_series').insert(next).onConflict('single').merge() : db('state.next_series').delete())
}
