import { setTimeout as sleep } from 'node:timers/promises'
import pLimit, { type LimitFunction } from 'p-limit'
import pg from 'pg'
import { beginSession, closeWhenEnded, closeWhenSilent, type Connection, keepAlive, timeoutMsOf } from './database.ts'
import { channel } from './notifications.ts'

const connect = async (connection: Connection, name: string, onEnd: (error?: Error) => void) => {
  const client = new pg.Client({
    ...connection,
    application_name: name,
    ...keepAlive,
    connectionTimeoutMillis: timeoutMsOf(connection),
  })
  client.on('error', onEnd)
  client.on('end', () => onEnd())
  await client.connect()
  closeWhenEnded(client)
  try {
    await beginSession(client)
    return client
  } catch (error) {
    await client.end().catch(() => {})
    throw error
  }
}

/** The class of the shared advisory locks that show which read tables a process uses. */
export const readerLocks = 7275465

export interface Listener {
  /** Whether every notification is received. While it is false, some may be missed. */
  readonly up: () => boolean
  readonly start: (handlers: {
    readonly message: (text: string) => void
    /** Called each time the connection is made: earlier notifications may have been missed. */
    readonly up: () => void
    readonly lost: (error?: Error) => void
  }) => void
  readonly close: () => Promise<void>
}

/**
 * Returns a listener for the notifications of other processes, which reconnects by itself once started. It needs a
 * direct connection: a transaction pooler swallows LISTEN. `locks` are held in the class `readerLocks` while it is
 * connected.
 */
export const createListener = (connection: Connection, name: string, locks: readonly number[] = []): Listener => {
  const stopped = new AbortController()
  let up = false
  let client: pg.Client | undefined
  let running: Promise<void> | undefined

  const session = async (handlers: Parameters<Listener['start']>[0]) => {
    let end: (error?: Error) => void = () => {}
    const ended = new Promise<Error | undefined>((resolve) => (end = resolve))
    client = await connect(connection, name, (error) => end(error))
    try {
      if (stopped.signal.aborted) return // closed while it was connecting
      client.on('notification', ({ payload }) => handlers.message(payload ?? ''))
      await client.query(`select pg_advisory_lock_shared(${readerLocks}, lock) from unnest($1::int[]) as lock`, [locks])
      await client.query(`listen ${channel}`)
      up = true
      handlers.up()
      const error = await ended
      up = false
      if (!stopped.signal.aborted) handlers.lost(error)
    } finally {
      await client.end().catch(() => {})
    }
  }
  const keepListening = async (handlers: Parameters<Listener['start']>[0]) => {
    while (!stopped.signal.aborted) {
      await session(handlers).catch(() => {})
      await sleep(200, undefined, { signal: stopped.signal }).catch(() => {})
    }
  }

  return {
    up: () => up,
    start: (handlers) => {
      running ??= keepListening(handlers)
    },
    close: async () => {
      stopped.abort()
      await client?.end().catch(() => {})
      await running
    },
  }
}

/** ms that acquiring locks may take */
const lockTimeout = 10_000

/** ms after which work that others would do, too, counts as frozen */
export const frozenAfter = 30_000

/**
 * Lets the server end a session, and with it its locks, when the process gives no sign of life for so many ms: the
 * kernel of one that is frozen still answers for it. `lane` has one statement at a time.
 */
const endWhenFrozen = async (client: pg.Client, lane: LimitFunction, ms: number) => {
  await client.query(`set idle_session_timeout = ${ms}; set idle_in_transaction_session_timeout = ${ms}`)
  const sign = () => {
    if (lane.activeCount === 0) void lane(() => client.query('select 1')).catch(() => {})
  }
  const signs = setInterval(sign, ms / 6).unref()
  client.once('end', () => clearInterval(signs))
}

/**
 * Opens a connection for advisory locks, which last as long as the connection does. `frozen` are the ms after which a
 * process that is frozen loses them; without it, it never does.
 */
export const openLocks = async (connection: Connection, name: string, frozen?: number) => {
  const lost = new AbortController()
  const client = await connect(connection, name, () => lost.abort())
  closeWhenSilent(client, lockTimeout)
  const lane = pLimit(1)
  if (frozen !== undefined) await endWhenFrozen(client, lane, frozen)
  const held = new Set<bigint>()
  const acquire = async (keys: readonly bigint[]) => {
    // of several processes that start together, one then gets all locks, instead of each some of them
    await client.query('begin')
    try {
      await client.query('select pg_advisory_xact_lock(7275464)')
      const wanted = keys.filter((key) => !held.has(key))
      const { rows } = await client.query<{ key: string; got: boolean }>(
        'select key, pg_try_advisory_lock(key) as got from unnest($1::bigint[]) as key',
        [wanted],
      )
      for (const { key, got } of rows) if (got) held.add(BigInt(key))
    } finally {
      await client.query('commit')
    }
    return held
  }
  return {
    lost: lost.signal,
    acquire: (keys: readonly bigint[]) => lane(() => acquire(keys)),
    /** Gives all locks back: after `close`, the server may take a moment for it. */
    release: () => lane(() => client.query('select pg_advisory_unlock_all()')),
    close: () => client.end(),
  }
}
