import { fail } from '../api/errors.ts'

/** A place among the streams that are open. */
export interface Slot {
  /** aborts when the service stops, or the stream has ended */
  readonly ended: AbortSignal
  readonly end: () => void
}

export interface StreamLimits {
  /** Takes a place. Fails with 429 when the account has none left, with 503 when the process has none. */
  readonly take: (account: number, follows: boolean) => Slot
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

/** Limits the streams of each account and of this process. */
export const limitStreams = ({ perAccount, total }: Limits): StreamLimits => {
  const byAccount = new Map<number, number>()
  const followers = new Set<AbortController>()
  let open = 0
  let isEnding = false
  return {
    take: (account, follows) => {
      const own = byAccount.get(account) ?? 0
      if (isEnding) fail(503, 'unavailable', { what: 'stopping' }, { 'Retry-After': '2' })
      if (perAccount > 0 && own >= perAccount)
        fail(429, 'too_many_requests', { what: 'streams', running: own }, retryLater)
      if (total > 0 && open >= total) fail(503, 'busy', { what: 'streams' }, retryLater)
      byAccount.set(account, own + 1)
      open++
      const ending = new AbortController()
      if (follows) followers.add(ending)
      let isHeld = true
      const end = () => {
        if (!isHeld) return
        isHeld = false
        open--
        const left = byAccount.get(account)! - 1
        if (left > 0) byAccount.set(account, left)
        else byAccount.delete(account)
        followers.delete(ending)
        ending.abort()
      }
      return { ended: ending.signal, end }
    },
    open: () => open,
    endFollowers: () => {
      isEnding = true
      for (const ending of followers) ending.abort()
    },
  }
}
