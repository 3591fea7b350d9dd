import { Unreadable } from '../../events/codec.ts'
import { type EventStore, type Filter, readToHead } from '../../events/store.ts'
import { withTimeout } from '../../lib/async/timeout.ts'

/** How far a position is behind the log, as it was known at the last look. */
export interface Lag {
  /** positions between the newest event and the tables; 0 when the tables are up to date */
  readonly positions: number
  /** since the oldest event that is not in the tables was appended */
  readonly seconds: number
  /** since the tables last moved, while there is something to read */
  readonly idleSeconds: number
}

export interface LagWatch {
  /** Returns at once, from what the last look has found; undefined while nothing is known. */
  readonly lag: (filter: Filter) => Lag | undefined
  readonly stop: () => void
}

/** What a look has found. Times are ms since 1970. */
interface Look {
  readonly position: bigint
  readonly head: bigint
  /** when the oldest event after the position was appended */
  readonly since: number
  /** when the position last moved or had nothing to read */
  readonly movedAt: number
}

interface WatchOptions {
  readonly store: Pick<EventStore, 'head' | 'subscribe'>
  /** Returns the position of the tables, undefined while this process does not know it. */
  readonly positions: Readonly<Partial<Record<Filter, () => bigint | undefined>>>
  /** Called when a look finds events that the tables do not have: the notification of them may be lost. */
  readonly onBehind?: (filter: Filter) => void
  /** ms between looks */
  readonly interval?: number
  /** ms for one question to the log */
  readonly timeoutMs?: number
}

/**
 * Returns how many seconds ago the oldest event of a kind after a position was appended: 0 when there is none, null
 * when the log does not answer. An event that cannot be read has its age, too.
 */
export const secondsBehind = async (
  store: Pick<EventStore, 'head' | 'subscribe'>,
  filter: Filter,
  after: bigint,
  timeoutMs = 1000,
): Promise<number | null> => {
  const since = (at: string) => Math.max(0, (Date.now() - Date.parse(at)) / 1000)
  const reading = new AbortController()
  const oldest = async () => {
    for await (const [event] of readToHead(store, { after, filter, limit: 1, signal: reading.signal }))
      return event && since(event.at)
    return 0
  }
  try {
    return (await withTimeout(timeoutMs, oldest())) ?? 0
  } catch (error) {
    return error instanceof Unreadable ? since(error.unknown().at) : null
  } finally {
    reading.abort()
  }
}

const none: Lag = { positions: 0, seconds: 0, idleSeconds: 0 }

/**
 * Compares positions with the head of the log in the background, so that a probe or a scrape never waits for the log.
 * While the log does not answer, the lag of the last look keeps growing.
 */
export const watchLag = ({ store, positions, onBehind, interval = 1000, timeoutMs = 5000 }: WatchOptions): LagWatch => {
  const stopped = new AbortController()
  const looks = new Map<Filter, Look>()
  const filters = Object.keys(positions) as Filter[]

  const look = async (filter: Filter) => {
    const before = looks.get(filter)
    const head = await withTimeout(timeoutMs, store.head(filter, stopped.signal))
    const position = positions[filter]?.()
    const now = Date.now()
    if (position === undefined) return void looks.delete(filter)
    if (position >= head) return void looks.set(filter, { position, head, since: now, movedAt: now })
    onBehind?.(filter)
    const moved = before?.position !== position
    // behind the head of the last look as well: the age that is known is still right, and costs no read
    const stuck = before && !moved && before.position < before.head
    const since = stuck ? before.since : ((await ageOf(filter, position, head)) ?? now)
    looks.set(filter, { position, head, since, movedAt: moved ? now : before.movedAt })
  }

  /** Returns when the first event after the position was appended. */
  const ageOf = async (filter: Filter, after: bigint, head: bigint): Promise<number | undefined> => {
    const signal = AbortSignal.any([stopped.signal, AbortSignal.timeout(timeoutMs)])
    try {
      for await (const [event] of readToHead(store, { after, filter, limit: 1, head, signal }))
        return event && Math.min(Date.now(), Date.parse(event.at))
    } catch {
      // the event cannot be read: it counts from when it was noticed
    }
    return undefined
  }

  const lookAt = (filter: Filter) => look(filter).catch(() => {})
  let looking: Promise<unknown> | undefined
  const lookAtAll = () => (looking ??= Promise.all(filters.map(lookAt)).finally(() => (looking = undefined)))
  const timer = setInterval(() => void lookAtAll(), interval).unref()
  void lookAtAll()

  return {
    lag: (filter) => {
      const position = positions[filter]?.()
      const last = looks.get(filter)
      if (position === undefined || !last) return undefined
      if (position >= last.head) return none
      const now = Date.now()
      const seconds = (from: number) => Math.max(0, (now - from) / 1000)
      return {
        positions: Number(last.head - position),
        seconds: seconds(last.since),
        idleSeconds: position === last.position ? seconds(last.movedAt) : 0,
      }
    },
    stop: () => {
      clearInterval(timer)
      stopped.abort()
    },
  }
}
