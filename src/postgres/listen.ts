import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { type Connection, keepAlive } from './database.ts'
import { channel } from './notifications.ts'

const connect = async (connection: Connection, name: string, onEnd: (error?: Error) => void) => {
  const client = new pg.Client({
    ...connection,
    application_name: name,
    ...keepAlive,
  })
  client.on('error', onEnd)
  client.on('end', () => onEnd())
  await client.connect()
  return client
}

export interface Listener {
  /** Whether notifications arrive; none was lost since `on.up` was last called. */
  readonly up: () => boolean
  readonly close: () => Promise<void>
}

/**
 * Receives the notifications of other processes on a connection of its own, and reconnects when it is lost. `on.up` is called after each
 * connect and `on.lost` after each loss; notifications in between are lost. It needs a direct connection: behind a transaction pooler,
 * LISTEN receives nothing.
 */
export const listen = (
  connection: Connection,
  name: string,
  on: { readonly message: (text: string) => void; readonly up: () => void; readonly lost: (error?: Error) => void },
): Listener => {
  const stopped = new AbortController()
  let up = false
  let client: pg.Client | undefined

  const session = async () => {
    let end: (error?: Error) => void = () => {}
    const ended = new Promise<Error | undefined>((resolve) => (end = resolve))
    client = await connect(connection, name, (error) => end(error))
    if (stopped.signal.aborted) return client.end() // closed while it was connecting
    client.on('notification', ({ payload }) => on.message(payload ?? ''))
    await client.query(`listen ${channel}`)
    up = true
    on.up()
    const error = await ended
    up = false
    if (!stopped.signal.aborted) on.lost(error)
  }
  const running = (async () => {
    while (!stopped.signal.aborted) {
      await session().catch(() => {})
      await sleep(200, undefined, { signal: stopped.signal }).catch(() => {})
    }
  })()

  return {
    up: () => up,
    close: async () => {
      stopped.abort()
      await client?.end().catch(() => {})
      await running
    },
  }
}

/** Opens a connection for advisory locks, which last as long as the connection does. */
export const openLocks = async (connection: Connection, name: string) => {
  const lost = new AbortController()
  const client = await connect(connection, name, () => lost.abort())
  const held = new Set<bigint>()
  return {
    lost: lost.signal,
    acquire: async (keys: readonly bigint[]) => {
      // of several processes that start together, one then gets all locks, instead of each some of them
      await client.query('begin')
      try {
        await client.query('select pg_advisory_xact_lock(7275464)')
        for (const key of keys.filter((wanted) => !held.has(wanted))) {
          const { rows } = await client.query<{ got: boolean }>('select pg_try_advisory_lock($1) as got', [key])
          if (rows[0]?.got) held.add(key)
        }
      } finally {
        await client.query('commit')
      }
      return held
    },
    close: () => client.end(),
  }
}
