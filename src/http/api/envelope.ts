import { randomUUID } from 'node:crypto'
import type { Context, Middleware } from 'koa'
import type { Logger } from 'pino'
import { withTimeout } from '../../lib/timeout.ts'
import { Unavailable } from '../../lib/unavailable.ts'
import { failureOf } from './errors.ts'
import { rateHeaders } from './limiter.ts'

const exposed = [...rateHeaders, 'Link', 'Retry-After', 'X-Request-Id', 'X-Projection-Pending'].join(', ')

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
  const { status, headers, message, details } = failureOf(error)
  if (status >= 500)
    log.error({ err: error, request, method: ctx.method, path: ctx.path.slice(0, 256) }, 'request failed')
  ctx.status = status
  ctx.set(headers)
  ctx.body = { error: 1, message, ...details, ...(status === 500 ? { request } : {}) }
}

/** Answers CORS preflight requests. Every origin is allowed, because API keys are sent in a header and not by the browser. */
export const preflight: Middleware = async (ctx, next) => {
  if (ctx.method !== 'OPTIONS' || !ctx.get('Access-Control-Request-Method')) return next()
  ctx.status = 204
  ctx.set({
    'Access-Control-Allow-Methods': 'GET, POST, PUT, DELETE',
    'Access-Control-Allow-Headers': 'Authorization, Content-Type',
    'Access-Control-Max-Age': '86400',
  })
}
