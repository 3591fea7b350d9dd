import knex from 'knex'
import type pg from 'pg'
import { connectionsOf, type Database } from './database.ts'

/** Reads that are all from the same moment. */
export interface Snapshot<R> {
  /** runs its statements on the connection of the snapshot, one after another */
  readonly db: Database
  /** what the first statement has returned */
  readonly first: readonly R[]
  /** Ends the transaction and gives the connection back; never throws. */
  readonly end: () => Promise<void>
}

/** A pool of one connection that is in use already. */
const only = (connection: pg.Client) => ({
  acquire: () => ({ promise: Promise.resolve(connection) }),
  release: () => true,
  destroy: () => Promise.resolve(),
  numFree: () => 0,
  numUsed: () => 1,
  numPendingAcquires: () => 0,
})

/** A query builder is made once for each connection: to make one takes as long as a statement. */
const bound = new WeakMap<pg.Client, Database>()
const boundTo = (connection: pg.Client): Database => {
  const known = bound.get(connection)
  if (known) return known
  const made = knex({ client: 'pg', connectionPool: only(connection) })
  bound.set(connection, made)
  return made
}

const begin = 'begin isolation level repeatable read read only'

/**
 * Begins to read the database as it is now, with a statement that is sent along: a transaction of the query builder
 * would take two more round trips, each of which costs more than most of the statements that follow. `first` must not
 * have bindings.
 */
export const beginSnapshot = async <R extends object>(db: Database, first: string): Promise<Snapshot<R>> => {
  const pool = connectionsOf(db)
  const connection = await pool.acquireConnection()
  const finish = async (how: 'commit' | 'rollback') => {
    await connection.query(how).catch(() => {})
    await pool.releaseConnection(connection)
  }
  try {
    // several statements without bindings have a result each
    const results = (await connection.query(`${begin}; ${first}`)) as unknown as readonly pg.QueryResult<R>[]
    return { db: boundTo(connection), first: results[1]?.rows ?? [], end: () => finish('commit') }
  } catch (error) {
    await finish('rollback')
    throw error
  }
}
