import { problem } from '../../lib/problems/problem.ts'
import { fail, Failure } from '../api/errors.ts'
import { sharePlaces, type Wanting } from '../api/limits/places.ts'

/** A place among the streams that are open. */
export interface Slot {
  /** aborts when the service stops, when the stream has ended, or when its place went to another one */
  readonly ended: AbortSignal
  readonly end: () => void
}

export interface StreamLimits {
  /** Takes a place. Fails with 429 when the account has none left, with 503 when the process has none. */
  readonly take: (wanting: Wanting, follows: boolean) => Slot
  /** Returns how many streams are open. */
  readonly open: () => number
  /** Ends the streams that follow the log; the others have an end, and are finished. */
  readonly endFollowers: () => void
}

interface Limits {
  /** 0 = unlimited */
  readonly perAccount: number
  /** 0 = unlimited */
  readonly total: number
}

const retryLater = { 'Retry-After': '10' }
/** ms: clients of streams connect again, and go on where they were */
const longestMs = 600_000

/** Limits the streams of each account and of this process. */
export const limitStreams = ({ perAccount, total }: Limits): StreamLimits => {
  const byAccount = new Map<number, number>()
  const followers = new Set<AbortController>()
  const busy = () => new Failure(503, problem('busy', { what: 'streams' }), retryLater)
  const places = sharePlaces({ most: total, longestMs, busy })
  let isEnding = false
  return {
    take: (wanting, follows) => {
      const { account } = wanting
      const own = byAccount.get(account) ?? 0
      if (isEnding) fail(503, 'unavailable', { what: 'stopping' }, { 'Retry-After': '2' })
      if (perAccount > 0 && own >= perAccount)
        fail(429, 'too_many_requests', { what: 'streams', running: own }, retryLater)
      const ending = new AbortController()
      const leave = places.take(wanting, (why) => {
        ending.abort(why)
        end()
      })
      byAccount.set(account, own + 1)
      if (follows) followers.add(ending)
      let isHeld = true
      const end = () => {
        if (!isHeld) return
        isHeld = false
        leave()
        const left = byAccount.get(account)! - 1
        if (left > 0) byAccount.set(account, left)
        else byAccount.delete(account)
        followers.delete(ending)
        ending.abort()
      }
      return { ended: ending.signal, end }
    },
    open: places.taken,
    endFollowers: () => {
      isEnding = true
      for (const ending of followers) ending.abort()
    },
  }
}
