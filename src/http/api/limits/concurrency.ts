import pLimit from 'p-limit'
import { fail } from '../errors.ts'

interface Concurrency {
  /** pieces of work that run at the same time; the others wait */
  readonly running: number
  /** pieces of an account, and of all accounts, that run or wait */
  readonly ofAccount: number
  readonly total: number
}

const retryLater = { 'Retry-After': '5' }

/**
 * Returns a function that runs heavy work, a limited number of pieces at the same time. It fails with 429 when the
 * account has too many, with 503 when the process has. `what` names the work: `searches`.
 */
export const limitConcurrency = (what: 'searches', { running, ofAccount, total }: Concurrency) => {
  const limit = pLimit(running)
  const counts = new Map<number, number>()
  return async <T>(account: number, work: () => Promise<T>): Promise<T> => {
    const own = counts.get(account) ?? 0
    if (own >= ofAccount) fail(429, 'too_many_requests', { what, running: own }, retryLater)
    if (limit.activeCount + limit.pendingCount >= total) fail(503, 'busy', { what }, retryLater)
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

/**
 * Returns a function that begins a piece of heavy work for an account, and returns a function that ends it. It fails
 * with 409 while the account has one, with 503 while the process has `most`. `what` names the work: `rehearsal`.
 */
export const limitToOne = (what: 'reclassification' | 'rehearsal', most: number): ((account: number) => () => void) => {
  const running = new Set<number>()
  return (account) => {
    if (running.has(account)) fail(409, 'still_running', { what }, retryLater)
    if (running.size >= most) fail(503, 'busy', { what }, retryLater)
    running.add(account)
    return () => void running.delete(account)
  }
}
