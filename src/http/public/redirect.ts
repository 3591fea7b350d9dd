import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Logger } from 'pino'
import QuickLRU from 'quick-lru'
import type { Visit } from '../../clicks/visit.ts'
import type { KnownDomain } from '../../queries/domain.ts'
import type { BioTarget, Target } from '../../queries/target.ts'
import { preferredLanguages } from '../../visitor/language.ts'
import { addressBlock, clientAddress } from '../../lib/address.ts'
import { answerForm } from './answerform.ts'
import type { Domains } from '../../cache/domains.ts'
import { isUnavailable } from '../../lib/unavailable.ts'
import { readForm } from './form.ts'
import { type PageOptions, sendPage } from './html.ts'
import { bioPage, pages, passwordPage } from './pages.ts'
import { checkPassword, unlockCookie, unlocks } from '../../security/passwords.ts'
import type { Limiter } from '../api/ratelimit.ts'
import { type Destination, resolve, type Shown, type Visitor } from './resolve.ts'
import type { Targets } from '../../cache/targets.ts'
import { wayPage } from './interstitials.ts'

export interface RedirectOptions {
  readonly targets: Targets
  readonly domains: Domains
  /** A link with what it shows as that is by now. */
  readonly current: (target: Target) => Promise<Target>
  readonly limiter: Limiter
  readonly pepper: Buffer
  readonly isOurs: (host: string) => boolean
  /** Resolves once a visit cannot be lost by a killed process. */
  readonly record: (visit: Visit) => Promise<void>
  /** What is no visit, and only told to who watches: a HEAD request, a wrong password. */
  readonly notCounted: (what: 'head' | 'password') => void
  /** ISO 3166-1 alpha-2 of an address, `` when not known */
  readonly countryOf: (address: string) => string
  readonly trustProxy: number
  readonly secureCookies: () => boolean
  readonly log: Logger
}

const aliasPath = /^\/([A-Za-z0-9][A-Za-z0-9_-]{0,63})(?:\?|$)/
/** bytes: 1,024 characters of three bytes, percent-encoded, and some more */
const formLimit = 16_384
const wrongTries = { limit: 10, seconds: 600 }
/** Unknown aliases an address may ask for in a minute before it is answered without looking. */
const missLimit = 60

/** What brought a visitor to a link: its short address, a QR code, a campaign's rotator. */
export type Source = Visit['source']
export type Handler = (req: IncomingMessage, res: ServerResponse) => Promise<void>
/** What a visitor came to: a link, or a QR code, which has none (0). */
export type Visited = Pick<Visit, 'account' | 'link' | 'revision'>
/** Answers, or says false where there is nothing. */
export type Serve = (req: IncomingMessage, res: ServerResponse) => Promise<boolean>

export interface Redirect {
  /** Answers any public address. */
  readonly handle: Handler
  /** Sends a visitor on exactly as the link's own short address would. */
  readonly follow: (req: IncomingMessage, res: ServerResponse, target: Target, source: Source) => Promise<void>
  /** Records the visit and sends the visitor to where it leads. */
  readonly send: (
    req: IncomingMessage,
    res: ServerResponse,
    what: Visited,
    to: Pick<Destination, 'url' | 'rule'>,
    source: Source,
  ) => Promise<void>
  /** Answers what lies below a prefix on the service's own host (or on any host of it), with the pages, and the limit on guessing, of all public addresses. */
  readonly below: (serve: Serve, everywhere?: boolean) => Handler
}

/** The public side, served before Koa: a short address to where it leads. */
export const createRedirect = (options: RedirectOptions): Redirect => {
  const {
    targets,
    domains,
    current,
    limiter,
    pepper,
    isOurs,
    record,
    notCounted,
    countryOf,
    trustProxy,
    secureCookies,
    log,
  } = options
  const missed = new QuickLRU<string, number>({ maxSize: 10_000, maxAge: 60_000 })

  const visitorOf = (req: IncomingMessage, unlocked: boolean): Visitor => ({
    unlocked,
    agent: cut(req.headers['user-agent'], 512),
    country: () => countryOf(clientAddress(req, trustProxy)),
    languages: () => preferredLanguages(req.headers['accept-language'] ?? ''),
    untracked: () => req.headers['sec-gpc'] === '1' || req.headers['dnt'] === '1',
    secure: secureCookies,
  })

  /** Where a branded domain sends who finds nothing; an address that has become one of ours would lead in circles. */
  const elsewhere = (req: IncomingMessage, res: ServerResponse, url: string | undefined, page: PageOptions) =>
    url && !isOurs(new URL(url).hostname) ? sendTo(res, url) : sendPage(req, res, page)

  const miss = (req: IncomingMessage, res: ServerResponse, domain: KnownDomain | undefined) => {
    const from = addressBlock(clientAddress(req, trustProxy))
    const count = missed.get(from) ?? 0
    // its age is that of the first miss: the window does not slide
    missed.set(from, count + 1, { maxAge: (missed.expiresIn(from) ?? 60_000) || 60_000 })
    elsewhere(req, res, domain?.redirect404, pages.missing)
  }
  const guesses = (req: IncomingMessage) => (missed.get(addressBlock(clientAddress(req, trustProxy))) ?? 0) >= missLimit

  const visited = async (req: IncomingMessage, what: Visited, to: Pick<Destination, 'url' | 'rule'>, source: Source) =>
    req.method === 'GET' ? record(visitOf(req, what, to, source, trustProxy)) : notCounted('head')

  const send: Redirect['send'] = async (req, res, what, to, source) => {
    await visited(req, what, to, source)
    sendTo(res, to.url)
  }

  const tryPassword = async (req: IncomingMessage, res: ServerResponse, { link, password }: Target) => {
    if (password === null) return seeOther(req, res)
    const key = `password ${link} ${addressBlock(clientAddress(req, trustProxy))}`
    const form = await readForm(req, formLimit)
    if (!form) return sendPage(req, res, pages.large)
    const given = form.get('password') ?? ''
    // counted before it is looked at, so that many at once do not slip through; a right one is taken back
    const { over, wait } = await limiter.count(key, wrongTries.limit, wrongTries.seconds)
    if (!over) {
      if (!(await checkPassword(given, password))) {
        notCounted('password')
        return sendPage(req, res, passwordPage(401, 'That is not the password.'))
      }
      await limiter.uncount(key)
      const { name, value, maxAge } = unlockCookie(pepper, link, password, Date.now())
      const secure = secureCookies() ? '; Secure' : ''
      return seeOther(req, res, `${name}=${value}; Path=/; Max-Age=${maxAge}; HttpOnly; SameSite=Lax${secure}`)
    }
    const headers = { 'Retry-After': String(wait) }
    return sendPage(req, res, passwordPage(429, 'Too many wrong passwords: try again in ten minutes.', headers))
  }

  /** What follows the page leads to the destination itself, so that a visit counts once. */
  const show = async (
    req: IncomingMessage,
    res: ServerResponse,
    target: Target,
    to: Destination & Shown,
    source: Source,
  ) => {
    const { shows, url } = to
    const form = shows.overlay && answerForm(pepper, shows.overlay.id, target.link, url)
    await visited(req, target, to, source)
    sendPage(req, res, wayPage(to, url, { secure: secureCookies(), form }))
  }

  const follow: Redirect['follow'] = async (req, res, found, source) => {
    const target = found.interstitial ? await current(found) : found
    const now = Date.now()
    const { link, password } = target
    const unlocked = password === null || unlocks(pepper, link, password, now, cookie(req, `ll_${link}`))
    const resolved = resolve(target, visitorOf(req, unlocked), now, isOurs)
    if (resolved.to === 'expired') return sendPage(req, res, pages.expired)
    if (req.method === 'POST') return tryPassword(req, res, target)
    switch (resolved.to) {
      case 'destination':
        return resolved.way === 'redirect'
          ? send(req, res, target, resolved, source)
          : show(req, res, target, resolved, source)
      case 'password':
        return sendPage(req, res, passwordPage(200, ''))
      case 'loop':
        return sendPage(req, res, pages.loop)
    }
  }

  /** A visit of a bio page is no click: the short links on it count theirs. */
  const showBio = (req: IncomingMessage, res: ServerResponse, bio: BioTarget) =>
    req.method === 'POST' ? seeOther(req, res) : sendPage(req, res, bioPage(bio))

  const failed = (req: IncomingMessage, res: ServerResponse, error: unknown) => {
    if (!isUnavailable(error)) log.error({ err: error }, 'a redirect failed')
    if (!res.headersSent) sendPage(req, res, isUnavailable(error) ? pages.unavailable : pages.failed)
  }

  const handle: Handler = async (req, res) => {
    const { method = '', url = '' } = req
    if (method !== 'GET' && method !== 'HEAD' && method !== 'POST') return sendPage(req, res, pages.method)
    const domain = domains.byHost(req.headers.host ?? '')
    if (url === '/' || url.startsWith('/?')) return elsewhere(req, res, domain?.redirectroot, pages.home)
    const alias = aliasPath.exec(url)?.[1]?.toLowerCase()
    if (alias === undefined) return elsewhere(req, res, domain?.redirect404, pages.missing)
    // behind one address may stand many, so whoever guesses there keeps nobody from a link that is in memory
    if (guesses(req) && !targets.remembers(domain?.id ?? null, alias)) return sendPage(req, res, pages.missing)
    try {
      const found = targets.get(domain?.id ?? null, alias)
      const target = found instanceof Promise ? await found : found
      if (!target) miss(req, res, domain)
      else if ('bio' in target) showBio(req, res, target)
      else await follow(req, res, target, { kind: 'link', id: target.link })
    } catch (error) {
      failed(req, res, error)
    }
  }

  const below: Redirect['below'] = (serve, everywhere) => async (req, res) => {
    const domain = domains.byHost(req.headers.host ?? '')
    if (domain && !everywhere) return elsewhere(req, res, domain.redirect404, pages.missing)
    if (guesses(req)) return sendPage(req, res, pages.missing)
    try {
      if (!(await serve(req, res))) miss(req, res, domain)
    } catch (error) {
      failed(req, res, error)
    }
  }

  return { handle, follow, send, below }
}

export const sendTo = (res: ServerResponse, url: string) => {
  res.writeHead(302, { Location: url, 'Cache-Control': 'private, no-store', 'Content-Length': 0 })
  res.end()
}

const cut = (text: string | undefined, length: number) => (text ?? '').slice(0, length)

const visitOf = (
  req: IncomingMessage,
  { account, link, revision }: Visited,
  { url, rule }: Pick<Destination, 'url' | 'rule'>,
  source: Source,
  hops: number,
): Visit => {
  const { headers } = req
  const purpose = `${String(headers['sec-purpose'] ?? '')} ${String(headers['purpose'] ?? '')} ${String(headers['x-moz'] ?? '')}`
  return {
    at: new Date().toISOString(),
    account,
    link,
    revision,
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
