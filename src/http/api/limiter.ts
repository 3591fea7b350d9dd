export interface Counted {
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
  readonly count: (key: string, limit: number, seconds: number) => Promise<Counted>
  /** Takes back one request that should not have been counted. */
  readonly uncount: (key: string) => Promise<void>
}

export const rateHeaders = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'] as const

/** Returns the rate limit before the request is counted. Without a limit (0), it is always a million. */
export const uncounted = (limit: number, seconds: number): Counted => ({
  limit: limit || 1_000_000,
  remaining: limit || 1_000_000,
  reset: Math.floor(Date.now() / 1000) + seconds,
  over: false,
  wait: seconds,
})
