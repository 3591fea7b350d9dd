import { randomUUID } from 'node:crypto'
import { STATUS_CODES } from 'node:http'
import type { Context, Middleware } from 'koa'
import type { Logger } from 'pino'
import { fieldOf } from '../../lib/fields.ts'
import { withTimeout } from '../../lib/timeout.ts'
import { Unavailable } from '../../lib/unavailable.ts'
import { type Failure, failureOf } from './errors.ts'
import { rateHeaders } from './limiter.ts'

const exposed = [...rateHeaders, 'ETag', 'Link', 'Retry-After', 'X-Request-Id', 'X-Projection-Pending'].join(', ')

/** ms until a request fails with 503. Fetching a logo and querying DNS have longer timeouts of their own, and a bulk request has many rows. */
const timeoutOf = (path: string) =>
  /^\/api\/(?:qr|domain)\//.test(path) ? 15_000 : /^\/api\/urls\/bulk\/?$/.test(path) ? 30_000 : 5000

/** Sets the headers of every API response, enforces the timeout, and turns errors into JSON. */
export const envelope =
  (log: Logger): Middleware =>
  async (ctx, next) => {
    const id = randomUUID()
    ctx.state['request'] = id
    ctx.set({
      'X-Request-Id': id,
      'Access-Control-Allow-Origin': '*',
      'Access-Control-Expose-Headers': exposed,
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
    })
    const ms = timeoutOf(ctx.path)
    try {
      await withTimeout(ms, next(), () => new Unavailable(`no response within ${ms} ms`))
    } catch (error) {
      sendFailure(ctx, error, log)
    }
  }

const sendFailure = (ctx: Context, error: unknown, log: Logger) => {
  const request = String(ctx.state['request'])
  const failure = failureOf(error)
  const { status, headers } = failure
  if (status >= 500)
    log.error({ err: error, request, method: ctx.method, path: ctx.path.slice(0, 256) }, 'request failed')
  ctx.status = status
  ctx.set(headers)
  const isProblem = ctx.accepts().includes(problemType)
  if (isProblem) ctx.type = problemType
  ctx.body = isProblem ? problemOf(failure, request) : envelopeOf(failure, request)
}

const envelopeOf = ({ status, message, details }: Failure, request: string) => ({
  error: 1,
  message,
  ...details,
  ...(status === 500 ? { request } : {}),
})

const problemType = 'application/problem+json'

/** Returns a failure in the form of RFC 9457. `about:blank` says that the status is all there is to the type of the problem. */
const problemOf = ({ status, message, details }: Failure, request: string) => {
  const field = fieldOf(message)
  return {
    type: 'about:blank',
    title: STATUS_CODES[status] ?? '',
    status,
    detail: message,
    instance: `urn:uuid:${request}`,
    ...(field === undefined ? {} : { field }),
    ...details,
    // of every failure, in whatever form
    error: 1,
    message,
  }
}

/** Answers CORS preflight requests. Every origin is allowed, because API keys are sent in a header and not by the browser. */
export const preflight: Middleware = async (ctx, next) => {
  if (ctx.method !== 'OPTIONS' || !ctx.get('Access-Control-Request-Method')) return next()
  ctx.status = 204
  ctx.set({
    'Access-Control-Allow-Methods': 'GET, HEAD, POST, PUT, DELETE',
    'Access-Control-Allow-Headers': 'Authorization, Content-Type, If-Match, If-None-Match',
    'Access-Control-Max-Age': '86400',
  })
}
