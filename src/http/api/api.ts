import Router from '@koa/router'
import Koa, { type Context, type Middleware } from 'koa'
import type { Logger } from 'pino'
import {
  admit,
  type Admitted,
  type AdmitOptions,
  isAdmitted,
  requireOwnPage,
  setUncountedRate,
  unmatched,
} from './admit.ts'
import { readBody, readUnasked } from './body.ts'
import { allowedRevisions, sendTagged } from './conditions.ts'
import { isDownload, isPicture, sendDownload, sendPicture } from './download.ts'
import { envelope, preflight } from './envelope.ts'
import { answerProposed, isProposed } from '../approvals/guard.ts'
import { Failure, logUnsent } from './errors.ts'
import { onceForKey } from './write/idempotency.ts'
import { type Cursors, openCursors } from './list/cursor.ts'
import { nextPage } from './list/list.ts'
import { answerAt, type Past, type ReadingFrom, refuseAt } from './past/past.ts'
import { addressBlock, addressSite, clientAddress } from '../../lib/address.ts'
import { firstProblem } from '../../lib/fields.ts'
import { textsFor } from '../public/texts/languages.ts'
import type { PendingStreams } from '../../cache/pending.ts'
import type { Reader } from '../../queries/reader.ts'
import type { IdempotencyStore } from '../../security/idempotency.ts'
import type { Call, Route, Writer } from './route.ts'
import { browserOf } from './session.ts'
import { closingOf } from '../server/closing.ts'
import { limitedLoad, limitOf, requireWithinLimit } from './limits/part.ts'
import { limitedRights, mayCall } from './scope.ts'
import { timed } from './timing.ts'
import { firstValues, inUtc, zoneOf } from './past/zone.ts'
import { rawParams } from './fields.ts'
import { refuseUnknownDryRun } from './write/dryrun.ts'
import { applying, operating } from './write/behalf.ts'
import { writer, type Writing } from './write/writer.ts'
import { laterOf, type TransactionOptions, transactionOf, withoutWaitingOf } from './write/transaction.ts'
import type { z } from 'zod'

export interface ApiOptions extends TransactionOptions, AdmitOptions {
  /** what the API serves */
  readonly routes: readonly Route[]
  readonly reader: Reader
  readonly pending: PendingStreams
  /** 32 bytes for keyed hashes */
  readonly pepper: Buffer
  readonly log: Logger
  readonly idempotency: IdempotencyStore
  /** undefined: answers are of the present, and do not say which events they contain */
  readonly past: Past | undefined
}

/** The JSON API. Every response, also of a failure, is an object with `error` and carries the rate limit's headers. */
export const createApi = (options: ApiOptions) => {
  const { log, rateLimit, routes } = options
  const serving = { ...options, cursors: openCursors(options.pepper) }
  const routed = byArea(routes, (ctx, route) => serve(ctx, route, serving))
  const isPublic = (path: unknown) => routes.some((route) => route.public && route.path === path)

  const app = new Koa()
  app.on('error', logUnsent(log))
  return app
    .use(
      envelope(
        log,
        routes.filter((one) => one.ownPagesOnly).map(({ path }) => path),
      ),
    )
    .use((ctx, next) => {
      setUncountedRate(ctx, rateLimit)
      return next()
    })
    .use(preflight)
    .use((ctx, next) => routed(ctx.path)?.(ctx, next) ?? next())
    .use((ctx) => unmatched(ctx, isPublic, options))
}

/**
 * Returns the part of a path in which routes have no parameters: `/api/url` of `/api/url/7/update`. Letter case does
 * not matter.
 */
const areaOf = (path: string) => (/^\/(?:api\/)?[^/]*/i.exec(path)?.[0] ?? '').toLowerCase()

/**
 * Returns what finds the routes that may match a path. A router tests all of its routes for each request, so each area
 * has one of its own.
 */
const byArea = (served: readonly Route[], handle: (ctx: Context, route: Route) => Promise<void>) => {
  const routers = new Map<string, Router>()
  for (const route of served) {
    const area = areaOf(route.path)
    const router = routers.get(area) ?? new Router()
    routers.set(area, router)
    router[route.method](route.path, (ctx) => handle(ctx as unknown as Context, route))
  }
  const areas = new Map([...routers].map(([area, router]) => [area, router.routes() as unknown as Middleware]))
  return (path: string) => areas.get(areaOf(path))
}

const valid = (schema: z.ZodType | undefined, input: unknown) => {
  const parsed = schema?.safeParse(input)
  if (parsed && !parsed.success) throw new Failure(400, firstProblem(parsed.error))
  return parsed?.data
}

interface Serving extends ApiOptions {
  readonly cursors: Cursors
}

/** Reads the body. Of a request for a route that takes none, it is looked at for what must not be ignored. */
const sentWith = (
  ctx: Context,
  { body, method, read = readBody }: Route,
  { charge, account }: Pick<Admitted, 'charge'> & { readonly account: number | undefined },
): unknown => {
  if (body) return read(ctx, charge, account)
  return method === 'get' ? undefined : readUnasked(ctx)
}

/** Order of checks: page, key, rate, readable body, owner of the resource, valid fields. */
const serve = async (ctx: Context, route: Route, options: Serving) => {
  requireOwnPage(ctx, route)
  const admitted = await timed(ctx, 'admit', () => admit(ctx, route, options))
  const { charge, who } = admitted
  const sent = await sentWith(ctx, route, { charge, account: who?.account })
  try {
    await answer(ctx, route, options, { ...admitted, sent })
  } finally {
    await route.release?.(sent)
  }
}

const answer = async (ctx: Context, route: Route, options: Serving, asked: Admitted & Pick<Request, 'sent'>) => {
  const { who, sent } = asked
  const allowed = allowedRevisions(ctx, route)
  const from = addressBlock(clientAddress(ctx.req, options.trustProxy))
  const keyed = {
    isOff: route.ofSession,
    scope: who ? `account ${who.account}` : `address ${from}`,
    account: who?.account,
    body: route.body && sent,
    // what a caller sees who is limited to a part of the account, others with the same rights may not
    only: route.secret || limitOf(who) ? (who?.key ?? (who && `session ${who.session}`)) : undefined,
    rights: who && limitedRights(who),
  }
  const body = await onceForKey(ctx, options.idempotency, keyed, (execution, begin) =>
    run({ ctx, route, ...asked, from, begin, writing: { allowed, execution } }, options),
  )
  ctx.set(nextPage(body, ctx.path, new URLSearchParams(ctx.querystring)))
  if (isDownload(body)) return sendDownload(ctx, body)
  if (isPicture(body)) return sendPicture(ctx, body)
  if (route.single && route.method === 'get') sendTagged(ctx, body)
  else ctx.body = body
  if (isProposed(body)) ctx.status = 202
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

const run = async (request: Request, options: Serving) => {
  const { ctx, route, who, writing } = request
  const { reader, pending } = options
  const caller = { ...writer(ctx, who, options, writing), reader, pending }
  if (route.method === 'get') {
    const by = { account: who?.account, network: addressSite(request.from) }
    const reading = { reader, pending, load: caller.load, ...by }
    const limited = limitOf(who)
    return answerAt(ctx, route, options.past, reading, ({ load, ...from }) => {
      // that of a moment of the past knows no limits
      const within = limited && load !== caller.load ? limitedLoad(load, limited, options) : load
      return execute(request, options, { ...caller, ...from, load: within })
    })
  }
  refuseAt(ctx, 'change')
  return execute(request, options, caller)
}

const execute = async (request: Request, options: Serving, caller: Writer & Pick<Call, 'bindTo'> & ReadingFrom) => {
  const { ctx, route, who, inScope, charge, sent, from, begin, writing } = request
  const params = valid(route.params, rawParams(ctx))
  const limited = limitOf(who)
  if (limited) await requireWithinLimit(route, params as Readonly<Record<string, unknown>>, limited, options)
  const resumed = writing.execution?.resumed ?? false
  await route.owner?.({ ...caller, params, resumed })
  const asked = firstValues(ctx.query)
  const [query, body] = [valid(route.query, inUtc(asked)), valid(route.body, sent)]
  if (route.method !== 'get') refuseUnknownDryRun([asked, query], [sent, body])
  const call: Call = {
    ...caller,
    cursors: options.cursors,
    path: route.path,
    params,
    query,
    zone: zoneOf(asked),
    body,
    transaction: transactionOf(ctx, who, options, writing),
    withoutWaiting: withoutWaitingOf(ctx, who, options, writing),
    later: () => ({ ...call, ...laterOf(ctx, who, options) }),
    from,
    gone: closingOf(ctx),
    // read from headers where a route needs it: most do not
    get lang() {
      return textsFor(ctx.req).lang
    },
    key: who?.key === undefined ? undefined : who,
    member: who?.member,
    limited,
    session: who?.session,
    credential: who?.session === undefined ? undefined : who.credential,
    confirmed: who?.session !== undefined && who.confirmed,
    get browser() {
      return browserOf(ctx.req, options)
    },
    setCookie: (cookie) => ctx.append('Set-Cookie', cookie),
    inScope,
    resumed,
    may: (right) => who === undefined || mayCall(who, right),
    isAdmitted: (also) => isAdmitted(ctx, route, options, limited, also),
    header: (name) => ctx.get(name),
    accepts: (types) => ctx.accepts(...types) || undefined,
    charge,
    seed: async () => writing.execution?.seed(who?.account ?? null),
    onBehalfOf: (holder) => writer(ctx, holder, options),
    operate: operating(ctx, who, options, writing),
    apply: applying(ctx, options),
  }
  begin()
  const answer = await timed(ctx, 'run', () => route.run(call)).catch(answerProposed)
  return isDownload(answer) || isPicture(answer) ? answer : { error: 0, ...answer }
}
