import { type Cache, openCache } from '../../cache/cache.ts'
import type { Cleanup } from '../../lib/cleanup.ts'
import { createSignal, type Signal } from '../../lib/async/signal.ts'
import { sessions } from '../../postgres/database.ts'
import { createListener, type Listener } from '../../postgres/listen.ts'
import { readerLock } from '../../projections/engine/outdated.ts'
import type { Reader } from '../../queries/reader.ts'
import { announceReading } from '../dataposition.ts'
import type { Ledger } from './ledger.ts'
import { type Notifications, startNotifications } from './notifications.ts'
import { projectedPosition } from './projector.ts'
import { isOperatorHost } from '../site/hosts.ts'

/** What a thread knows of the log and of the read tables, kept up to date with what others append and project. */
export interface View {
  readonly cache: Cache
  readonly listener: Listener
  readonly notifications: Notifications
  /** with separate connections, so that redirects never wait for those of the API */
  readonly redirectReader: Reader
  /** notified when halted projections are to be tried again */
  readonly retries: Signal
}

/** Opens the view of this thread. Calls `onErased` with the accounts that the tables show as erased. */
export const openView = async (
  ledger: Ledger,
  onErased: (accounts: readonly number[]) => Promise<void>,
  cleanup: Cleanup,
): Promise<View> => {
  const { db, handler, keys, log, reader } = ledger
  const listener = createListener(ledger.connection, ledger.instance, ledger.projections.map(readerLock))
  const redirectReader = { db: ledger.pool(4, 3000, 'redirect', sessions.byIndex), table: ledger.tables.name }
  // look-ups that are left when the pools end fail, and nothing needs them
  let open = true
  cleanup.defer(async () => {
    open = false
  })
  const cache = openCache({
    handler,
    reader,
    redirectReader,
    pepper: keys.service,
    start: await projectedPosition(db),
    isOperatorHost: isOperatorHost(ledger.config),
    trusted: listener.up,
    onAccounts: keys.forget,
    onErased,
    onProblem: (error, what) => {
      if (open) log.error({ err: error }, what)
    },
  })
  const retries = createSignal()
  const notifications = await startNotifications(ledger, {
    cache,
    listener,
    log,
    retries,
    onRefreshed: () => announceReading(ledger),
  })
  cleanup.defer(notifications.close)
  return { cache, listener, notifications, redirectReader, retries }
}
