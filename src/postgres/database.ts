import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import type { Socket } from 'node:net'
import knex, { type Knex } from 'knex'
import pg from 'pg'

export type Database = Knex
/** What pg connects with: a connection string, or the parts. */
export type Connection = Pick<pg.PoolConfig, 'connectionString' | 'host' | 'port' | 'user' | 'password' | 'database'>

export interface PoolOptions {
  /** names the connection in pg_stat_activity and in notifications */
  readonly name: string
  readonly max: number
  /** ms until a statement is given up */
  readonly timeout: number
  readonly onError: (error: Error) => void
}

/** A way to the server that is gone without a word is noticed within half a minute. */
export const alive = { keepAlive: true, keepAliveInitialDelayMillis: 10_000, connectionTimeoutMillis: 2000 } as const

/** `statement_timeout` only works where the server does: when that is silent in the middle of a statement, the connection is given up. */
const giveUpSilent = (client: pg.Client, timeout: number) => {
  const inner = client as unknown as {
    readonly readyForQuery: boolean
    readonly connection: { readonly stream: Socket }
  }
  const { stream } = inner.connection
  const ms = timeout + 1000
  stream.setTimeout(ms, () => {
    const silent = new Error(`PostgreSQL has been silent for ${ms} ms`)
    if (!inner.readyForQuery) stream.destroy(Object.assign(silent, { code: 'ETIMEDOUT' }))
  })
}

const settings = (connection: Connection, { name, timeout }: PoolOptions) => ({
  ...connection,
  application_name: name,
  ...alive,
  statement_timeout: timeout,
  idle_in_transaction_session_timeout: 30_000,
})

/** A knex of its own, so that one kind of work can never take the connections of another. An exhausted one fails within two seconds. */
export const openDatabase = (connection: Connection, options: PoolOptions): Database =>
  knex({
    client: 'pg',
    connection: settings(connection, options) as Knex.PgConnectionConfig,
    acquireConnectionTimeout: 2000,
    // it would print: what it has to say is thrown as well, or goes to onError
    log: { warn: () => {}, error: () => {}, deprecate: () => {}, debug: () => {} },
    pool: {
      min: 0,
      max: options.max,
      // a broken connection must not take the process with it, and one left inside a transaction must not be used again
      afterCreate: (client: pg.Client, done: (error: Error | null, client: pg.Client) => void) => {
        client.on('error', options.onError)
        giveUpSilent(client, options.timeout)
        done(null, client)
      },
    },
  })

export const openPool = (connection: Connection, options: PoolOptions): pg.Pool => {
  const pool = new pg.Pool({ ...settings(connection, options), max: options.max })
  pool.on('error', options.onError)
  pool.on('connect', (client) => {
    client.on('error', options.onError)
    giveUpSilent(client, options.timeout)
  })
  return pool
}

const folder = new URL('./migrations/', import.meta.url)
const source: Knex.MigrationSource<string> = {
  getMigrations: async () => (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort(),
  getMigrationName: (name) => name,
  getMigration: async (name) => {
    const sql = await readFile(new URL(name, folder), 'utf8')
    return {
      up: (db) => db.raw(sql.replaceAll('?', '\\?')),
      down: () => Promise.reject(new Error('migrations only go forward')),
    }
  },
}

/** Brings `log` and `state` to this program's form; processes that start together wait for each other. Forward only. */
export const migrate = async (db: Database) => {
  await db.transaction(async (lock) => {
    await lock.raw('select pg_advisory_xact_lock(7275462)')
    await lock.raw('create schema if not exists state; create schema if not exists read')
    await lock.migrate.latest({ migrationSource: source, schemaName: 'state', disableTransactions: true })
  })
}

/** A statement that comes again and again is kept by the server, parsed and planned, under a name. */
export const prepared = (sql: string) => ({ name: createHash('sha1').update(sql).digest('hex') })
