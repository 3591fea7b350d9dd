import { isOrdinal, type Ordinals } from '../events/ordinals.ts'
import type { Database } from '../postgres/database.ts'
import { type Row, timeOf } from './postgres/events.ts'

export type { Numbered, Ordinals } from '../events/ordinals.ts'

/** A table with a row for each event in log order, numbered by the column `key` from `first` on. */
interface Sequence {
  readonly table: string
  readonly key: string
  readonly first: number
}

/**
 * Finds the newest row up to a moment by halving: the times never decrease, and an index on them would cost every
 * append.
 */
const newestUpTo = ({ table, key, first }: Sequence) => `
  with recursive search (low, high) as (
    select ${first - 1}::bigint, coalesce((select max(${key}) from ${table}), ${first - 1})
    union all
    select case when e.at <= ? then e.${key} else s.low end, case when e.at <= ? then s.high else e.${key} - 1 end
    from search s cross join lateral (select ${key}, at from ${table} where ${key} = (s.low + s.high + 1) / 2 limit 1) e
    where s.low < s.high
  ) select low from search order by high - low limit 1`

const findNewest = async (db: Database, sequence: Sequence, moment: Date): Promise<bigint | undefined> => {
  const { rows } = await db.raw<{ rows: { low: string }[] }>(newestUpTo(sequence), [moment, moment])
  const found = BigInt(rows[0]?.low ?? -1)
  return found < BigInt(sequence.first) ? undefined : found
}

const log: Sequence = { table: 'log.events', key: 'position', first: 1 }

/** The ordinals of a log in PostgreSQL: positions count from 1 and have no gaps. */
export const postgresOrdinals = (db: Database): Ordinals => {
  // the log only grows
  let known = 0n
  const readHead = async () => {
    const { rows } = await db.raw<{ rows: { head: string | null }[] }>('select max(position) as head from log.events')
    known = BigInt(rows[0]?.head ?? 0)
    return known
  }
  const reaches = async (position: bigint) => position <= known || position <= (await readHead())
  return {
    of: async (positions) => {
      if (positions.length === 0) return new Map()
      await reaches(positions.reduce((a, b) => (a > b ? a : b)))
      const numbered = positions.filter((position) => position >= 1n && position <= known)
      return new Map(numbered.map((position) => [position, Number(position) - 1]))
    },
    positionOf: async (ordinal) => {
      if (!isOrdinal(ordinal)) return undefined
      const position = BigInt(ordinal) + 1n
      return (await reaches(position)) ? position : undefined
    },
    lastAt: async (moment) => {
      await db.raw('select log.ask(log.sure(?::timestamptz))', [new Date(Math.min(moment.getTime(), Date.now()))])
      const position = await findNewest(db, log, moment)
      return position === undefined ? undefined : { ordinal: Number(position) - 1, position }
    },
    head: async () => Number(await readHead()),
    timeOf: async (ordinal) => {
      if (!isOrdinal(ordinal)) return undefined
      const { rows } = await db.raw<{ rows: Pick<Row, 'at'>[] }>('select at from log.events where position = ?', [
        ordinal + 1,
      ])
      return rows[0] && timeOf(rows[0].at)
    },
  }
}

/** The ordinals of a log whose positions have gaps, by the table that `numberEvents` fills. */
export const tableOrdinals = (db: Database): Ordinals => {
  const select = async <R>(sql: string, values: readonly (number | string[])[] = []) =>
    (await db.raw<{ rows: R[] }>(sql, values)).rows
  const rowOf = async (ordinal: number) =>
    isOrdinal(ordinal)
      ? (
          await select<{ position: string; at: Date }>('select position, at from read.ordinals where ordinal = ?', [
            ordinal,
          ])
        )[0]
      : undefined
  const positionOf = async (ordinal: number) => {
    const row = await rowOf(ordinal)
    return row && BigInt(row.position)
  }
  return {
    of: async (positions) => {
      if (positions.length === 0) return new Map()
      const rows = await select<{ ordinal: string; position: string }>(
        'select ordinal, position from read.ordinals where position = any (?::bigint[])',
        [positions.map(String)],
      )
      return new Map(rows.map(({ ordinal, position }) => [BigInt(position), Number(ordinal)]))
    },
    positionOf,
    lastAt: async (moment) => {
      const found = await findNewest(db, { table: 'read.ordinals', key: 'ordinal', first: 0 }, moment)
      const position = found === undefined ? undefined : await positionOf(Number(found))
      return position === undefined ? undefined : { ordinal: Number(found), position }
    },
    head: async () =>
      Number((await select<{ n: string }>('select coalesce(max(ordinal) + 1, 0) as n from read.ordinals'))[0]?.n),
    timeOf: async (ordinal) => (await rowOf(ordinal))?.at.toISOString(),
  }
}
