import pLimit, { type LimitFunction } from 'p-limit'
import { problem } from '../../../lib/problems/problem.ts'
import { fail, Failure } from '../errors.ts'
import { addressSite } from '../../../lib/address.ts'
import { sharePlaces, type Wanting } from './places.ts'

interface Concurrency {
  /** pieces of work that run at the same time; the others wait */
  readonly running: number
  /** pieces of an account, and of all accounts, that run or wait */
  readonly ofAccount: number
  readonly total: number
}

const retryLater = { 'Retry-After': '5' }
/** ms for which running work keeps its place from others, and for which work waits */
const [longestMs, longestWaitMs] = [60_000, 10_000]

/** Runs work in a lane of each network, so that none takes all places of the process. */
const openLanes = (running: number) => {
  const lanes = new Map<string, LimitFunction>()
  return async <T>(from: string, work: () => Promise<T>): Promise<T> => {
    const network = addressSite(from)
    const lane = lanes.get(network) ?? pLimit(Math.max(1, running - 1))
    lanes.set(network, lane)
    try {
      return await lane(work)
    } finally {
      if (lane.activeCount + lane.pendingCount === 0) lanes.delete(network)
    }
  }
}

/**
 * Returns a function that runs heavy work, a limited number of pieces at a time. It fails with 429 when the account has
 * too many, with 503 when the process has. `what` names the work: `searches`.
 */
export const limitConcurrency = (what: 'searches', { running, ofAccount, total }: Concurrency) => {
  const limit = pLimit(running)
  const inLane = openLanes(running)
  const busy = () => new Failure(503, problem('busy', { what }), retryLater)
  const places = sharePlaces({ most: total, longestMs: longestWaitMs, busy })
  const counts = new Map<number, number>()
  return async <T>({ account, from }: Wanting, work: () => Promise<T>): Promise<T> => {
    const own = counts.get(account) ?? 0
    if (own >= ofAccount) fail(429, 'too_many_requests', { what, running: own }, retryLater)
    const lost = new AbortController()
    const end = places.take({ account, from }, (why) => lost.abort(why))
    counts.set(account, own + 1)
    const begin = () => {
      lost.signal.throwIfAborted()
      return work()
    }
    try {
      return await inLane(from, () => limit(begin))
    } finally {
      end()
      const left = (counts.get(account) ?? 1) - 1
      if (left > 0) counts.set(account, left)
      else counts.delete(account)
    }
  }
}

/** A piece of heavy work that has begun. */
export interface Begun {
  /** aborts, with the answer for its client, when its place goes to another request */
  readonly lost: AbortSignal
  readonly end: () => void
}

/**
 * Returns a function that begins a piece of heavy work for an account. It fails with 409 while the account has one,
 * with 503 while the process has `most`. `what` names the work: `rehearsal`.
 */
export const limitToOne = (what: 'reclassification' | 'rehearsal', most: number): ((wanting: Wanting) => Begun) => {
  const running = new Set<number>()
  const busy = () => new Failure(503, problem('busy', { what }), retryLater)
  const places = sharePlaces({ most, longestMs, busy })
  return ({ account, from }) => {
    if (running.has(account)) fail(409, 'still_running', { what }, retryLater)
    const lost = new AbortController()
    const leave = places.take({ account, from }, (why) => lost.abort(why))
    running.add(account)
    const end = () => {
      leave()
      running.delete(account)
    }
    return { lost: lost.signal, end }
  }
}
