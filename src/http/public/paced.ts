import QuickLRU from 'quick-lru'
import type { Progress } from '../../cache/progress.ts'
import { createTurnQueue } from '../../lib/async/turnqueue.ts'
import { isUnavailable, Unavailable } from '../../lib/unavailable.ts'

export interface PacedOptions<T> {
  readonly find: (key: string) => Promise<T>
  /**
   * Returns the current data of a found answer, at a cost that no account chooses; undefined: a slow answer is returned
   * as it was found.
   */
  readonly renew?: (key: string, found: T) => Promise<T>
  /** Resolves when the database responds at all. */
  readonly alive?: () => PromiseLike<unknown>
  readonly seen: Progress['seen']
  /** ms for which an answer is cached while the tables have not moved */
  readonly age: number
  /** maximum number of cached answers */
  readonly most: number
  /** ms of a monotonic clock */
  readonly now?: () => number
}

interface Found<T> {
  /** the result of the look-up */
  readonly found: T
  /** the result as it was last renewed */
  readonly answer: T
  readonly seen: bigint
  readonly until: number
  /** also when the tables have moved */
  readonly anywayUntil: number
}

interface Waiting<T> {
  readonly key: string
  readonly resolve: (answer: T | Promise<T>) => void
  readonly reject: (error: unknown) => void
}

const tooMany = 'too many pages are being looked up'
/** maximum number of waiting look-ups: in total, and of one account or network */
const [total, perSource] = [1000, 200]
/** ms; a faster look-up delays no other one noticeably */
const quick = 200
/** Look-ups take at most this share of the time. */
const share = 1 / 20

/**
 * Returns an answer and its duration, without the time until the database responds at all: a blocked database, or one
 * without a free connection, says nothing about the cost of the answer.
 */
const timed = async <T>(find: () => Promise<T>, now: () => number, alive: PacedOptions<unknown>['alive']) => {
  const from = now()
  let [asked, answered]: (number | undefined)[] = []
  const ask = async () => {
    asked = now()
    await Promise.resolve(alive?.()).catch(() => {})
    answered = now()
  }
  const timer = alive && setTimeout(() => void ask(), quick)
  try {
    const answer = await find()
    const [end, until = end] = [now(), answered]
    const stoodStill = asked !== undefined && until - asked > quick
    return { answer, took: end - (stoodStill ? until : from) }
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Looks up public pages whose cost an account chooses, one at a time, so that connections remain for redirects. A key
 * begins with the account and a space. Accounts take turns, and so do the networks of visitors: one with many pages
 * does not delay the others. Requests share a look-up that has not begun. A slow answer is cached for twenty times as
 * long as it took, so that many visits to one page do not delay the others, and only renewed meanwhile. While the
 * database is unavailable, it returns an older answer. Rejects with `Unavailable` when too many wait.
 */
export const createPaced = <T>({
  find,
  renew,
  alive,
  seen,
  age,
  most,
  now = () => performance.now(),
}: PacedOptions<T>): ((key: string, network: string) => Promise<T>) => {
  const known = new QuickLRU<string, Found<T>>({ maxSize: most })
  const refuse = ({ key, reject }: Waiting<T>) => {
    queued.delete(key)
    reject(new Unavailable(tooMany))
  }
  const lane = createTurnQueue<Waiting<T>>({ total, perSource, onLeft: refuse })
  const queued = new Map<string, Promise<T>>()
  let isWorking = false

  const lookUp = async (key: string) => {
    queued.delete(key)
    const [kept, before] = [known.get(key), seen()]
    if (renew && kept && now() < kept.anywayUntil) {
      const answer = await renew(key, kept.found)
      known.set(key, { ...kept, answer, seen: before, until: now() + age })
      return answer
    }
    const { answer, took } = await timed(() => find(key), now, alive)
    const anywayUntil = took > quick ? now() + took / share : 0
    known.set(key, { found: answer, answer, seen: before, until: now() + age, anywayUntil })
    return answer
  }
  const work = async () => {
    isWorking = true
    // requests for the same page in this turn share the look-up
    await Promise.resolve()
    for (let next = lane.shift(); next; next = lane.shift()) await lookUp(next.key).then(next.resolve, next.reject)
    isWorking = false
  }
  const queue = (key: string, network: string): Promise<T> => {
    const shared = queued.get(key)
    if (shared) return shared
    let waiting: Waiting<T> | undefined
    const answer = new Promise<T>((resolve, reject) => (waiting = { key, resolve, reject }))
    const [account = ''] = key.split(' ', 1)
    if (!waiting || !lane.push([`account ${account}`, network], waiting)) throw new Unavailable(tooMany)
    queued.set(key, answer)
    if (!isWorking) void work()
    return answer
  }

  return async (key, network) => {
    const before = known.get(key)
    const isKept = before && !renew && now() < before.anywayUntil
    if (before && (isKept || (now() < before.until && before.seen === seen()))) return before.answer
    try {
      return await queue(key, network)
    } catch (error) {
      if (before && isUnavailable(error)) return before.answer
      throw error
    }
  }
}
