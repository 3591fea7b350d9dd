import { randomUUID } from 'node:crypto'
import Router from '@koa/router'
import Koa, { type Context } from 'koa'
import type { Logger } from 'pino'
import { accountRoutes } from '../account.ts'
import { addressBlock, clientAddress } from '../../lib/address.ts'
import { answerRoutes } from '../answer.ts'
import type { Auth, Authenticated } from '../../cache/auth.ts'
import { bioRoutes } from '../bio.ts'
import { readBody } from './body.ts'
import { campaignRoutes } from '../campaign.ts'
import { channelRoutes } from '../channel.ts'
import { domainRoutes } from '../domain.ts'
import { fail, failureOf } from './errors.ts'
import { withTimeout } from '../../lib/timeout.ts'
import { Unavailable } from '../../lib/unavailable.ts'
import { linkRoutes } from '../link.ts'
import { overlayRoutes } from '../overlay.ts'
import { pixelRoutes } from '../pixel.ts'
import { qrRoutes } from '../qr.ts'
import { type Counted, type Limiter, unlimited } from './ratelimit.ts'
import { registerRoutes } from '../register.ts'
import type { Call, Route, Services } from './route.ts'
import { splashRoutes } from '../splash.ts'
import { seriesRoutes } from '../series.ts'
import { firstProblem, pathId } from './fields.ts'
import { writer, type WriterOptions } from './write.ts'

export const routes: readonly Route[] = [
  ...registerRoutes,
  ...accountRoutes,
  ...linkRoutes,
  ...seriesRoutes,
  ...domainRoutes,
  ...pixelRoutes,
  ...qrRoutes,
  ...overlayRoutes,
  ...answerRoutes,
  ...splashRoutes,
  ...bioRoutes,
  ...campaignRoutes,
  ...channelRoutes,
]

export interface ApiOptions extends Services, WriterOptions {
  readonly auth: Auth
  readonly limiter: Limiter
  readonly log: Logger
  readonly rateLimit: number
  readonly trustProxy: number
}

const window = 60
const rateHeaders = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset']

/** The JSON API: every answer, the failing ones too, is an object with `error` and carries the rate limit's headers. */
export const createApi = (options: ApiOptions) => {
  const { auth, limiter, log, rateLimit, trustProxy, registration } = options
  const limit = rateLimit || unlimited
  const router = new Router()
  const served = routes.filter(({ path }) => registration || path !== '/register')
  for (const route of served)
    router[route.method](route.path, (ctx) => answer(ctx as unknown as Context, route, options))

  const count = async (ctx: Context, who: Authenticated | undefined): Promise<Counted> => {
    const key =
      who?.key === undefined ? `address ${addressBlock(clientAddress(ctx.req, trustProxy))}` : `key ${who.key}`
    const counted = await limiter.count(key, rateLimit, window)
    setRate(ctx, counted)
    return counted
  }

  return new Koa()
    .use(async (ctx, next) => {
      const id = randomUUID()
      ctx.state['request'] = id
      ctx.set({
        'X-Request-Id': id,
        'Access-Control-Allow-Origin': '*',
        'Access-Control-Expose-Headers': [...rateHeaders, 'Retry-After', 'X-Request-Id', 'X-Projection-Pending'].join(
          ', ',
        ),
        'Cache-Control': 'no-store',
        'X-Content-Type-Options': 'nosniff',
      })
      setRate(ctx, { limit, remaining: limit, reset: Math.floor(Date.now() / 1000) + window })
      try {
        await withTimeout(
          patience(ctx.path),
          next(),
          () => new Unavailable(`no response within ${patience(ctx.path)} ms`),
        )
      } catch (error) {
        const failure = failureOf(error)
        if (failure.status >= 500)
          log.error({ err: error, request: id, method: ctx.method, path: ctx.path.slice(0, 256) }, 'a request failed')
        ctx.status = failure.status
        ctx.set(failure.headers)
        ctx.body = { error: 1, message: failure.message, ...(failure.status === 500 ? { request: id } : {}) }
      }
    })
    .use(async (ctx, next) => {
      if (ctx.method !== 'OPTIONS' || !ctx.get('Access-Control-Request-Method')) return next()
      ctx.status = 204
      ctx.set({
        'Access-Control-Allow-Methods': 'GET, POST, PUT, DELETE',
        'Access-Control-Allow-Headers': 'Authorization, Content-Type',
        'Access-Control-Max-Age': '86400',
      })
    })
    .use(async (ctx, next) => {
      const { path: atPath, pathAndMethod } = router.match(ctx.path, ctx.method)
      const open = served.some((route) => route.public && atPath.some((layer) => layer.path === route.path))
      const who = open ? undefined : await auth.authenticate(ctx.get('Authorization'), new Date())
      const counted = await count(ctx, who)
      if (atPath.length === 0) fail(404, 'There is nothing at this address.')
      if (pathAndMethod.length === 0) {
        const allowed = [...new Set(atPath.flatMap(({ methods }) => methods))].join(', ')
        fail(405, `This address takes ${allowed}.`, { Allow: allowed })
      }
      if (who && !who.ok) refuseKey(who, counted)
      if (counted.over) tooMany(counted)
      ctx.state['who'] = who
      await next()
    })
    .use(router.routes() as unknown as Koa.Middleware)
}

/** ms after which a request is answered all the same: a logo is fetched and DNS is asked for in times of their own. */
const patience = (path: string) => (/^\/api\/(?:qr|domain)\//.test(path) ? 15_000 : 5000)

const setRate = (ctx: Context, { limit, remaining, reset }: Pick<Counted, 'limit' | 'remaining' | 'reset'>) =>
  ctx.set(Object.fromEntries([limit, remaining, reset].map((value, i) => [rateHeaders[i], String(value)])))

const tooMany = ({ wait }: Counted) =>
  fail(429, `Too many requests: try again in ${wait} seconds.`, { 'Retry-After': String(wait) })

const refuseKey = ({ problem }: Extract<Authenticated, { ok: false }>, counted: Counted) => {
  if (problem === 'disabled') fail(403, 'This account is disabled.')
  if (counted.over) tooMany(counted)
  const challenge = { 'WWW-Authenticate': 'Bearer' }
  if (problem === 'expired') fail(401, 'This API key has expired: ask the operator for a new one.', challenge)
  fail(401, 'Send your API key in the header `Authorization: Bearer KEY`.', challenge)
}

const answer = async (ctx: Context, route: Route, options: ApiOptions) => {
  const body: unknown = route.body ? await readBody(ctx) : undefined
  const params = Object.entries((ctx as unknown as { params: Record<string, string> }).params)
  // what cannot be an id, as what is percent-encoded, is 0, which nobody has: it answers what any unknown id answers
  const idOf = (text: string) => (ctx.path.includes('%') ? 0 : (pathId(text) ?? 0))
  const ids = params.flatMap(([name, text]) => (name.endsWith('id') ? [idOf(text)] : []))
  const words = params.flatMap(([name, text]) => (name.endsWith('id') ? [] : [text]))
  const query = Object.fromEntries(Object.entries(ctx.query).map(([name, value]) => [name, [value].flat()[0] ?? '']))
  const who = ctx.state['who'] as Extract<Authenticated, { ok: true }> | undefined
  const call = { account: who?.account ?? 0, ids, words, query, ...writer(ctx, who, options) }
  const run = async () => {
    const parsed = route.body?.safeParse(body)
    if (parsed && !parsed.success) fail(400, firstProblem(parsed.error))
    return route.run({ ...call, body: parsed?.data } as Call<unknown>, options)
  }
  ctx.body = {
    error: 0,
    ...(await run().catch(async (error: unknown) => {
      // of an id that is not theirs nobody learns more than that, whatever else is wrong
      if (failureOf(error).status === 400) await route.exists?.({ ...call, body }, options)
      throw error
    })),
  }
}
