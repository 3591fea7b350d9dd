import pLimit from 'p-limit'
import QuickLRU from 'quick-lru'
import type { Progress } from '../../cache/progress.ts'
import { isUnavailable, Unavailable } from '../../lib/unavailable.ts'

export interface PacedOptions<T> {
  readonly find: (key: string) => Promise<T>
  readonly seen: Progress['seen']
  /** ms for which an answer is kept while the tables have not moved */
  readonly age: number
  /** answers that are kept */
  readonly most: number
  /** ms of a clock that never goes back */
  readonly now?: () => number
}

interface Found<T> {
  readonly answer: T
  readonly seen: bigint
  readonly until: number
  /** also when the tables have moved */
  readonly anywayUntil: number
}

/** look-ups that wait at most */
const longestQueue = 1000
/** ms; what takes no longer delays nobody */
const quick = 200
/** One look-up takes at most this part of the time. */
const share = 1 / 20

/**
 * Returns what looks up public pages whose cost an account chooses, one at a time: they leave connections to redirects.
 * Requests share a look-up that has not begun. A slow answer is kept for twenty times as long as it took, so that many
 * visits to one page do not delay the others. While the database is unavailable, an older answer is returned. Rejects
 * with `Unavailable` when too many wait.
 */
export const createPaced = <T>({
  find,
  seen,
  age,
  most,
  now = () => performance.now(),
}: PacedOptions<T>): ((key: string) => Promise<T>) => {
  const known = new QuickLRU<string, Found<T>>({ maxSize: most })
  const lane = pLimit(1)
  const queued = new Map<string, Promise<T>>()

  const lookUp = async (key: string) => {
    queued.delete(key)
    const [from, before] = [now(), seen()]
    const answer = await find(key)
    const took = now() - from
    const anywayUntil = took > quick ? now() + took / share : 0
    known.set(key, { answer, seen: before, until: now() + age, anywayUntil })
    return answer
  }
  const queue = (key: string): Promise<T> => {
    const waiting = queued.get(key)
    if (waiting) return waiting
    if (queued.size >= longestQueue) throw new Unavailable('too many pages are being looked up')
    const answer = lane(() => lookUp(key))
    queued.set(key, answer)
    return answer
  }

  return async (key) => {
    const before = known.get(key)
    if (before && (now() < before.anywayUntil || (now() < before.until && before.seen === seen()))) return before.answer
    try {
      return await queue(key)
    } catch (error) {
      if (before && isUnavailable(error)) return before.answer
      throw error
    }
  }
}
