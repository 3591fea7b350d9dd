import Router from '@koa/router'
import Koa, { type Context, type Middleware } from 'koa'
import type { Logger } from 'pino'
import { admit, type Admitted, type AdmitOptions, identify, setUncountedRate } from './admit.ts'
import { readBody } from './body.ts'
import { allowedRevisions, sendTagged } from './conditions.ts'
import { isDownload, sendDownload } from './download.ts'
import { envelope, preflight } from './envelope.ts'
import { fail } from './errors.ts'
import { onceForKey } from './idempotency.ts'
import { nextPage } from './list.ts'
import { addressBlock, clientAddress } from '../../lib/address.ts'
import { firstProblem } from '../../lib/fields.ts'
import { textsFor } from '../public/texts/languages.ts'
import type { IdempotencyStore } from '../../security/idempotency.ts'
import type { Call, Query, Route, Services } from './route.ts'
import { routes } from './routes.ts'
import { timed } from './timing.ts'
import { writer, type Writing } from './write.ts'
import { type TogetherOptions, writerApart, writerTogether } from './writetogether.ts'
import type { z } from 'zod'

export interface ApiOptions extends Services, TogetherOptions, AdmitOptions {
  readonly log: Logger
  readonly idempotency: IdempotencyStore
}

/** The JSON API. Every response, also of a failure, is an object with `error` and carries the rate limit's headers. */
export const createApi = (options: ApiOptions) => {
  const { log, rateLimit, registration } = options
  const router = new Router()
  const served = routes.filter(({ path }) => registration || path !== '/register')
  for (const route of served)
    router[route.method](route.path, (ctx) => serve(ctx as unknown as Context, route, options))
  const isPublic = (path: unknown) => served.some((route) => route.public && route.path === path)

  const app = new Koa()
  app.on('error', logUnsent(log))
  return app
    .use(envelope(log))
    .use((ctx, next) => {
      setUncountedRate(ctx, rateLimit)
      return next()
    })
    .use(preflight)
    .use(router.routes() as unknown as Middleware)
    .use((ctx) => unmatched(ctx, isPublic, options))
}

/** Returns what logs the errors of bodies that are being sent. Koa reports each of them twice, and also a client that has closed its connection. */
const logUnsent = (log: Logger) => {
  const logged = new WeakSet<object>()
  return (error: NodeJS.ErrnoException) => {
    if (error.code === 'ERR_STREAM_PREMATURE_CLOSE' || logged.has(error)) return
    logged.add(error)
    log.error({ err: error }, 'an answer was not sent to its end')
  }
}

/** Answers OPTIONS. Fails with 404, or 405 when the path exists with other methods. Such requests are counted too. */
const unmatched = async (ctx: Context, isPublic: (path: unknown) => boolean, options: ApiOptions) => {
  const { matched = [] } = ctx as unknown as { matched?: readonly { path: unknown; methods: readonly string[] }[] }
  await identify(
    ctx,
    matched.some(({ path }) => isPublic(path)),
    options,
  )
  if (matched.length === 0) fail(404, 'There is nothing at this address.')
  const methods = [...new Set([...matched.flatMap((layer) => layer.methods), 'OPTIONS'])]
  const allowed = methods.join(', ')
  if (ctx.method === 'OPTIONS') {
    ctx.status = 204
    ctx.set('Allow', allowed)
    return
  }
  fail(405, `This address supports ${allowed}.`, { Allow: allowed })
}

/** The parameters as they are in the path: an id that was percent-encoded is not an id. */
const rawParams = (ctx: Context) => {
  const { params = {}, captures = [] } = ctx as unknown as { params?: object; captures?: readonly string[] }
  return Object.fromEntries(Object.keys(params).map((name, i) => [name, captures[i]]))
}
const firstValues = (query: Context['query']): Query =>
  Object.fromEntries(Object.entries(query).map(([name, value]) => [name, [value].flat()[0] ?? '']))

const valid = (schema: z.ZodType | undefined, input: unknown) => {
  const parsed = schema?.safeParse(input)
  if (parsed && !parsed.success) fail(400, firstProblem(parsed.error))
  return parsed?.data
}

/** Order of checks: key, rate, readable body, owner of the resource, valid fields. */
const serve = async (ctx: Context, route: Route, options: ApiOptions) => {
  const { who, inScope, charge } = await timed(ctx, 'admit', () => admit(ctx, route, options))
  const sent: unknown = route.body ? await (route.read ?? readBody)(ctx) : undefined
  const allowed = allowedRevisions(ctx, route)
  const from = addressBlock(clientAddress(ctx.req, options.trustProxy))
  const keyed = {
    scope: who ? `account ${who.account}` : `address ${from}`,
    account: who?.account,
    body: sent,
    only: route.secret ? who?.key : undefined,
  }
  const body = await onceForKey(ctx, options.idempotency, keyed, (execution, begin) =>
    run({ ctx, route, who, inScope, charge, sent, from, begin, writing: { allowed, execution } }, options),
  )
  if (isDownload(body)) return sendDownload(ctx, body)
  ctx.set(nextPage(body, ctx.path, new URLSearchParams(ctx.querystring)))
  if (route.single && route.method === 'get') sendTagged(ctx, body)
  else ctx.body = body
}

interface Request extends Admitted {
  readonly ctx: Context
  readonly route: Route
  readonly sent: unknown
  readonly from: string
  readonly writing: Writing
  /** called when all checks are passed */
  readonly begin: () => void
}

const run = async (request: Request, options: ApiOptions) => {
  const { ctx, route, who, inScope, charge, sent, from, begin, writing } = request
  const caller = writer(ctx, who, options, writing)
  const params = valid(route.params, rawParams(ctx))
  await route.owner?.({ ...caller, params }, options)
  const call: Call = {
    ...caller,
    params,
    query: valid(route.query, firstValues(ctx.query)),
    body: valid(route.body, sent),
    together: writerTogether(ctx, who, options, writing),
    apart: writerApart(ctx, who, options, writing),
    from,
    lang: textsFor(ctx.req).lang,
    key: who,
    inScope,
    charge,
    seed: async () => writing.execution?.seed(who?.account ?? null),
    onBehalfOf: (holder) => writer(ctx, holder, options),
  }
  begin()
  const answer = await timed(ctx, 'run', () => route.run(call, options))
  return isDownload(answer) ? answer : { error: 0, ...answer }
}
