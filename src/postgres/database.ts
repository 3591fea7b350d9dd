import type { EventEmitter } from 'node:events'
import { callbackify } from 'node:util'
import { createHash } from 'node:crypto'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import knex, { type Knex } from 'knex'
import pg from 'pg'
import QuickLRU from 'quick-lru'

export type Database = Knex
/** Options to connect with: a connection string, or its parts. */
export type Connection = Pick<pg.PoolConfig, 'connectionString' | 'host' | 'port' | 'user' | 'password' | 'database'>

/** Statements that sessions of a pool may begin with. */
export const sessions = {
  /** rejects every statement that would change something */
  readOnly: 'set default_transaction_read_only = on',
  /**
   * For look-ups by an index. A plan from a time when the table was small, or not analyzed, would read all of it. And
   * for a few keys, PostgreSQL would plan each time, because its cached plan expects more keys: planning takes longer
   * than the look-up.
   */
  byIndex: 'set enable_seqscan = off; set plan_cache_mode = force_generic_plan',
} as const

export interface PoolOptions {
  /** names the process in pg_stat_activity and in notifications */
  readonly name: string
  readonly max: number
  /** ms until a statement is cancelled */
  readonly timeout: number
  readonly onError: (error: Error) => void
  /** a statement with which each session begins, one of `sessions` */
  readonly begin?: string | undefined
  /** ms to open a connection, or to get one from the pool; see `timeoutMsOf` */
  readonly timeoutMs?: number
}

/** Keep-alive settings: detect a silently lost connection within half a minute. */
export const keepAlive = {
  keepAlive: true,
  keepAliveInitialDelayMillis: 10_000,
} as const

/**
 * Lets the server detect within about 15 s that our machine is gone without closing its connections. By default it
 * would keep the session for two hours, and with it the locks that another process waits for.
 */
const keepAliveOfServer =
  'set tcp_keepalives_idle = 5; set tcp_keepalives_interval = 3; set tcp_keepalives_count = 3; set tcp_user_timeout = 15000'

/**
 * Returns a statement that makes a commit wait until it is on disk, in a session or a transaction; stronger values
 * stay.
 */
const durable = (isLocal: boolean) =>
  `select set_config('synchronous_commit', case when reset_val = 'off' then 'on' else reset_val end, ${isLocal}) from pg_settings where name = 'synchronous_commit'`
/** Makes the rest of a transaction durable that began without. */
export const durableNow = durable(true)

/**
 * Settings of every session, which override defaults of the server, the database or the role: the driver reads no other
 * date formats, an append reads the head of the log behind its lock, and an acknowledged write must be on disk.
 */
const sessionBegin = [
  keepAliveOfServer,
  `set datestyle = 'ISO'; set default_transaction_isolation = 'read committed'`,
  durable(false),
  `select pg_is_in_recovery() or current_setting('default_transaction_read_only') = 'on' as only_reads`,
].join('; ')

/**
 * Begins a session, with an optional further statement. Rejects a read-only server, as libpq does with
 * `target_session_attrs=read-write`: a standby that is not promoted yet, or one whose disk is full at a hoster. The
 * session would keep that server, even when the address leads to another one later.
 */
export const beginSession = async (client: pg.ClientBase, begin = ''): Promise<void> => {
  const results: unknown = await client.query([sessionBegin, begin].join('; '))
  const onlyReads = (results as pg.QueryResult<{ only_reads?: boolean }>[]).some(({ rows }) => rows[0]?.only_reads)
  if (!onlyReads) return
  // the opener does not close a connection that failed to begin
  streamOf(client as pg.Client).destroy()
  const reason = 'this PostgreSQL only reads: it is a standby, or default_transaction_read_only is on'
  throw Object.assign(new Error(reason), { code: '25006' })
}

/** The same with a callback. */
const begun = callbackify((client: pg.ClientBase, begin: string) => beginSession(client, begin))

/**
 * Returns the ms that connecting may take: 2 s, unless the address has libpq's parameter `connect_timeout` (in
 * seconds).
 */
export const timeoutMsOf = ({ connectionString = '' }: Connection): number =>
  Number(/[?&]connect_timeout=([1-9]\d{0,3})(?:&|$)/.exec(connectionString)?.[1] ?? 2) * 1000

/** ms that a server may take to close a connection that we have ended */
const farewell = 1000

const streamOf = (client: pg.Client) =>
  (client as unknown as { readonly connection: { readonly stream: Socket } }).connection.stream

/** Closes a connection that we end even if its server is silent: otherwise it would keep the process from stopping. */
export const closeWhenEnded = (client: pg.Client) => {
  const stream = streamOf(client)
  stream.once('finish', () => setTimeout(() => stream.destroy(), farewell).unref())
}

/** Closes a connection whose server has become read-only: the next one goes where the address leads by then. */
const closeWhenReadOnly = (client: pg.Client) => {
  const { connection } = client as unknown as { readonly connection: EventEmitter }
  connection.on('errorMessage', ({ code }: { readonly code?: string }) => {
    if (code === '25006') streamOf(client).destroy()
  })
}

/** Closes a connection whose server stops responding during a statement: `statement_timeout` needs a working server. */
export const closeWhenSilent = (client: pg.Client, timeout: number) => {
  const inner = client as unknown as { readonly readyForQuery: boolean }
  const stream = streamOf(client)
  const ms = timeout + 1000
  stream.setTimeout(ms, () => {
    const silence = new Error(`PostgreSQL did not answer for ${ms} ms`)
    if (!inner.readyForQuery) stream.destroy(Object.assign(silence, { code: 'ETIMEDOUT' }))
  })
}

const settings = (connection: Connection, { name, timeout, timeoutMs = timeoutMsOf(connection) }: PoolOptions) => ({
  ...connection,
  application_name: name,
  ...keepAlive,
  connectionTimeoutMillis: timeoutMs,
  statement_timeout: timeout,
  idle_in_transaction_session_timeout: 30_000,
})

/**
 * Opens a pool of its own, so that one kind of work cannot use up the connections of another. An exhausted pool fails
 * after the timeout.
 */
export const openDatabase = (connection: Connection, options: PoolOptions): Database =>
  knex({
    client: 'pg',
    connection: settings(connection, options) as Knex.PgConnectionConfig,
    acquireConnectionTimeout: options.timeoutMs ?? timeoutMsOf(connection),
    // knex would print: its errors are thrown or passed to onError as well
    log: { warn: () => {}, error: () => {}, deprecate: () => {}, debug: () => {} },
    pool: {
      min: 0,
      max: options.max,
      // an 'error' event without a listener would end the process
      afterCreate: (client: pg.Client, done: (error: Error | null, client: pg.Client) => void) => {
        client.on('error', options.onError)
        closeWhenSilent(client, options.timeout)
        closeWhenEnded(client)
        closeWhenReadOnly(client)
        begun(client, options.begin ?? '', (error) => done(error, client))
      },
    },
  })

export const openPool = (connection: Connection, options: PoolOptions): pg.Pool => {
  const pool = new pg.Pool({
    ...settings(connection, options),
    max: options.max,
    verify: (client, done) => begun(client, '', (error) => done(error ?? undefined)),
  })
  pool.on('error', options.onError)
  pool.on('connect', (client) => {
    client.on('error', options.onError)
    closeWhenSilent(client, options.timeout)
    closeWhenEnded(client)
    closeWhenReadOnly(client)
  })
  return pool
}

interface Connections {
  readonly acquireConnection: () => Promise<pg.Client>
  readonly releaseConnection: (connection: pg.Client) => Promise<void>
}
/** Returns the connections of a pool. */
export const connectionsOf = ({ client }: Database): Connections => {
  const pool = client as Connections
  return {
    acquireConnection: () => pool.acquireConnection(),
    releaseConnection: (connection) => pool.releaseConnection(connection),
  }
}

/** lock_not_available, deadlock_detected: PostgreSQL cancelled the statement in favor of others */
const isAboutLocks = (error: unknown) => ['55P03', '40P01'].includes(String((error as { code?: unknown }).code))

/** number of attempts of a statement, and ms between them */
const [tries, rest] = [5, 500]

const tried = async (connection: pg.Client, sql: string) => {
  for (let n = 1; ; n++)
    try {
      return await connection.query(sql)
    } catch (error) {
      if (n === tries || !isAboutLocks(error)) throw error
      await sleep(rest)
    }
}

/**
 * Executes statements without bindings and without a time limit, and retries a few times when others have the locks
 * that they need. A statement that PostgreSQL may not carry out, or only in part, can be a warning and no error.
 */
export const runLong = async (
  db: Database,
  statements: readonly string[],
  onWarning: (message: string) => void = () => {},
): Promise<void> => {
  const { acquireConnection, releaseConnection } = connectionsOf(db)
  const connection = await acquireConnection()
  const stream = streamOf(connection)
  const silence = stream.timeout ?? 0
  const onNotice = ({ severity, message = '' }: { severity?: string | undefined; message?: string | undefined }) => {
    if (severity === 'WARNING') onWarning(message)
  }
  stream.setTimeout(0)
  connection.on('notice', onNotice)
  try {
    await connection.query('set statement_timeout = 0')
    for (const sql of statements) await tried(connection, sql)
  } finally {
    await connection.query('reset statement_timeout; reset lock_timeout').catch(() => {})
    connection.off('notice', onNotice)
    stream.setTimeout(silence)
    await releaseConnection(connection)
  }
}

/** names of statements: hashing a long one takes as long as sending it */
const names = new QuickLRU<string, { readonly name: string }>({ maxSize: 500 })

/** Returns options that make the server keep a frequent statement parsed and planned. */
export const prepared = (sql: string): { readonly name: string } => {
  const known = names.get(sql)
  if (known) return known
  const made = { name: createHash('sha1').update(sql).digest('hex') }
  names.set(sql, made)
  return made
}
