import { setTimeout as sleep } from 'node:timers/promises'
import QuickLRU from 'quick-lru'
import { batch } from '../lib/async/batch.ts'
import { withTimeout } from '../lib/async/timeout.ts'
import { isUnavailable, Unavailable } from '../lib/unavailable.ts'
import type { CountedClicks } from '../queries/statistics/clickcount.ts'
import { type Admitted, createAdmitted } from './admitted.ts'

/** Up to this `max_clicks`, a link lets exactly that many people through. */
const exactUpTo = 1000
/** Whether a link with this `max_clicks` counts exactly. */
export const isExact = (most: number | null | undefined): boolean => typeof most === 'number' && most <= exactUpTo

/** Click counts of links that end after a number of clicks. */
export interface ClickCounts {
  /**
   * Reads the clicks of a link; undefined: it did so less than half a second ago. Keeps the known count while
   * PostgreSQL does not answer. With `exact`, rejects with `Unavailable` when no count is known.
   */
  readonly refresh: (link: number, exact: boolean) => Promise<void> | undefined
  /** Returns the clicks of a link: the count that was read, plus the people let through since. */
  readonly of: (link: number) => number
  /** Counts a person whom a link lets through, until it is known whether the spool has stored the visit. */
  readonly admit: Admitted['add']
  /** tracks those people until the tables have their clicks */
  readonly admitted: Admitted
}

export interface ClickCountsOptions {
  /** Reads the clicks of links, in the given order. */
  readonly find: (links: readonly number[]) => Promise<readonly CountedClicks[]>
  readonly admitted?: Admitted
  /** ms of a monotonic clock */
  readonly now?: () => number
  /** ms for which a count is served without another look-up */
  readonly maxAge?: number
}

interface Known extends CountedClicks {
  readonly at: number
}

/** ms that a visitor waits for a newer count, and for the first one, without which an ended link would open again */
const timeoutMs = { newer: 50, first: 1000 }
/** ms between look-ups while the tables lack the clicks of earlier processes */
const pauseMs = 50

export const openClickCounts = ({
  find,
  admitted = createAdmitted(),
  now = () => performance.now(),
  maxAge = 500,
}: ClickCountsOptions): ClickCounts => {
  const known = new QuickLRU<number, Known>({ maxSize: 100_000 })
  const running = new Map<number, Promise<void>>()
  const look = batch<number, CountedClicks>(500, find)

  /** Requests for the same link share a look-up. */
  const read = (link: number) => {
    const shared = running.get(link)
    if (shared) return shared
    const at = now()
    const found = look(link)
      .then((counted) => {
        known.set(link, { ...counted, at })
        admitted.forget(link, counted.position)
      })
      .finally(() => running.delete(link))
    running.set(link, found)
    return found
  }

  /** Whether a count includes the clicks of earlier processes, which the tables may have lacked. */
  const isWhole = (count: Known | undefined) => {
    const start = admitted.start()
    return count !== undefined && start !== undefined && count.position >= start
  }
  const readWhole = async (link: number, signal: AbortSignal) => {
    await read(link)
    while (!isWhole(known.get(link)) && !signal.aborted) {
      await sleep(pauseMs)
      await read(link)
    }
  }

  const renew = async (link: number, exact: boolean) => {
    const isKnown = exact ? isWhole(known.get(link)) : known.has(link)
    const ended = new AbortController()
    try {
      const wait = isKnown ? timeoutMs.newer : timeoutMs.first
      const reading = exact && !isKnown ? readWhole(link, ended.signal) : read(link)
      await withTimeout(wait, reading, () => new Unavailable('a look-up of clicks was slow'))
    } catch (error) {
      // above that limit, one visitor too many is better than an outage
      if (!isUnavailable(error) || (exact && !isKnown)) throw error
    } finally {
      ended.abort()
    }
  }

  return {
    refresh: (link, exact) => {
      const before = known.get(link)
      const isFresh = before !== undefined && now() - before.at < maxAge && (!exact || isWhole(before))
      return isFresh ? undefined : renew(link, exact)
    },
    of: (link) => (known.get(link)?.clicks ?? 0) + admitted.count(link),
    admit: admitted.add,
    admitted,
  }
}
