import type { Context } from 'koa'
import type { Auth, Authenticated } from '../../cache/auth.ts'
import { addressBlock, clientAddress, type TrustedProxies } from '../../lib/address.ts'
import { fail } from './errors.ts'
import { type Counted, type Limiter, rateHeaders, uncounted } from './limiter.ts'

export interface AdmitOptions {
  readonly auth: Auth
  readonly limiter: Limiter
  /** requests per minute, 0 = unlimited */
  readonly rateLimit: number
  /** proxies whose `X-Forwarded-For` is trusted */
  readonly trustProxy: TrustedProxies
}
export type Authorized = Extract<Authenticated, { ok: true }>

/** seconds */
const window = 60

const setRate = (ctx: Context, { limit, remaining, reset }: Counted) =>
  ctx.set(Object.fromEntries([limit, remaining, reset].map((value, i) => [rateHeaders[i], String(value)])))

/** Sets the rate limit's headers for responses that precede the count: preflight requests and failures of the count. */
export const setUncountedRate = (ctx: Context, rateLimit: number) => setRate(ctx, uncounted(rateLimit, window))

/** Authenticates and counts a request, by its key or by the client's address. A public route ignores the key. */
export const identify = async (
  ctx: Context,
  isPublic: boolean,
  { auth, limiter, rateLimit, trustProxy }: AdmitOptions,
) => {
  const who = isPublic ? undefined : await auth.authenticate(ctx.get('Authorization'), new Date())
  const key = who?.key === undefined ? `address ${addressBlock(clientAddress(ctx.req, trustProxy))}` : `key ${who.key}`
  const counted = rateLimit === 0 ? uncounted(0, window) : await limiter.count(key, rateLimit, window)
  setRate(ctx, counted)
  return { who, counted }
}

/** Returns the caller of a route, undefined on a public one. Fails with 401, 403 or 429. */
export const admit = async (
  ctx: Context,
  isPublic: boolean,
  options: AdmitOptions,
): Promise<Authorized | undefined> => {
  const { who, counted } = await identify(ctx, isPublic, options)
  if (who && !who.ok) return rejectKey(who, counted)
  if (counted.over) tooMany(counted)
  return who
}

const tooMany = ({ wait }: Counted) =>
  fail(429, `Too many requests. Try again in ${wait} seconds.`, { 'Retry-After': String(wait) })

const rejectKey = ({ problem }: Extract<Authenticated, { ok: false }>, counted: Counted) => {
  if (problem === 'disabled') return fail(403, 'This account is disabled.')
  if (counted.over) tooMany(counted)
  const message =
    problem === 'expired'
      ? 'This API key has expired. Request a new one from the operator of this service.'
      : 'A valid API key is required to use this service.' // clients compare this text
  return fail(401, message, { 'WWW-Authenticate': 'Bearer' })
}
