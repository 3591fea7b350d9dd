import type { Logger } from 'pino'
import { handler } from '../../commands/handle.ts'
import type { Config } from '../../config.ts'
import { asStored, codec } from '../../events/codec.ts'
import { type EventStore, type StoredLog, StoreUnavailable } from '../../events/store.ts'
import type { Cleanup } from '../../lib/cleanup.ts'
import { OperatorError } from '../../lib/operatorerror.ts'
import type { Signal } from '../../lib/async/signal.ts'
import { withTimeout } from '../../lib/async/timeout.ts'
import type { Database } from '../../postgres/database.ts'
import { leaveForeignTables, logOfTables, wereFilled } from '../../projections/engine/origin.ts'
import { openSearchMemory } from '../../projections/links/searched.ts'
import type { LiveTables } from '../../projections/engine/tables.ts'
import { type Keyring, type Keys, markOf } from '../../security/keyring.ts'
import { connectEventStoreDb, type EventStoreDb } from '../../store/eventstoredb.ts'
import { isTooSlow } from '../../store/eventstoredb/subscribe.ts'
import { newOpening } from '../../store/open.ts'
import { postgresStore } from '../../store/postgres.ts'
import { recentClicks } from '../../store/postgres/recent.ts'
import { isAway, type Known, startWithout, waitFor, type Waiting } from './away.ts'
import { applyRegister, lackErasures } from './erasures.ts'
import type { Metrics } from '../health/metrics.ts'
import { engineOf, type Postgres, type Use } from './postgres.ts'
import { requireServiceKey } from './servicekey.ts'

/**
 * Whether the log has been compared with the tables and the keys of this process. A process that starts without its
 * event store has not yet.
 */
export interface LogCheck {
  /** Returns why the log could not be checked; undefined once it is. */
  readonly problem: () => string | undefined
  /** Resolves when the log has been checked. */
  readonly passed: Promise<void>
}

export interface EventLog {
  readonly store: EventStore
  /** the same log, with events as they are stored */
  readonly stored: StoredLog
  readonly keys: Keys
  /** position of the last erasure that was made at this start */
  readonly erasedUpTo: bigint
  readonly logCheck: LogCheck
}

export interface EventLogParts {
  readonly config: Config
  readonly use: Use
  readonly db: Database
  readonly postgres: Postgres
  readonly keyring: Keyring
  readonly tables: LiveTables
  readonly appended: Signal
  readonly metrics: Metrics
  readonly log: Logger
  readonly cleanup: Cleanup
  readonly options: LogOptions
}

export interface LogOptions {
  /** for the service */
  readonly waiting?: Waiting | undefined
  /** The operator gives up the log that the tables were filled from: an empty event store begins a new one. */
  readonly acceptsEmptyLog?: boolean
  /** Tables that were filled from another log stay as they are: a command compares them, and changes nothing. */
  readonly keepsTables?: boolean
}

/**
 * EVENTSTORE_URL leads to an empty event store, while the read tables were filled from a log: its data may be lost, or
 * the address wrong.
 */
class EmptyLog extends OperatorError {
  override readonly name = 'EmptyLog'
  constructor(prefix: string | undefined) {
    const found = prefix === undefined ? 'is empty' : `has nothing with EVENTSTORE_PREFIX ${prefix}`
    super(
      `the event store of EVENTSTORE_URL ${found}, but the read tables were filled from a log: correct the address or EVENTSTORE_PREFIX, or give the event store its data back (restore a backup, or \`linkledger log import\`). To give up that log with all its links, run \`linkledger rebuild --new-log\``,
    )
  }
}

/**
 * Opens the event log and compares it with the tables and the keys. A service starts also while its EventStoreDB cannot
 * be reached: with the tables that it has, or else it waits.
 */
export const openEventLog = async (parts: EventLogParts): Promise<EventLog> => {
  const { config, use, db, postgres, keyring, appended, metrics, log, cleanup, options } = parts
  // the service key of a new log is created only now, so that a log with other keys never gets one
  const opening = async () => newOpening(markOf(await keyring.createService()))
  const checked = async (store: EventStore, stored: Omit<StoredLog, 'logId'>) => ({
    store,
    stored: { ...stored, logId: store.logId },
    ...(await check(parts, store)),
    logCheck: logChecked,
  })
  if (config.EVENTSTORE_URL === undefined) {
    const [pool, recent] = [postgres.pool(8, 10_000), recentClicks()]
    const store = await postgresStore(pool, codec(keyring), appended, { opening, recent })
    cleanup.defer(store.close)
    return checked(metrics.measured(store), await postgresStore(pool, asStored, appended, { recent }))
  }
  const onDropped = (cause: unknown) => {
    metrics.restarted('eventstore')
    if (isTooSlow(cause)) return log.debug({ err: cause }, 'a subscription was too slow; it goes on where it was')
    const lost = new StoreUnavailable('a subscription to EventStoreDB was lost', { cause })
    return log.warn({ err: lost }, 'subscription to EventStoreDB lost; resubscribing')
  }
  const { EVENTSTORE_URL: url, EVENTSTORE_PREFIX: prefix } = config
  const memory = openSearchMemory(db, prefix)
  const engine = connectEventStoreDb({ url, prefix, codec: codec(keyring), onDropped, memory })
  cleanup.defer(engine.store.close)
  const known = use === 'service' ? await findKnown(parts) : undefined
  const timeoutMs = options.waiting?.timeoutMs ?? 2000
  const opens = async () => {
    if (!options.acceptsEmptyLog && (await wereFilled(db))) throw new EmptyLog(prefix)
    return opening()
  }
  const openNow = async () => metrics.measured({ ...engine.store, logId: await engine.open(opens) })
  try {
    const opened = await (use === 'service' ? withTimeout(timeoutMs, openNow(), () => away(engine)) : openNow())
    return await checked(opened, engine.stored)
  } catch (error) {
    if (use === 'command' || !isAway(error)) throw error
    if (known)
      return startWithout(parts, {
        known,
        error,
        stored: engine.stored,
        openNow,
        check: (store) => check(parts, store),
      })
    if (!options.waiting) throw error
    return checked(await waitFor(openNow, error, options.waiting), engine.stored)
  }
}

const away = ({ store }: EventStoreDb) =>
  new StoreUnavailable(store.problem?.() ?? 'the event store of EVENTSTORE_URL does not answer')
/** The check of a log that was there at the start. */
export const logChecked: LogCheck = { problem: () => undefined, passed: Promise.resolve() }

/** Compares the log with the tables and the keys, and applies the erasures of DATA_DIR. */
const check = async ({ config, db, keyring, tables, log, options }: EventLogParts, store: EventStore) => {
  const keys = { ...keyring, service: await requireServiceKey(store, keyring) }
  const engine = engineOf(config)
  if (!options.keepsTables && (await leaveForeignTables(db, store, engine)))
    log.warn({ engine }, 'the read tables were filled from another log or engine; new ones are filled')
  await tables.refresh()
  const reader = { db, table: tables.name }
  const erased = await applyRegister({ config, db, store, handler: handler(store), keys, reader })
  if (erased.count > 0)
    log.warn({ accounts: erased.count }, 'accounts that the erasure register names were erased again')
  return { keys, erasedUpTo: erased.position }
}

/**
 * Returns what the tables and the keys say about the log; undefined when nothing may be served without the log itself.
 */
const findKnown = async ({ config, db, keyring, tables }: EventLogParts): Promise<Known | undefined> => {
  const [logId, service] = [await logOfTables(db, 'eventstoredb'), await keyring.findService()]
  await tables.refresh()
  if (logId === undefined || !service) return undefined
  const isErasurePending = await lackErasures({ config, reader: { db, table: tables.name } }, logId)
  return isErasurePending ? undefined : { logId, service }
}
