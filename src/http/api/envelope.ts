import { STATUS_CODES } from 'node:http'
import type { Context, Middleware } from 'koa'
import type { Logger } from 'pino'
import { Unavailable } from '../../lib/unavailable.ts'
import { keepOpenFor } from '../server/running.ts'
import { withinTime } from './limits/clock.ts'
import { answerOf, type Failure, failureOf } from './errors.ts'
import { rateHeaders } from './limits/limiter.ts'
import { requestId } from './requestid.ts'
import { setTimings, startTiming, timed } from './timing.ts'

/** Headers that scripts of other origins may read: all that answers have. */
const exposed = [
  ...rateHeaders,
  'Allow',
  'Content-Disposition',
  'ETag',
  'Idempotent-Replayed',
  'Link',
  'Linkledger-At',
  'Retry-After',
  'Server-Timing',
  'WWW-Authenticate',
  'X-Projection-Pending',
  'X-Request-Id',
]
/** Headers that they may send. */
const allowed = [
  'Authorization',
  'Content-Type',
  'Idempotency-Key',
  'If-Match',
  'If-None-Match',
  'Last-Event-ID',
  'X-Request-Id',
]

/**
 * Paths whose requests may take longer: to fetch a logo, query DNS, write many rows, or wait for the receiver of a
 * webhook; in ms.
 */
const longer: readonly (readonly [RegExp, number])[] = [
  [/^\/api\/(?:qr|domain)\//, 15_000],
  [/^\/api\/urls\/bulk\/?$/, 30_000],
  [/^\/api\/webhook\/\d+\/(?:test|resend)\/?$/, 30_000],
]
/** ms until a request fails with 503 */
const timeoutOf = (path: string) => longer.find(([pattern]) => pattern.test(path))?.[1] ?? 5000

/**
 * An answer is no page. A script that runs on another page of this host, such as that of a measuring network, could
 * open one in a window, in which the session of the dashboard counts, and read it or ask further from there.
 */
const noPage = {
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
  'Cross-Origin-Opener-Policy': 'same-origin',
}

/** Sets the headers of every API response, enforces the timeout, and turns errors into JSON. */
export const envelope = (log: Logger, ownPagesOnly: readonly string[] = []): Middleware => {
  const closed = new Set(ownPagesOnly)
  const isClosed = (path: string) => closed.has(path.toLowerCase().replace(/\/$/, ''))
  return async (ctx, next) => {
    const id = requestId(ctx.get('X-Request-Id'))
    ctx.state['request'] = id
    ctx.set({
      'X-Request-Id': id,
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
      ...noPage,
    })
    if (!isClosed(ctx.path))
      ctx.set({ 'Access-Control-Allow-Origin': '*', 'Access-Control-Expose-Headers': exposed.join(', ') })
    const ms = timeoutOf(ctx.path)
    if (log.isLevelEnabled('debug')) startTiming(ctx)
    const respond = () =>
      withinTime(ctx, ms, () => {
        const work = next()
        // it goes on after the timeout
        keepOpenFor(ctx.res, work)
        return work
      })
    try {
      await timed(ctx, 'total', respond)
    } catch (error) {
      sendFailure(ctx, error, log)
    }
    setTimings(ctx)
  }
}

/** Returns what the log says of a failure: outages, and what the service is too busy for, are counted there. */
const loggedOf = (failure: Failure, error: unknown) => {
  if (failure !== error) return error
  return failure.cause ?? (failure.status === 503 ? new Unavailable(failure.message) : error)
}

const sendFailure = (ctx: Context, error: unknown, log: Logger) => {
  const request = String(ctx.state['request'])
  const failure = failureOf(error)
  const { status, headers } = failure
  if (status >= 500)
    log.error(
      { err: loggedOf(failure, error), request, method: ctx.method, path: ctx.path.slice(0, 256) },
      'request failed',
    )
  ctx.status = status
  ctx.set(headers)
  const isProblem = ctx.accepts().includes(problemType)
  if (isProblem) ctx.type = problemType
  ctx.body = isProblem ? detailsOf(failure, request) : envelopeOf(failure, request)
}

const envelopeOf = (failure: Failure, request: string) => ({
  ...answerOf(failure),
  ...failure.details,
  ...(failure.status === 500 ? { request } : {}),
})

const isUuid = (text: string) => /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/.test(text)

const problemType = 'application/problem+json'

/**
 * Returns a failure in the form of RFC 9457. `about:blank` says that the status is all there is to the type of the
 * problem.
 */
const detailsOf = (failure: Failure, request: string) => ({
  type: 'about:blank',
  title: STATUS_CODES[failure.status] ?? '',
  status: failure.status,
  detail: failure.message,
  instance: isUuid(request) ? `urn:uuid:${request}` : `#${request}`,
  ...failure.details,
  ...answerOf(failure),
})

/**
 * Answers CORS preflight requests. Every origin is allowed, because API keys are sent in a header and not by the
 * browser.
 */
export const preflight: Middleware = async (ctx, next) => {
  if (ctx.method !== 'OPTIONS' || !ctx.get('Access-Control-Request-Method')) return next()
  ctx.status = 204
  ctx.set({
    'Access-Control-Allow-Methods': 'GET, HEAD, POST, PUT, DELETE',
    'Access-Control-Allow-Headers': allowed.join(', '),
    'Access-Control-Max-Age': '86400',
  })
}
