import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Cache } from '../../cache/cache.ts'
import { type EventStore, readToHead } from '../../events/store.ts'
import { isKnown } from '../../events/unknown.ts'
import type { Signal } from '../../lib/async/signal.ts'
import type { Listener } from '../../postgres/listen.ts'
import { watchForLostEvents } from '../health/lostevents.ts'
import { decode } from '../../postgres/notifications.ts'
import { markOf } from '../../projections/engine/projection.ts'
import type { HaltedProjection } from '../../projections/engine/work.ts'
import type { Ledger } from './ledger.ts'
import { heldPositions, least, positionOf, type Projected, readProjected } from './projector.ts'

/** Events read at once to find pending streams. At a start, read tables that are further behind are being rebuilt. */
const maxPending = 1000
/** ms between checks for changes whose notifications may have been lost */
const pollInterval = 1000
/**
 * ms that a start waits for the pending streams: the head of a log with many events of other programs takes longer to
 * find
 */
const markTimeout = 2000

interface NotificationOptions {
  readonly cache: Pick<Cache, 'pending' | 'progress' | 'warm' | 'invalidateAll' | 'retry'>
  readonly listener: Pick<Listener, 'start' | 'close'>
  readonly log: Pick<Logger, 'warn' | 'error'>
  /** notified when an operator wants halted projections to be tried again */
  readonly retries?: Signal
  /** Called when this process has read which tables are live. */
  readonly onRefreshed?: () => Promise<unknown>
}

export interface Notifications {
  /**
   * Returns whether the changes are known that the read tables did not have at the start, as far as the log could be
   * read.
   */
  readonly pendingKnown: () => boolean
  /** Returns the halted projections, as the process that projects has recorded them when they were last read. */
  readonly halted: () => readonly HaltedProjection[]
  /** Returns that the log has lost events, while it has. */
  readonly lostEvents: () => string | undefined
  readonly close: () => Promise<void>
}

interface Reactions extends Pick<Cache, 'pending' | 'progress'> {
  readonly retries: Signal | undefined
  readonly onReplaced: () => void
  /** Called when another release has projected into tables of its own: those that this process reads may be behind. */
  readonly onOthers: () => void
}

/** Returns what reads a notification of another process. */
const reading = (
  { appended, projected, projections, instance }: Pick<Ledger, 'appended' | 'projected' | 'projections' | 'instance'>,
  { pending, progress, retries, onReplaced, onOthers }: Reactions,
) => {
  const own = markOf(projections)
  return (text: string) => {
    const notification = decode(text)
    if (notification?.kind === 'replaced') onReplaced()
    if (notification === undefined || notification.from === instance) return
    if (notification.kind === 'appended')
      appended.notify(...(notification.filter === undefined ? [] : [notification.filter]))
    // a rebuild may have cured a halted projection
    if (notification.kind === 'retry' || notification.kind === 'replaced') retries?.notify()
    if (notification.kind === 'projected') projected.notify(notification.filter)
    if (notification.kind === 'projected' && notification.filter === 'domain')
      void (notification.tables === own ? progress.advance(notification.position) : onOthers())
    if (notification.kind === 'pending') pending.add(notification.stream, notification.position)
  }
}

/** Keeps the cache of this process up to date with what other processes append and project. */
export const startNotifications = async (
  ledger: Pick<Ledger, 'db' | 'store' | 'logCheck' | 'appended' | 'projected' | 'projections' | 'tables' | 'instance'>,
  { cache, listener, log, retries, onRefreshed = async () => {} }: NotificationOptions,
): Promise<Notifications> => {
  const { db, store, logCheck, tables } = ledger
  const { pending, progress } = cache
  const closed = new AbortController()
  const refresh = async () => {
    await tables.refresh().finally(cache.invalidateAll)
    await onRefreshed()
  }
  // the next poll refreshes the tables if this fails
  const onReplaced = () => void refresh().catch(() => {})
  let halted: readonly HaltedProjection[] = []
  const hold = holder(store, cache, closed.signal)
  const lost = watchForLostEvents(store, log)
  const look = async () => {
    const found = await readProjected(db)
    halted = found.halts.map(({ projection, position, reason }) => ({ projection, position: BigInt(position), reason }))
    void progress.advance(positionOf(found)).catch(() => {})
    void tables.refresh(found.live).catch(() => {})
    void lost.look(found.live).catch(() => {})
    await hold(found)
  }
  listener.start({
    message: reading(ledger, { pending, progress, retries, onReplaced, onOthers: () => void look().catch(() => {}) }),
    up: () => {
      onReplaced() // the notification may have been missed
      void markPending(store, cache, closed.signal).catch(() => {})
    },
    lost: (error) => log.warn({ err: error }, 'LISTEN connection lost; reconnecting'),
  })
  // read tables that do not exist yet are cached once they do
  await cache.warm().catch(() => {})
  let pendingKnown = false
  const marking = logCheck.passed
    .then(() => markPending(store, cache, closed.signal))
    .catch(() => {})
    .then(() => (pendingKnown = true))
  if (logCheck.problem() === undefined) await Promise.race([marking, sleep(markTimeout, undefined, { ref: false })])
  // noting an erasure needs the log
  else void logCheck.passed.then(cache.warm).catch(() => {})

  await look().catch(() => {})
  const polling = setInterval(() => {
    void look().catch(() => {})
    void cache.retry().catch(() => {})
  }, pollInterval)
  return {
    pendingKnown: () => pendingKnown,
    halted: () => halted,
    lostEvents: lost.problem,
    close: async () => {
      closed.abort()
      clearInterval(polling)
      await listener.close()
    },
  }
}

/** Returns a function that takes which projections are halted, and marks what they should show by now as pending. */
const holder = (store: EventStore, cache: Pick<Cache, 'pending' | 'progress'>, signal: AbortSignal) => {
  let held: ReadonlyMap<string, bigint> = new Map()
  let marked = 0n
  let running: Promise<void> | undefined
  const hold = async (found: Projected) => {
    const now = heldPositions(found)
    const again = [...now].some(([kind, position]) => held.get(kind) !== position)
    if (again) marked = least([...now.values()])
    held = now
    cache.progress.hold(now)
    // a process that did not know of the halt when it wrote did not tell the others
    if (now.size > 0) marked = await markPending(store, cache, signal, { after: marked, again })
  }
  return (found: Projected) => (running ??= hold(found).finally(() => (running = undefined)))
}

/**
 * Marks the streams as pending that were appended to after a position and are not projected yet. Returns the position
 * up to which it has read.
 */
const markPending = async (
  store: EventStore,
  { pending, progress }: Pick<Cache, 'pending' | 'progress'>,
  signal: AbortSignal,
  { after = progress.seen(), again = false } = {},
): Promise<bigint> => {
  let read = 0
  let last = after
  for await (const events of readToHead(store, { after, filter: 'domain', limit: 500, signal })) {
    // `add` reads the whole stream, so each is added once
    // what only a newer release can read is served from the tables
    for (const [stream, position] of new Map(events.filter(isKnown).map((event) => [event.stream, event.position])))
      pending.add(stream, position, again)
    read += events.length
    last = events.at(-1)!.position
    if (read >= maxPending) break
  }
  return last
}
