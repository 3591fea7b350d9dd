import Koa, { type Context } from 'koa'
import type { Logger } from 'pino'
import type { Cache } from '../../cache/cache.ts'
import { addressBlock, clientAddress, type TrustedProxies } from '../../lib/address.ts'
import { readJson } from '../../lib/strangers.ts'
import { type BodyKind, readBytes, textOf } from '../api/body.ts'
import { failureOf } from '../api/errors.ts'
import { countNetworks, type Limiter } from '../api/limits/limiter.ts'
import type { PublicHandler } from '../public/responses.ts'
import { discoveryResources } from './discovery.ts'
import { groupsResource } from './groups.ts'
import { isObject } from './parse.ts'
import { errorBody, notFound, queryOf, refuse, type Resource, ScimRefused, type ScimServices } from './resource.ts'
import { usersResource } from './users.ts'

export interface ScimOptions extends ScimServices, Pick<Cache, 'domains'> {
  /** what serves links: a branded domain has no directory */
  readonly handle: PublicHandler
  readonly limiter: Limiter
  readonly log: Logger
  readonly trustProxy: TrustedProxies
}

/** requests with wrong keys of a network, and those of an issuer; s */
const [wrongKeys, requests, window] = [60, 3000, 60]

const body: BodyKind = {
  isKnown: (type) => ['', 'application/json', 'application/scim+json'].includes(type),
  mustBe: 'json',
  kib: 1024,
}
const limits = { levels: 8, values: 50_000 }

const readBody = async (ctx: Context) => {
  const { bytes } = await readBytes(ctx, body, async () => {})
  const read = readJson(textOf(bytes), limits)
  if ('value' in read && isObject(read.value)) return read.value
  return refuse(400, 'The body must be a JSON object, with at most 8 levels and 50,000 values.', 'invalidSyntax')
}

const send = (ctx: Context, status: number, answer?: object) => {
  ctx.status = status
  ctx.set({ 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' })
  if (answer === undefined) return
  ctx.type = 'application/scim+json'
  ctx.body = JSON.stringify(answer)
}

/** Refuses a request as SCIM says it. What the client cannot mend is logged. */
const sendRefusal = (ctx: Context, error: unknown, log: Logger) => {
  if (error instanceof ScimRefused)
    return send(ctx, error.status, errorBody(error.status, error.message, error.scimType))
  const { headers, message, status } = failureOf(error)
  if (status === 500) log.error({ err: error }, 'a request of a directory has failed')
  ctx.set(headers)
  send(ctx, status, errorBody(status, message))
}

/** Returns the issuer whose key a request has. Refuses one without a key, and too many. */
const authenticate = async (ctx: Context, { directory, limiter, trustProxy }: ScimOptions) => {
  const tooMany = (wait: number) => {
    ctx.set('Retry-After', String(wait))
    return refuse(429, `Too many requests. Try again in ${wait} s.`)
  }
  const issuer = await directory.issuerOf(ctx.get('Authorization'))
  if (issuer === undefined) {
    const from = addressBlock(clientAddress(ctx.req, trustProxy))
    const { over, wait } = await countNetworks(limiter, 'scim', from, wrongKeys, window)
    if (over) return tooMany(wait)
    ctx.set('WWW-Authenticate', 'Bearer')
    return refuse(401, 'The request needs a key of a directory: linkledger scim key add.')
  }
  const { over, wait } = await limiter.count(`scim key ${issuer}`, requests, window)
  return over ? tooMany(wait) : issuer
}

const place = /^\/scim\/v2\/([A-Za-z]{1,30})(?:\/([^/]{1,200}))?\/?$/

/** Serves `/scim/v2/`, where directories of organizations send their users and groups (SCIM 2.0, RFC 7643 and 7644). */
export const createScim = (options: ScimOptions): PublicHandler => {
  const { domains, handle, log } = options
  const resources = new Map<string, Resource>(
    Object.entries({ Users: usersResource(options), Groups: groupsResource(options), ...discoveryResources(options) }),
  )
  const answer = async (ctx: Context) => {
    const issuer = await authenticate(ctx, options)
    const [, name = '', id] = place.exec(ctx.path) ?? []
    const serve = resources.get(name) ?? notFound()
    const { method } = ctx
    const found = await serve({ issuer, method, id, query: queryOf(ctx), body: () => readBody(ctx) })
    send(ctx, found.status, found.body)
  }
  const app = new Koa()
  app.on('error', (error: unknown) => log.warn({ err: error }, 'an answer to a directory was not sent to its end'))
  app.use((ctx) => answer(ctx).catch((error: unknown) => sendRefusal(ctx, error, log)))
  const callback = app.callback()
  return (req, res) => {
    const isOurs = /^\/scim\/v2(?:[/?]|$)/.test(req.url ?? '') && !domains.byHost(req.headers.host ?? '')
    return isOurs ? callback(req, res) : handle(req, res)
  }
}
