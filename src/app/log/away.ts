import type { Logger } from 'pino'
import { type EventStore, StoreRefused, StoreUnavailable } from '../../events/store.ts'
import { backOff } from '../../lib/async/backoff.ts'
import type { Cleanup } from '../../lib/cleanup.ts'
import { OperatorError } from '../../lib/operatorerror.ts'
import type { Database } from '../../postgres/database.ts'
import { haveForeignTables } from '../../projections/engine/origin.ts'
import type { Keyring } from '../../security/keyring.ts'
import type { EventStoreDb } from '../../store/eventstoredb.ts'
import { refusing } from '../../store/refusing.ts'

/** How a service starts while nothing is known of its log. */
export interface Waiting {
  /** Called when the event store cannot be reached and there are no read tables to serve. */
  readonly onWaiting: (problem: () => string) => Promise<void>
  /** ends waiting */
  readonly signal: AbortSignal
  /** ms that a service waits for its event store before it starts without it, or begins to wait; 2 s by default */
  readonly timeoutMs?: number | undefined
}

/** The log behind EVENTSTORE_URL is not the one that the read tables were filled from. */
class OtherLog extends OperatorError {
  override readonly name = 'OtherLog'
}

/** What is known of a log without asking it. */
export interface Known {
  readonly logId: string
  readonly service: Buffer
}

/** Whether an event store cannot be reached. */
export const isAway = (error: unknown): error is StoreUnavailable =>
  error instanceof StoreUnavailable && !(error instanceof StoreRefused)

/** Repeats the attempt until the event store can be reached. */
export const waitFor = async (
  openNow: () => Promise<EventStore>,
  error: StoreUnavailable,
  { onWaiting, signal }: Waiting,
): Promise<EventStore> => {
  let problem = error.message
  await onWaiting(() => problem)
  const retries = backOff({ from: 100, to: 1000, signal })
  for (;;) {
    await retries.pause()
    signal.throwIfAborted()
    try {
      return await openNow()
    } catch (error) {
      if (!isAway(error)) throw error
      problem = error.message
    }
  }
}

interface Parts {
  readonly db: Database
  readonly keyring: Keyring
  readonly log: Logger
  readonly cleanup: Cleanup
}
interface Start {
  readonly known: Known
  /** why the event store cannot be reached */
  readonly error: StoreUnavailable
  readonly stored: EventStoreDb['stored']
  readonly openNow: () => Promise<EventStore>
  /** Compares the log with the tables and the keys. */
  readonly check: (store: EventStore) => Promise<unknown>
}

/**
 * Starts without the event store: every call to it is refused until it is back and has the log of the tables. Another
 * log is never projected, nor gets the clicks of this one.
 */
export const startWithout = (
  { db, keyring, log, cleanup }: Parts,
  { known: { logId, service }, error, stored, openNow, check }: Start,
) => {
  const closed = new AbortController()
  cleanup.defer(async () => closed.abort())
  let problem: string | undefined = error.message
  let store: EventStore | undefined
  log.warn({ err: error }, 'started without the event store: clicks wait in the spool, and writes are refused')

  const attempt = async () => {
    const opened = await openNow()
    if (opened.logId !== logId)
      throw new OtherLog(
        `the event store of EVENTSTORE_URL has the log ${opened.logId}, but the read tables were filled from ${logId}: correct the address, or restart the service to use that log`,
      )
    if (await haveForeignTables(db, opened, 'eventstoredb'))
      throw new OtherLog(
        'the event store of EVENTSTORE_URL has other events than those that the read tables were filled from: correct the address, or restart the service to fill new tables',
      )
    await check(opened)
    store = opened
  }
  const retry = async () => {
    const retries = backOff({ from: 100, to: 1000, signal: closed.signal })
    while (!closed.signal.aborted) {
      try {
        await attempt()
        problem = undefined
        return
      } catch (error) {
        const { message } = error instanceof Error ? error : new Error(String(error))
        if (message !== problem && !closed.signal.aborted) log.error({ err: error }, 'the event store cannot be used')
        problem = message
      }
      await retries.pause()
    }
    // nothing may go on in a process that ends
    return new Promise<never>(() => {})
  }
  const logCheck = { problem: () => problem, passed: retry() }
  return {
    store: refusing(logId, () => store ?? problem!),
    stored: refusing(logId, () => (store ? { ...stored, logId } : problem!)),
    keys: { ...keyring, service },
    erasedUpTo: 0n,
    logCheck,
  }
}
