import { randomBytes } from 'node:crypto'
import type { Logger } from 'pino'
import { type Handler, handler } from '../commands/handle.ts'
import type { Config } from '../config.ts'
import { codec } from '../events/codec.ts'
import type { EventStore, Filter } from '../events/store.ts'
import { type Signal, createSignal } from '../lib/signal.ts'
import { eventStoreDb } from '../store/eventstoredb.ts'
import { postgresStore } from '../store/postgres.ts'
import { type Connection, type Database, migrate, openDatabase, openPool } from '../postgres/database.ts'
import { runningEmbedded, startEmbedded } from '../postgres/embedded.ts'
import { type Keys, openKeys } from '../security/keyring.ts'
import { openLocks } from '../postgres/listen.ts'
import { batch } from '../lib/batch.ts'
import { type Metrics, openMetrics } from './metrics.ts'
import { projections } from '../projections/index.ts'
import { startProjector } from '../projections/run.ts'
import { type Checkpoint, checkpoints, ensureCheckpoints, type LiveTables, liveTables } from '../projections/tables.ts'
import type { Reader } from '../queries/reader.ts'

/** The log, the tables and the keys: what the service and every command work on. */
export interface Ledger {
  readonly config: Config
  readonly connection: Connection
  /** names this process in the database and to the others */
  readonly instance: string
  readonly db: Database
  readonly store: EventStore
  readonly appended: Signal
  readonly handler: Handler
  readonly keys: Keys
  readonly tables: LiveTables
  readonly reader: Reader
  readonly log: Logger
  readonly metrics: Metrics
  readonly notify: (text: string) => Promise<unknown>
  /** A pool of its own, of at most `max` connections, whose statements take at most `timeout` ms. */
  readonly pool: (max: number, timeout: number) => Database
  readonly close: () => Promise<void>
}

/** Who works with the embedded database: the service starts it, a command uses the one that runs, or starts it. */
export type Use = 'service' | 'command'

const openPostgres = async ({ DATABASE_URL, DATA_DIR }: Config, use: Use, log: Logger) => {
  const nothing = async () => {}
  if (DATABASE_URL !== undefined) return { connection: { connectionString: DATABASE_URL }, stop: nothing }
  const running = use === 'command' ? await runningEmbedded(DATA_DIR) : undefined
  if (running) return { connection: running, stop: nothing }
  return startEmbedded({
    dir: DATA_DIR,
    log: (line) => log.debug({ postgres: line }, 'PostgreSQL'),
    onCrash: (why) => log.error({ why }, 'PostgreSQL died and is started again'),
  })
}

export const openLedger = async (config: Config, log: Logger, use: Use): Promise<Ledger> => {
  const instance = `linkledger-${randomBytes(6).toString('hex')}`
  const postgres = await openPostgres(config, use, log)
  const { connection } = postgres
  const onError = (error: Error) => log.warn({ err: error }, 'a database connection was lost')
  const pools: { destroy: () => PromiseLike<unknown> }[] = []
  const pool = (max: number, timeout: number) => {
    const db = openDatabase(connection, { name: instance, max, timeout, onError })
    pools.push(db)
    return db
  }
  const close = async () => {
    for (const db of pools.toReversed()) await db.destroy()
    await postgres.stop()
  }

  try {
    const db = pool(10, 10_000)
    await migrate(db)
    await ensureCheckpoints(db)
    const keys = await openKeys(db, config.SECRET)
    const metrics = openMetrics()
    const appended = createSignal()
    const onDropped = (error: unknown) => {
      metrics.restarted('eventstore')
      log.warn({ err: error }, 'a subscription to EventStoreDB was dropped and is opened again')
    }
    const openStore = async () => {
      const url = config.EVENTSTORE_URL
      if (url !== undefined) return eventStoreDb({ url, codec: codec(keys), onDropped })
      const appends = openPool(connection, { name: instance, max: 8, timeout: 10_000, onError })
      pools.push({ destroy: () => appends.end() })
      return postgresStore(appends, codec(keys), appended)
    }
    const store = metrics.measured(await openStore())
    pools.push({ destroy: store.close })
    const tables = liveTables(db, projections)
    await tables.refresh()
    const notify = batch(100, async (texts: readonly string[]) => {
      await db.raw(`select pg_notify('linkledger', t) from unnest(?::text[]) as t`, [[...texts]])
      return texts
    })
    const reader = { db, table: tables.name }
    return {
      config,
      connection,
      instance,
      db,
      store,
      appended,
      handler: handler(store),
      keys,
      tables,
      reader,
      log,
      metrics,
      notify,
      pool,
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

/** Brings what stands in the log into the tables, unless another process does, and tells the others. */
export const project = (
  { db, store, connection, instance, log, metrics, tables }: Ledger,
  onSeen: (filter: Filter, position: bigint) => Promise<void>,
) =>
  startProjector({
    db,
    store,
    projections,
    openLocks: () => openLocks(connection, instance),
    instance,
    log,
    onSeen,
    onLive: tables.refresh,
    onRestart: metrics.restarted,
  })

/** How far all the tables have come, as their checkpoints tell; 0n while some of them are being filled for the first time. */
export const newestSeen = async (db: Database) => {
  const live = await db<Checkpoint>(checkpoints).where({ live: true })
  const positions = projections
    .filter(({ filter }) => filter === 'domain')
    .map(({ name, version }) => {
      const mine = live.filter((row) => row.projection === name && row.version === version)
      return mine.length === 0 ? 0n : least(mine.map(({ position }) => BigInt(position)))
    })
  return least(positions)
}
const least = (positions: readonly bigint[]) => positions.reduce((a, b) => (a < b ? a : b))
