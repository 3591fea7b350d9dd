import type { Context } from 'koa'
import type { Auth, Authenticated, KeyHolder } from '../../cache/auth.ts'
import { addressBlock, clientAddress, type TrustedProxies } from '../../lib/address.ts'
import { fail } from './errors.ts'
import type { Part } from '../../queries/accounts/part.ts'
import { isSamePart, limitOf } from './limits/part.ts'
import { type RateCount, rateHeadersOf, type RateLimiter, uncounted } from './limits/limiter.ts'
import type { Call, Route } from './route.ts'
import { mayCall, namesOf, type Right } from './scope.ts'
import {
  accountHeader,
  type PresentedSession,
  presentedSession,
  type SessionHolder,
  type SessionOptions,
} from './session.ts'

export interface AdmitOptions extends SessionOptions {
  readonly auth: Auth
  readonly limiter: RateLimiter
  /** requests per minute, 0 = unlimited */
  readonly rateLimit: number
  /** requests per minute of an account by sessions of the dashboard, 0 = unlimited */
  readonly sessionRateLimit: number
  /** proxies whose `X-Forwarded-For` is trusted */
  readonly trustProxy: TrustedProxies
  /** Notes the use of a key; never waits. */
  readonly recordUse: (key: string) => void
}

/** seconds */
const window = 60

const setRate = (ctx: Context, counted: RateCount) => ctx.set(rateHeadersOf(counted, window))

/** Sets the rate limit's headers for responses that precede the count: preflight requests and failures of the count. */
export const setUncountedRate = (ctx: Context, rateLimit: number) => setRate(ctx, uncounted(rateLimit, window))

/**
 * Fails for a request without a key that a page of another site has sent, or could send without asking: before it is
 * counted, so that it spends nothing of its visitor's.
 */
export const requireOwnPage = (ctx: Context, route: Route) => {
  if (route.public && route.method === 'post' && ctx.get('Sec-Fetch-Site') === 'cross-site')
    fail(403, 'not_dashboard', { what: 'other_site' })
  if (route.ownPagesOnly && ctx.get('Content-Type') === '') fail(415, 'wrong_content_type', { what: 'json' })
}

/** Who sends a request: the holder of a key, or the owner of an account on the dashboard. */
export type Holder = (KeyHolder & { readonly session?: never }) | (SessionHolder & { readonly key?: never })
type Refusal =
  | Extract<Authenticated, { readonly ok: false }>
  | { readonly ok: false; readonly problem: 'foreign'; readonly account: number; readonly rateLimit: null }
type Identified = (Holder & { readonly ok: true }) | Refusal

const identifiedBy = (presented: NonNullable<PresentedSession>): Identified => {
  if ('holder' in presented) return { ok: true, ...presented.holder }
  return 'foreign' in presented
    ? { ok: false, problem: 'foreign', account: presented.foreign, rateLimit: null }
    : { ok: false, problem: 'disabled', account: presented.disabled, rateLimit: null }
}

/** A key counts before a session: the client that sends one means it. */
const authenticate = async (ctx: Context, from: string, options: AdmitOptions, person: Route['person']) => {
  const header = ctx.get('Authorization')
  const presented = header === '' ? await presentedSession(ctx.req, options, person) : undefined
  const session = presented && 'session' in presented ? presented.session : undefined
  if (presented) return { who: identifiedBy(presented), bySession: true, session }
  const who: Identified = await options.auth.authenticate(header, new Date(), from)
  return { who, bySession: false, session: undefined }
}
const anyone = { who: undefined, bySession: false, session: undefined } as const

/**
 * Authenticates and counts a request: for the account of its key or session, or for the client's address. A public
 * route ignores both, and has a count of its own: requests with wrong keys, which any page of another site can make,
 * leave the sign-in alone.
 */
const identify = async (
  ctx: Context,
  publicRoute: string | undefined,
  options: AdmitOptions,
  person?: Route['person'],
) => {
  const { limiter, rateLimit, sessionRateLimit, sessions, trustProxy } = options
  const from = clientAddress(ctx.req, trustProxy)
  const { who, bySession, session } =
    publicRoute === undefined ? await authenticate(ctx, from, options, person) : anyone
  if (session) sessions.recordUse(session)
  const [payer, limit] =
    who?.account === undefined
      ? [['address', addressBlock(from), ...(publicRoute === undefined ? [] : [publicRoute])].join(' '), rateLimit]
      : bySession
        ? [`session ${'person' in who ? who.person : who.account}`, sessionRateLimit]
        : [`account ${who.account}`, ('rateLimit' in who ? who.rateLimit : null) ?? rateLimit]
  const take = async (requests: number) => {
    const counted = limit === 0 ? uncounted(0, window) : await limiter.take(payer, limit, window, requests)
    setRate(ctx, counted)
    return counted
  }
  return { who, counted: await take(1), take }
}

/** Says in which account a session acts: an answer for one must not be taken for that of another. */
const nameAccount = (ctx: Context, account: number) => {
  ctx.set(accountHeader, String(account))
  ctx.vary(accountHeader)
}

export interface Admitted {
  /** the caller; undefined on a public route */
  readonly who: Holder | undefined
  /** whether the key has the scope of the route; a session has none where a password can take its place */
  readonly inScope: boolean
  /** Counts the request as so many in all. Fails with 429. */
  readonly charge: (requests: number) => Promise<void>
}

/** Admits the caller of a route. Fails with 401, 403 or 429. */
export const admit = async (
  ctx: Context,
  {
    path,
    public: isPublic,
    scope = [],
    passwordInstead,
    person,
  }: Pick<Route, 'path' | 'public' | 'scope' | 'passwordInstead' | 'person'>,
  options: AdmitOptions,
): Promise<Admitted> => {
  const { who, counted, take } = await identify(ctx, isPublic ? path : undefined, options, person)
  if (who && !who.ok) return rejectKey(who, counted)
  const inScope = who === undefined || (mayCall(who, scope) && !(who.session !== undefined && passwordInstead))
  if (who?.session !== undefined) nameAccount(ctx, who.account)
  if (who?.key !== undefined && who.member && person === true) fail(403, 'lacks_rights', { what: 'person' })
  if (!inScope && who?.member && (who.session !== undefined || !passwordInstead))
    fail(403, 'lacks_rights', { what: 'role', role: who.member.role })
  if (!inScope && !passwordInstead)
    fail(403, 'lacks_scope', scope === 'operator' ? { what: 'operator' } : { scopes: namesOf(scope) })
  if (counted.over) tooMany(counted)
  if (who?.key !== undefined) options.recordUse(who.key)
  let taken = 1
  const charge = async (requests: number) => {
    if (requests <= taken) return
    const charged = await take(requests - taken)
    if (charged.over) tooCostly(charged, requests)
    taken = requests
  }
  return { who, inScope, charge }
}

/**
 * Returns whether the caller of a route that needs a key would still be admitted, and sees as much of the account. It
 * is not counted, and no use of a key or session.
 */
export const isAdmitted = async (
  ctx: Context,
  { scope = [], person }: Pick<Route, 'scope' | 'person'>,
  options: AdmitOptions,
  limited: Part | undefined,
  also?: Right,
): Promise<boolean> => {
  const { who } = await authenticate(ctx, clientAddress(ctx.req, options.trustProxy), options, person)
  return (
    who.ok && mayCall(who, scope) && (also === undefined || mayCall(who, also)) && isSamePart(limitOf(who), limited)
  )
}

/** Fails with 401 once the caller is no longer admitted. An answer that lasts asks for each of its parts. */
export const requireAdmitted = async ({ isAdmitted }: Pick<Call, 'isAdmitted'>): Promise<void> => {
  if (!(await isAdmitted())) fail(401, 'key_required', {}, { 'WWW-Authenticate': 'Bearer' })
}

const tooMany = ({ wait }: RateCount) =>
  fail(429, 'too_many_requests', { seconds: wait }, { 'Retry-After': String(wait) })

/** The request itself has been counted: a limit that it alone exceeds is named, because waiting does not help. */
const tooCostly = ({ limit, wait }: RateCount, requests: number) =>
  fail(
    429,
    'too_many_requests',
    requests <= limit ? { what: 'cost', cost: requests, seconds: wait } : { what: 'size', cost: requests, limit },
    { 'Retry-After': String(wait) },
  )

const rejectKey = ({ problem }: Refusal, counted: RateCount) => {
  if (problem === 'foreign' && counted.over) tooMany(counted)
  if (problem === 'disabled') return fail(403, 'account_disabled', {})
  if (problem === 'foreign') return fail(404, 'not_found', { what: 'account' })
  if (problem === 'address') return fail(403, 'lacks_rights', { what: 'network' })
  if (counted.over) tooMany(counted)
  const headers = { 'WWW-Authenticate': 'Bearer' }
  return problem === 'expired'
    ? fail(401, 'key_ended', { what: 'expired' }, headers)
    : fail(401, 'key_required', {}, headers)
}

/** Answers OPTIONS. Fails with 404, or 405 when the path exists with other methods. Such requests are counted too. */
export const unmatched = async (ctx: Context, isPublic: (path: unknown) => boolean, options: AdmitOptions) => {
  const { matched = [] } = ctx as unknown as { matched?: readonly { path: unknown; methods: readonly string[] }[] }
  await identify(ctx, matched.flatMap(({ path }) => (isPublic(path) ? [path as string] : []))[0], options)
  if (matched.length === 0) fail(404, 'not_found', { what: 'address' })
  const methods = [...new Set([...matched.flatMap((layer) => layer.methods), 'OPTIONS'])]
  const allowed = methods.join(', ')
  if (ctx.method === 'OPTIONS') {
    ctx.status = 204
    ctx.set('Allow', allowed)
    return
  }
  fail(405, 'method_not_allowed', { methods: allowed }, { Allow: allowed })
}
