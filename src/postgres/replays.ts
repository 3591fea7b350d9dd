import { randomInt } from 'node:crypto'
import type { Connection, Database } from './database.ts'
import { openLocks } from './listen.ts'

/** The schema of the tables of a replay is named by a number, which its advisory lock has too. */
const prefix = 'replay_'
const pattern = `^${prefix}[0-9]{1,10}$`
const lockClass = 7275470n
const lockOf = (number: number) => (lockClass << 32n) | BigInt(number)
const numberOf = (schema: string) => Number(schema.slice(prefix.length))

export interface ReplaySchema {
  readonly name: string
  /** Aborts when the connection is lost that keeps others from dropping the schema. */
  readonly lost: AbortSignal
  /** Lets the next start drop the schema. */
  readonly release: () => Promise<unknown>
}

/** Reserves the name of a schema, for as long as this process lives. The schema is not created. */
export const reserveSchema = async (connection: Connection, name: string): Promise<ReplaySchema> => {
  const locks = await openLocks(connection, name)
  for (;;) {
    const number = randomInt(1, 2 ** 31)
    const held = await locks.acquire([lockOf(number)])
    if (held.has(lockOf(number))) return { name: `${prefix}${number}`, lost: locks.lost, release: locks.close }
  }
}

/** Returns whether there are tables of a replay. */
export const hasReplays = async (db: Database): Promise<boolean> => {
  const { rows } = await db.raw<{ rows: unknown[] }>(`select from pg_namespace where nspname ~ '${pattern}' limit 1`)
  return rows.length > 0
}

/** Drops the schema of a replay with all its tables. */
export const dropSchema = (db: Database, name: string) => db.raw(`drop schema if exists ${name} cascade`)

/** Drops the schemas of replays that no process serves any more: they were killed. Returns their names. */
export const dropLeftSchemas = async (db: Database): Promise<readonly string[]> => {
  const { rows } = await db.raw<{ rows: { name: string }[] }>(
    `select nspname as name from pg_namespace where nspname ~ '${pattern}' order by 1`,
  )
  const dropped: string[] = []
  for (const { name } of rows)
    await db.transaction(async (tx) => {
      const lock = lockOf(numberOf(name)).toString()
      const { rows: locks } = await tx.raw<{ rows: { free: boolean }[] }>(
        'select pg_try_advisory_xact_lock(?) as free',
        [lock],
      )
      if (!locks[0]?.free) return
      await dropSchema(tx, name)
      dropped.push(name)
    })
  return dropped
}
