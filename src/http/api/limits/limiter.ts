import QuickLRU from 'quick-lru'
import { countedNetworks } from '../../../lib/address.ts'
import { createSemaphore } from '../../../lib/async/semaphore.ts'

export interface RateCount {
  readonly limit: number
  readonly remaining: number
  /** Unix seconds */
  readonly reset: number
  readonly over: boolean
  /** whole seconds until the window ends */
  readonly wait: number
}

/** Counts requests in fixed windows that start with the first request. */
export interface Limiter {
  readonly count: (key: string, limit: number, seconds: number) => Promise<RateCount>
  /** Takes back one request that should not have been counted. */
  readonly uncount: (key: string) => Promise<void>
}

/** Counts requests of the API, in windows as a `Limiter` has them. */
export interface RateLimiter {
  /** Counts `requests`, but none of them if that would exceed the limit: then it is `over`, and nothing is written. */
  readonly take: (key: string, limit: number, seconds: number, requests: number) => Promise<RateCount>
}

/**
 * Counts a request of an address block, and of its site. Returns the count that is over its limit, if one is.
 * `isFirst`: they have had no other.
 */
export const countNetworks = async (
  { count }: Pick<Limiter, 'count'>,
  what: string,
  block: string,
  limit: number,
  seconds: number,
): Promise<RateCount & { readonly isFirst: boolean }> => {
  const [own, ...sites] = countedNetworks(block)
  let counted = await count(`${what} ${own.network}`, limit, seconds)
  let isFirst = counted.remaining === limit - 1
  for (const { network, times } of sites) {
    // what a block is refused is not counted for its site
    if (counted.over) break
    counted = await count(`${what} ${network}`, limit * times, seconds)
    isFirst &&= counted.remaining === limit * times - 1
  }
  return { ...counted, isFirst }
}

/** requests of a client that are counted at the same time: the database counts one after the other anyway */
const atOnce = 4

/**
 * Returns the same limiter, which thousands of requests of a client do not keep busy: those that wait while one is over
 * the limit are over it, too.
 */
export const sparing = ({ take }: RateLimiter): RateLimiter => {
  let moment = 0
  const full = new QuickLRU<string, { readonly counted: RateCount; readonly since: number }>({ maxSize: 10_000 })
  const inTurn = createSemaphore<string>({ total: Infinity, perKey: atOnce, kept: 0, waiting: 10_000 })
  return {
    take: async (key, limit, ...rest) => {
      const asked = moment++
      const end = await inTurn(key)
      try {
        const found = full.get(key)
        if (found && found.since > asked && found.counted.limit === limit) return found.counted
        const counted = await take(key, limit, ...rest)
        if (counted.over && counted.remaining === 0) full.set(key, { counted, since: moment++ })
        return counted
      } finally {
        end()
      }
    },
  }
}

/** The headers of the rate limit: those of the API, and those of draft-ietf-httpapi-ratelimit-headers. */
export const rateHeaders = [
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'RateLimit',
  'RateLimit-Policy',
] as const

/** Returns the headers of the rate limit with their values. */
export const rateHeadersOf = (
  { limit, remaining, reset, wait }: RateCount,
  seconds: number,
): Readonly<Record<(typeof rateHeaders)[number], string>> => ({
  'X-RateLimit-Limit': String(limit),
  'X-RateLimit-Remaining': String(remaining),
  'X-RateLimit-Reset': String(reset),
  RateLimit: `"default";r=${remaining};t=${wait}`,
  'RateLimit-Policy': `"default";q=${limit};w=${seconds}`,
})

/** Returns the rate limit before the request is counted. Without a limit (0), it is always a million. */
export const uncounted = (limit: number, seconds: number): RateCount => ({
  limit: limit || 1_000_000,
  remaining: limit || 1_000_000,
  reset: Math.floor(Date.now() / 1000) + seconds,
  over: false,
  wait: seconds,
})
