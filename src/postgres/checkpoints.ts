import type { Database } from './database.ts'

/** A signed checkpoint of the tree over the log, as it was published. */
export interface KeptCheckpoint {
  readonly size: number
  /** with its signature */
  readonly note: string
  readonly signed_at: Date
}

interface Row {
  readonly size: string
  readonly note: string
  readonly signed_at: Date
}
const table = 'state.checkpoints'
const toCheckpoint = (row: Row): KeptCheckpoint => ({ ...row, size: Number(row.size) })

/** Returns the newest checkpoint, undefined when there is none yet. */
export const newestCheckpoint = async (db: Database): Promise<KeptCheckpoint | undefined> => {
  const [row] = await db<Row>(table).orderBy('size', 'desc').limit(1)
  return row && toCheckpoint(row)
}

/** Whether a checkpoint was signed, also by another key than the one of now. */
export const hasCheckpoint = async (db: Database): Promise<boolean> => (await newestCheckpoint(db)) !== undefined

/**
 * Returns how many ms ago the newest checkpoint was signed, by the clock of the database, which has set its time: less
 * than 0 when the clock was set back since. Undefined when there is none yet.
 */
export const checkpointAge = async (db: Database): Promise<number | undefined> => {
  const [row] = await db<Row>(table)
    .select<{ age: number }[]>(db.raw(`(extract(epoch from now() - signed_at) * 1000)::float8 as age`))
    .orderBy('size', 'desc')
    .limit(1)
  return row?.age
}

/** Returns the latest time at which a checkpoint was signed, undefined when there is none yet. */
export const latestSigning = async (db: Database): Promise<Date | undefined> =>
  (await db<Row>(table).max<{ at: Date | null }[]>('signed_at as at'))[0]?.at ?? undefined

/** Returns all checkpoints that are kept, the smallest first. */
export const keptCheckpoints = async (db: Database): Promise<readonly KeptCheckpoint[]> =>
  (await db<Row>(table).orderBy('size')).map(toCheckpoint)

/** days for which each checkpoint is kept; of older ones, the last of each hour */
const keptDays = 2

/** Keeps a checkpoint, and thins out old ones. `number` gives it its number, and its result is returned. */
export const keepCheckpoint = <T>(
  db: Database,
  { size, note }: Pick<KeptCheckpoint, 'size' | 'note'>,
  number: (tx: Database) => Promise<T>,
): Promise<T> =>
  db.transaction(async (tx) => {
    // two checkpoints that are signed at once have different numbers
    await tx.raw(`lock table ${table} in share row exclusive mode`)
    await tx(table).insert({ size, note }).onConflict('size').ignore()
    const last = await number(tx)
    await tx.raw(
      `with hours as (
         select size, signed_at, date_trunc('hour', signed_at at time zone 'UTC') as hour, lead(date_trunc('hour', signed_at at time zone 'UTC')) over (order by size) as next from ${table}
       ) delete from ${table} c using hours h
       where c.size = h.size and h.next = h.hour and h.signed_at < now() - interval '${keptDays} days'`,
    )
    return last
  })

/** Deletes the checkpoints of these sizes, and returns them. */
export const forgetCheckpoints = async (db: Database, sizes: readonly number[]): Promise<readonly KeptCheckpoint[]> =>
  (await db<Row>(table).whereIn('size', sizes.map(String)).delete().returning(['size', 'note', 'signed_at'])).map(
    toCheckpoint,
  )

/** The last time that the whole log was found as it was signed. */
export interface Verification {
  readonly events: number
  readonly at: Date
}

/** Keeps that the whole log was verified, instead of the last time. */
export const keepVerification = async (db: Database, events: number): Promise<void> => {
  await db('state.verifications').insert({ events, verified_at: new Date() }).onConflict('single').merge()
}

export const lastVerification = async (db: Database): Promise<Verification | undefined> => {
  const [row] = await db<{ events: string; verified_at: Date }>('state.verifications').select()
  return row && { events: Number(row.events), at: row.verified_at }
}
