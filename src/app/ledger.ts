import { randomBytes } from 'node:crypto'
import type { Logger } from 'pino'
import { type Handler, handler } from '../commands/handle.ts'
import type { Config } from '../config.ts'
import { codec } from '../events/codec.ts'
import type { EventStore } from '../events/store.ts'
import { batch } from '../lib/batch.ts'
import { type Cleanup, createCleanup, openAll } from '../lib/cleanup.ts'
import { createSignal, type Signal } from '../lib/signal.ts'
import { type Connection, type Database, migrate } from '../postgres/database.ts'
import { loginProblem } from '../postgres/reach.ts'
import { encode, type Notification, notifyAll } from '../postgres/notifications.ts'
import { projections } from '../projections/index.ts'
import { leaveForeignTables } from '../projections/origin.ts'
import { openSearchMemory } from '../projections/searched.ts'
import { ensureCheckpoints, type LiveTables, liveTables } from '../projections/tables.ts'
import type { Reader } from '../queries/reader.ts'
import { type Keyring, type Keys, markOf, openKeyring } from '../security/keyring.ts'
import { openSnapshotStore } from '../security/snapshots.ts'
import { eventStoreDb } from '../store/eventstoredb.ts'
import { newOpening } from '../store/open.ts'
import { postgresStore } from '../store/postgres.ts'
import { applyRegister } from './erasures.ts'
import { type Metrics, openMetrics } from './metrics.ts'
import { openPostgres, type Postgres, type Use } from './postgres.ts'
import { withSecret } from './secret.ts'
import { requireServiceKey } from './servicekey.ts'

/** The log, the read tables and the keys: what the service and every command work on. */
export interface Ledger {
  readonly config: Config
  readonly connection: Connection
  /** Name of this process in the database and in notifications. */
  readonly instance: string
  readonly db: Database
  readonly store: EventStore
  /** Notified when something may have been appended to the log. */
  readonly appended: Signal
  readonly handler: Handler
  readonly keys: Keys
  /** under which the keys are wrapped */
  readonly secret: string
  readonly tables: LiveTables
  readonly reader: Reader
  /** position of the last erasure that was made at this start: older read tables still have the accounts */
  readonly erasedUpTo: bigint
  readonly log: Logger
  readonly metrics: Metrics
  /** Sends a notification to the other processes; several go together. */
  readonly notify: (notification: Notification) => Promise<unknown>
  /** Opens a pool of its own, of at most `max` connections, whose statements take at most `timeout` ms. `use` is added to their name. */
  readonly pool: (max: number, timeout: number, use?: string) => Database
  readonly close: () => Promise<void>
}

/** Opens PostgreSQL, the event store and the read tables, and brings the schemas up to date. */
export const openLedger = (config: Config, log: Logger, use: Use): Promise<Ledger> => {
  const cleanup = createCleanup((error) => log.error({ err: error }, 'closing failed'))
  return openAll(cleanup, async () => {
    const instance = `linkledger-${randomBytes(6).toString('hex')}`
    const postgres = await openPostgres(config, { name: instance, use, log, cleanup })
    const db = postgres.database(10, 10_000)
    await migrate(db).catch((error: unknown) => {
      const url = config.DATABASE_URL
      throw url === undefined ? error : loginProblem(error, url, 'DATABASE_URL')
    })
    const { keyring, secret } = await withSecret(config, use, async (given) => ({
      secret: given,
      keyring: await openKeyring(db, given),
    }))
    const metrics = openMetrics()
    const appended = createSignal()
    await ensureCheckpoints(db)
    const store = await openStore(config, { db, postgres, keyring, appended, metrics, log, cleanup })
    const keys = { ...keyring, service: await requireServiceKey(store, keyring) }
    const engine = config.EVENTSTORE_URL === undefined ? 'postgres' : 'eventstoredb'
    if (await leaveForeignTables(db, store, engine))
      log.warn({ engine }, 'the read tables were filled from another log or engine; new ones are filled')
    const tables = await openTables(db, log)
    const reader = { db, table: tables.name }
    const erased = await applyRegister({ config, db, store, handler: handler(store), keys, reader })
    if (erased.count > 0)
      log.warn({ accounts: erased.count }, 'accounts that the erasure register names were erased again')
    return {
      config,
      connection: postgres.connection,
      instance,
      db,
      store,
      appended,
      handler: handler(store, openSnapshotStore(db, keyring)),
      keys,
      tables,
      reader,
      erasedUpTo: erased.position,
      secret,
      log,
      metrics,
      notify: notifier(db),
      pool: postgres.database,
      close: cleanup.run,
    }
  })
}

interface StoreOptions {
  readonly db: Database
  readonly postgres: Postgres
  readonly keyring: Keyring
  readonly appended: Signal
  readonly metrics: Metrics
  readonly log: Logger
  readonly cleanup: Cleanup
}
const openStore = async (
  { EVENTSTORE_URL: url }: Config,
  { db, postgres, keyring, appended, metrics, log, cleanup }: StoreOptions,
): Promise<EventStore> => {
  const onDropped = (error: unknown) => {
    metrics.restarted('eventstore')
    log.warn({ err: error }, 'subscription to EventStoreDB lost; resubscribing')
  }
  // the service key of a new log is created only now, so that a log with other keys never gets one
  const opening = async () => newOpening(markOf(await keyring.createService()))
  const store =
    url === undefined
      ? await postgresStore(postgres.pool(8, 10_000), codec(keyring), appended, { opening })
      : await eventStoreDb({ url, codec: codec(keyring), opening, onDropped, memory: openSearchMemory(db) })
  cleanup.defer(store.close)
  return metrics.measured(store)
}

const openTables = async (db: Database, log: Logger): Promise<LiveTables> => {
  const tables = liveTables(db, projections, (live) => log.info(live, 'new read tables are live'))
  await tables.refresh()
  return tables
}

const notifier = (db: Database) =>
  batch(100, async (notifications: readonly Notification[]) => {
    await db.raw(notifyAll, [notifications.map(encode)])
    return notifications
  })
