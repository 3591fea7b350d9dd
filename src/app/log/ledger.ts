import { randomBytes } from 'node:crypto'
import type { Logger } from 'pino'
import { type Handler, handler } from '../../commands/handle.ts'
import { type Transactions, transactions } from '../../commands/transaction.ts'
import type { Config } from '../../config.ts'
import type { EventStore, StoredLog } from '../../events/store.ts'
import { batch } from '../../lib/async/batch.ts'
import { createCleanup, openAll } from '../../lib/cleanup.ts'
import { createSignal, type Signal } from '../../lib/async/signal.ts'
import type { Connection, Database } from '../../postgres/database.ts'
import { migrate } from '../../postgres/migrate.ts'
import { refuseUnfinishedRestore } from '../../postgres/state.ts'
import { loginProblem } from '../../postgres/reach.ts'
import { encode, type Notification, notifyAll } from '../../postgres/notifications.ts'
import { projectionsWith } from '../../projections/index.ts'
import type { Projection } from '../../projections/engine/projection.ts'
import { ensureCheckpoints, type LiveTables, liveTables } from '../../projections/engine/tables.ts'
import type { Reader } from '../../queries/reader.ts'
import { type Keys, openKeyring } from '../../security/keyring.ts'
import { ensureTree } from '../../projections/proof/tree.ts'
import { ensureNumbering } from '../../store/numbering.ts'
import { type Ordinals, postgresOrdinals, tableOrdinals } from '../../store/ordinals.ts'
import { openSnapshotStore, type SnapshotStore } from '../../security/snapshots.ts'
import { type LogCheck, type LogOptions, openEventLog } from './eventlog.ts'
import { isKeyLost } from './lostkeys.ts'
import { repeat } from '../jobs/repeat.ts'
import { followLocks } from '../health/lockwaits.ts'
import { late, watchLogClock } from '../health/logclock.ts'
import { type Metrics, openMetrics } from '../health/metrics.ts'
import { createJobs, type Jobs } from '../health/standstill.ts'
import { openOutages, type Outages } from '../health/outages.ts'
import { engineOf, openPostgres, type Postgres, type Use } from './postgres.ts'
import { withSecret } from './secret.ts'
import { createSureClock } from '../../lib/sureclock.ts'
import { lookAtClock } from '../../postgres/clock.ts'

/** The log, the read tables and the keys: what the service and every command work on. */
export interface Ledger {
  readonly config: Config
  readonly connection: Connection
  /** Name of this process in the database and in notifications. */
  readonly instance: string
  readonly db: Database
  readonly store: EventStore
  /** the same log, with events as they are stored */
  readonly stored: StoredLog
  readonly ordinals: Ordinals
  /** Notified when something may have been appended to the log. */
  readonly appended: Signal
  /** Notified when the read tables may have more, with the filter of the events as the topic. */
  readonly projected: Signal
  readonly handler: Handler
  readonly snapshots: SnapshotStore
  readonly transactions: Transactions
  readonly keys: Keys
  /** under which the keys are wrapped */
  readonly secret: string
  /** those that this process projects and reads, by its settings */
  readonly projections: readonly Projection[]
  readonly tables: LiveTables
  readonly reader: Reader
  /** position of the last erasure that was made at this start: older read tables still have the accounts */
  readonly erasedUpTo: bigint
  readonly logCheck: LogCheck
  readonly log: Logger
  readonly outages: Outages
  readonly metrics: Metrics
  /** what this process does again and again besides answering */
  readonly jobs: Jobs
  /** Returns the time for work that cannot be undone; rejects with `UnsureClock` while it may be wrong. */
  readonly sureNow: () => Promise<Date>
  /** Sends a notification to the other processes; several go as one. */
  readonly notify: (notification: Notification) => Promise<unknown>
  /** Opens a separate pool: see `Postgres`. */
  readonly pool: Postgres['database']
  readonly close: () => Promise<void>
}

export interface LedgerOptions extends LogOptions {
  /** the ledger of another thread of this process, which has opened the database and keeps an eye on it */
  readonly partOf?: Pick<Ledger, 'connection' | 'instance'>
}

/** Returns a unique name for each thread that opens a ledger; those of one process have the same prefix. */
const instanceOf = ({ partOf }: LedgerOptions) =>
  partOf ? `${partOf.instance}-engine` : `linkledger-${randomBytes(6).toString('hex')}`

/** Opens PostgreSQL, the event store and the read tables, and brings the schemas up to date. */
export const openLedger = (config: Config, given: Logger, use: Use, options: LedgerOptions = {}): Promise<Ledger> => {
  const outages = openOutages(given, { engine: engineOf(config) })
  const { log } = outages
  const cleanup = createCleanup((error) => log.error({ err: error }, 'closing failed'))
  cleanup.defer(async () => outages.close())
  return openAll(cleanup, async () => {
    const [instance, connection] = [instanceOf(options), options.partOf?.connection]
    const postgres = await openPostgres(config, { name: instance, use, log, cleanup, connection })
    const db = postgres.database(10, 10_000)
    await migrate(db).catch((error: unknown) => {
      const url = config.DATABASE_URL
      throw url === undefined ? error : loginProblem(error, url, 'DATABASE_URL')
    })
    await refuseUnfinishedRestore(db)
    const { keyring, secret } = await withSecret(config, use, async (given) => ({
      secret: given,
      keyring: await openKeyring(db, given),
    }))
    const [metrics, jobs] = [openMetrics(), createJobs()]
    const appended = createSignal()
    await ensureCheckpoints(db)
    await ensureTree(db)
    const ordinals = await openOrdinals(db, config)
    if (use === 'service' && !options.partOf) cleanup.defer(await keepLooking({ db, ordinals, jobs, log }))
    const projections = projectionsWith({ withPast: config.KEEP_PAST === 'on' })
    const tables = openTables(db, projections, log)
    const parts = { config, use, db, postgres, keyring, tables, appended, metrics, log, cleanup, options }
    const eventLog = await openEventLog(parts)
    outages.watch('PostgreSQL', () => db.raw('select 1'))
    outages.watch('EventStoreDB', () => eventLog.store.last('log'))
    const snapshots = openSnapshotStore(db, keyring)
    const reader = { db, table: tables.name }
    keyring.awaitLost((account) => isKeyLost(reader, account))
    return {
      config,
      connection: postgres.connection,
      instance,
      db,
      ...eventLog,
      ordinals,
      appended,
      projected: createSignal(),
      handler: handler(eventLog.store, snapshots),
      snapshots,
      transactions: transactions(eventLog.store, snapshots),
      projections,
      tables,
      reader,
      secret,
      log,
      outages,
      metrics,
      jobs,
      sureNow: createSureClock(() => lookAtClock(db)),
      notify: notifier(db),
      pool: postgres.database,
      close: cleanup.run,
    }
  })
}

/**
 * Looks at the clock before anything is signed, and then every minute, so that a jump is noticed also when nothing asks
 * for the time, and so is an event that one has stored. What waits because of it says so itself, and so does a database
 * that cannot be written to. Looks at locks that others wait for, too.
 */
const keepLooking = async ({ db, ordinals, jobs, log }: Pick<Ledger, 'db' | 'ordinals' | 'jobs' | 'log'>) => {
  const lookAtLog = watchLogClock(ordinals, jobs.open('log_clock', late), log)
  const look = () =>
    lookAtClock(db)
      .then(({ seen }) => lookAtLog(seen))
      .catch(() => {})
  await look()
  const stops = [repeat(look, 60_000, () => {}), followLocks({ db, jobs, log })]
  return async () => void (await Promise.all(stops.map((stop) => stop())))
}

/** Only PostgreSQL counts positions without gaps. */
const openOrdinals = async (db: Database, { EVENTSTORE_URL }: Config): Promise<Ordinals> => {
  if (EVENTSTORE_URL === undefined) return postgresOrdinals(db)
  await ensureNumbering(db)
  return tableOrdinals(db)
}

const openTables = (db: Database, projections: readonly Projection[], log: Logger): LiveTables =>
  liveTables(db, projections, (live) => log.info(live, 'new read tables are live'))

const notifier = (db: Database) =>
  batch(100, async (notifications: readonly Notification[]) => {
    await db.raw(notifyAll, [notifications.map(encode)])
    return notifications
  })
