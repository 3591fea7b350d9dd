import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Logger } from 'pino'
import QuickLRU from 'quick-lru'
import type { Visit } from '../events/clicklog.ts'
import type { Target } from '../queries/target.ts'
import { addressBlock, clientAddress } from './address.ts'
import { isOutage } from './errors.ts'
import { pages, passwordPage, sendPage } from './pages.ts'
import { checkPassword, unlockCookie, unlocks } from './password.ts'
import type { Limiter } from './ratelimit.ts'
import { type Destination, resolve } from './resolve.ts'
import type { Targets } from './targets.ts'

export interface RedirectOptions {
  readonly targets: Targets
  readonly limiter: Limiter
  readonly pepper: Buffer
  readonly isOurs: (host: string) => boolean
  /** Resolves once a visit cannot be lost by a killed process. */
  readonly record: (visit: Visit) => Promise<void>
  readonly trustProxy: number
  readonly secureCookies: () => boolean
  readonly log: Logger
}

const aliasPath = /^\/([A-Za-z0-9][A-Za-z0-9_-]{0,63})(?:\?|$)/
const wrongTries = { limit: 10, seconds: 600 }
/** Unknown aliases an address may ask for in a minute before it is answered without looking. */
const missLimit = 60

/** What brought a visitor to a link: its short address, a QR code, a campaign's rotator. */
export type Source = Visit['source']
export type Handler = (req: IncomingMessage, res: ServerResponse) => Promise<void>

export interface Redirect {
  /** Answers any public address. */
  readonly handle: Handler
  /** Sends a visitor on exactly as the link's own short address would. */
  readonly follow: (req: IncomingMessage, res: ServerResponse, target: Target, source: Source) => Promise<void>
}

/** The public side, served before Koa: a short address to where it leads. */
export const createRedirect = (options: RedirectOptions): Redirect => {
  const { targets, limiter, pepper, isOurs, record, trustProxy, secureCookies, log } = options
  const missed = new QuickLRU<string, number>({ maxSize: 10_000, maxAge: 60_000 })

  const miss = (req: IncomingMessage, res: ServerResponse) => {
    const from = addressBlock(clientAddress(req, trustProxy))
    const count = missed.get(from) ?? 0
    // its age is that of the first miss: the window does not slide
    missed.set(from, count + 1, { maxAge: (missed.expiresIn(from) ?? 60_000) || 60_000 })
    sendPage(req, res, pages.missing)
  }
  const guesses = (req: IncomingMessage) => (missed.get(addressBlock(clientAddress(req, trustProxy))) ?? 0) >= missLimit

  const send = async (req: IncomingMessage, res: ServerResponse, target: Target, to: Destination, source: Source) => {
    if (req.method === 'GET') await record(visitOf(req, target, to, source, trustProxy))
    res.writeHead(302, { Location: to.url, 'Cache-Control': 'private, no-store', 'Content-Length': 0 })
    res.end()
  }

  const tryPassword = async (req: IncomingMessage, res: ServerResponse, { link, password }: Target) => {
    if (password === null) return seeOther(req, res)
    const key = `password ${link} ${addressBlock(clientAddress(req, trustProxy))}`
    const given = await formField(req, 'password')
    if (given === undefined) return sendPage(req, res, pages.large)
    if ((await limiter.peek(key)) < wrongTries.limit) {
      if (await checkPassword(given, password)) {
        const { name, value, maxAge } = unlockCookie(pepper, link, password, Date.now())
        const secure = secureCookies() ? '; Secure' : ''
        return seeOther(req, res, `${name}=${value}; Path=/; Max-Age=${maxAge}; HttpOnly; SameSite=Lax${secure}`)
      }
      const { over } = await limiter.count(key, wrongTries.limit, wrongTries.seconds)
      if (!over) return sendPage(req, res, passwordPage(401, 'That is not the password.'))
    }
    const headers = { 'Retry-After': String(wrongTries.seconds) }
    return sendPage(req, res, passwordPage(429, 'Too many wrong passwords: try again in ten minutes.', headers))
  }

  const follow: Redirect['follow'] = async (req, res, target, source) => {
    const now = Date.now()
    const { link, password } = target
    const unlocked = password === null || unlocks(pepper, link, password, now, cookie(req, `ll_${link}`))
    const resolved = resolve(target, { unlocked }, now, isOurs)
    if (resolved.to === 'expired') return sendPage(req, res, pages.expired)
    if (req.method === 'POST') return tryPassword(req, res, target)
    switch (resolved.to) {
      case 'destination':
        return send(req, res, target, resolved, source)
      case 'password':
        return sendPage(req, res, passwordPage(200, ''))
      case 'loop':
        return sendPage(req, res, pages.loop)
    }
  }

  const handle: Handler = async (req, res) => {
    const { method = '', url = '' } = req
    if (method !== 'GET' && method !== 'HEAD' && method !== 'POST') return sendPage(req, res, pages.method)
    if (url === '/' || url.startsWith('/?')) return sendPage(req, res, pages.home)
    const alias = aliasPath.exec(url)?.[1]?.toLowerCase()
    if (alias === undefined) return sendPage(req, res, pages.missing)
    if (guesses(req)) return sendPage(req, res, pages.missing)
    try {
      const found = targets.get(null, alias)
      const target = found instanceof Promise ? await found : found
      await (target ? follow(req, res, target, { kind: 'link', id: target.link }) : miss(req, res))
    } catch (error) {
      if (!isOutage(error)) log.error({ err: error }, 'a redirect failed')
      if (!res.headersSent) sendPage(req, res, isOutage(error) ? pages.unavailable : pages.failed)
    }
  }

  return { handle, follow }
}

const cut = (text: string | undefined, length: number) => (text ?? '').slice(0, length)

const visitOf = (
  req: IncomingMessage,
  target: Target,
  { url, rule }: Destination,
  source: Source,
  hops: number,
): Visit => {
  const { headers } = req
  const purpose = `${String(headers['sec-purpose'] ?? '')} ${String(headers['purpose'] ?? '')} ${String(headers['x-moz'] ?? '')}`
  return {
    at: new Date().toISOString(),
    account: target.account,
    link: target.link,
    revision: target.revision,
    destination: url,
    rule,
    source,
    address: clientAddress(req, hops),
    agent: cut(headers['user-agent'], 512),
    referrer: cut(headers.referer, 2048),
    languages: cut(headers['accept-language'], 256),
    prefetch: /\bprefetch\b|\bpreview\b/.test(purpose),
  }
}

const seeOther = (req: IncomingMessage, res: ServerResponse, setCookie?: string) => {
  res.writeHead(303, {
    Location: req.url ?? '/',
    'Cache-Control': 'private, no-store',
    'Content-Length': 0,
    ...(setCookie ? { 'Set-Cookie': setCookie } : {}),
  })
  res.end()
}

const cookie = ({ headers }: IncomingMessage, name: string) =>
  headers.cookie
    ?.split(';')
    .map((part) => part.trim())
    .find((part) => part.startsWith(`${name}=`))
    ?.slice(name.length + 1)

/** A field of a posted form, `` when it is not there; undefined when the form is too large. */
const formField = async (req: IncomingMessage, field: string) => {
  let body = ''
  for await (const chunk of req.setEncoding('utf8')) {
    body += chunk as string
    if (body.length > 8192) return undefined
  }
  return new URLSearchParams(body).get(field) ?? ''
}
