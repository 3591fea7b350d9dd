import QuickLRU from 'quick-lru'
import { batch } from '../lib/async/batch.ts'
import { withTimeout } from '../lib/async/timeout.ts'
import { isUnavailable, Unavailable } from '../lib/unavailable.ts'

/** The clicks of links that end with a number of them. */
export interface ClickCounts {
  /**
   * Returns the clicks of a link, at most half a second old, or older while PostgreSQL does not answer; 0 when it never
   * has.
   */
  readonly get: (link: number) => number | Promise<number>
}

export interface ClickCountsOptions {
  /** Reads the clicks of links, in their order. */
  readonly find: (links: readonly number[]) => Promise<readonly number[]>
  /** ms since 1970 */
  readonly now?: () => number
  /** ms for which a count is served without another look-up */
  readonly maxAge?: number
}

interface Known {
  readonly clicks: number
  readonly at: number
}

/**
 * ms that a visitor waits for a count: for a newer one, and for the first one, without which a link that has ended
 * would open again
 */
const timeoutMs = { newer: 50, first: 1000 }

export const openClickCounts = ({ find, now = Date.now, maxAge = 500 }: ClickCountsOptions): ClickCounts => {
  const known = new QuickLRU<number, Known>({ maxSize: 100_000 })
  const running = new Map<number, Promise<number>>()
  const look = batch<number, number>(500, find)

  /** Requests for the same link share a look-up. */
  const refresh = (link: number) => {
    const shared = running.get(link)
    if (shared) return shared
    const at = now()
    const found = look(link)
      .then((clicks) => {
        known.set(link, { clicks, at })
        return clicks
      })
      .finally(() => running.delete(link))
    running.set(link, found)
    return found
  }

  const renew = async (link: number, before: Known | undefined) => {
    try {
      const wait = before ? timeoutMs.newer : timeoutMs.first
      return await withTimeout(wait, refresh(link), () => new Unavailable('a look-up of clicks was slow'))
    } catch (error) {
      // a visitor too many is better than an outage
      if (isUnavailable(error)) return before?.clicks ?? 0
      throw error
    }
  }

  return {
    get: (link) => {
      const before = known.get(link)
      return before && now() - before.at < maxAge ? before.clicks : renew(link, before)
    },
  }
}
