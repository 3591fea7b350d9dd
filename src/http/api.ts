import { randomUUID } from 'node:crypto'
import Router from '@koa/router'
import Koa, { type Context } from 'koa'
import bodyParser from 'koa-bodyparser'
import type { Logger } from 'pino'
import type { Handled } from '../commands/handle.ts'
import type { Progress } from '../projections/progress.ts'
import { accountRoutes } from './account.ts'
import { addressBlock, clientAddress } from './address.ts'
import type { Auth, Authenticated } from './auth.ts'
import { fail, failureOf } from './errors.ts'
import { linkRoutes } from './link.ts'
import { pixelRoutes } from './pixel.ts'
import type { Counted, Limiter } from './ratelimit.ts'
import { registerRoutes } from './register.ts'
import type { Call, Route, Services } from './route.ts'
import { firstProblem, pathId } from './wire.ts'

export const routes: readonly Route[] = [...registerRoutes, ...accountRoutes, ...linkRoutes, ...pixelRoutes]

export interface ApiOptions extends Services {
  readonly auth: Auth
  readonly limiter: Limiter
  readonly progress: Progress
  readonly log: Logger
  readonly rateLimit: number
  readonly trustProxy: number
  /** A write is stored, but the read tables are late: everyone has to know. */
  readonly tellLate: (stream: string, position: bigint) => void
}

const window = 60
const rateHeaders = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset']
/** ms until others are told that the tables are late, and until a write is answered all the same */
const [prompt, patience] = [40, 2000]

const parseBody = bodyParser({ enableTypes: ['json'], jsonLimit: '64kb', detectJSON: () => true })

/** The JSON API: every answer, the failing ones too, is an object with `error` and carries the rate limit's headers. */
export const createApi = (options: ApiOptions) => {
  const { auth, limiter, log, rateLimit, trustProxy, registration } = options
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
      setRate(ctx, { limit: rateLimit, remaining: rateLimit, reset: Math.floor(Date.now() / 1000) + window })
      try {
        await next()
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
      // no id and no word of ours needs percent-encoding, so an encoded path is an unknown one
      if (atPath.length === 0 || ctx.path.includes('%')) fail(404, 'There is nothing at this address.')
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

const readBody = async (ctx: Context): Promise<unknown> => {
  const type = ctx.get('Content-Type')
  if (type && !/^application\/json\s*(;|$)/i.test(type)) fail(415, 'Send the body as application/json.')
  const encoding = ctx.get('Content-Encoding')
  if (encoding && encoding !== 'identity') fail(415, 'Send the body without a Content-Encoding.')
  await parseBody(ctx, () => Promise.resolve()).catch((error: { status?: number; type?: string }) => {
    if (error.status === 413) throw error
    if (error.type === 'encoding.unsupported') fail(415, 'Send the body in UTF-8.')
    fail(400, 'The body is not a JSON object.')
  })
  const { body, rawBody } = ctx.request as { body: unknown; rawBody?: string }
  if (typeof body !== 'object' || body === null || Array.isArray(body)) fail(400, 'The body is not a JSON object.')
  if (rawBody?.includes('\ufffd')) fail(400, 'The body is not valid UTF-8.')
  if (!isModest(body)) fail(400, 'The body is nested too deeply or has too many parts.')
  return body
}

/** At most eight levels and 1,000 values. */
const isModest = (body: unknown) => {
  let level = [body]
  let nodes = 0
  for (let depth = 0; level.length > 0; depth++) {
    nodes += level.length
    if (depth > 8 || nodes > 1000) return false
    level = level.flatMap((value) =>
      typeof value === 'object' && value !== null ? Object.values(value as object) : [],
    )
  }
  return true
}

const answer = async (ctx: Context, route: Route, options: ApiOptions) => {
  const body: unknown = route.body ? await readBody(ctx) : undefined
  const params = (ctx as unknown as { params: Record<string, string> }).params
  const ids = Object.entries(params).map(([name, text]) => pathId(text) ?? fail(404, `There is no ${name} like this.`))
  const query = Object.fromEntries(Object.entries(ctx.query).map(([name, value]) => [name, [value].flat()[0] ?? '']))
  const who = ctx.state['who'] as Extract<Authenticated, { ok: true }> | undefined
  const call = { account: who?.account ?? 0, ids, query, ...writer(ctx, who, options) }
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

/** Appends as the caller, then waits until what was written can be read: for two seconds, then it is answered all the same. */
const writer = (
  ctx: Context,
  who: Extract<Authenticated, { ok: true }> | undefined,
  { handler, nextId, progress, tellLate }: ApiOptions,
): Pick<Call<unknown>, 'write' | 'create'> => {
  const actor = who ? ({ kind: 'key', key: who.key } as const) : ({ kind: 'visitor' } as const)
  const context = (account: number) => ({
    account,
    actor,
    request: String(ctx.state['request']),
    command: randomUUID(),
    at: new Date().toISOString(),
  })
  const readable = async <H extends Handled<unknown, unknown>>(stream: string, handled: H): Promise<H> => {
    if (await progress.wait(handled.position, prompt)) return handled
    tellLate(stream, handled.position)
    if (!(await progress.wait(handled.position, patience - prompt))) ctx.set('X-Projection-Pending', '1')
    return handled
  }
  return {
    write: async (decider, command) =>
      readable(decider.stream(command), await handler.handle(decider, command, context(who?.account ?? 0))),
    create: async (kind, decider, make) => {
      const own = context(0)
      const handled = await handler.create(decider, nextId[kind], make, (id) => ({
        ...own,
        account: who?.account ?? id,
      }))
      return readable(decider.stream(make(handled.id)), handled)
    },
  }
}
