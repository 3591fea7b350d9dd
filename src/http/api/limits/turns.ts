import pLimit from 'p-limit'
import { fail } from '../errors.ts'

interface Turns {
  /** pieces of work that run at the same time; the others wait for their turn */
  readonly atOnce: number
  /** pieces of an account, and of all accounts, that run or wait */
  readonly ofAccount: number
  readonly total: number
}

/**
 * Returns what runs heavy work in turn. Fails with 429 when the account has too much of it, with 503 when the process
 * has. `what` names it: `searches`.
 */
export const inTurns = (what: 'searches', { atOnce, ofAccount, total }: Turns) => {
  const limit = pLimit(atOnce)
  const counts = new Map<number, number>()
  const later = { 'Retry-After': '5' }
  return async <T>(account: number, work: () => Promise<T>): Promise<T> => {
    const own = counts.get(account) ?? 0
    if (own >= ofAccount) fail(429, 'too_many_requests', { what, running: own }, later)
    if (limit.activeCount + limit.pendingCount >= total) fail(503, 'busy', { what }, later)
    counts.set(account, own + 1)
    try {
      return await limit(work)
    } finally {
      const left = (counts.get(account) ?? 1) - 1
      if (left > 0) counts.set(account, left)
      else counts.delete(account)
    }
  }
}
