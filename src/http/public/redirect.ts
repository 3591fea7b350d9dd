import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Domains } from '../../cache/domains.ts'
import type { Targets } from '../../cache/targets.ts'
import type { Target } from '../../queries/links/target.ts'
import { type BioOptions, createBioPages } from './bio/bio.ts'
import { blockedPage, createBlockedAddress } from './blocked.ts'
import { createBudget, missLimit } from './budget.ts'
import { asWritten } from './path.ts'
import { createServeExact } from './link/exact.ts'
import { createFollow, type Follow, type FollowOptions } from './link/follow.ts'
import { withValues } from './link/rest.ts'
import { createServeAlias, type Send, type Serving } from './link/serve.ts'
import { createMissed, type MissedOptions } from './link/misses.ts'
import { homePage, mainHomePage, pages, tooManyRequestsPage } from './page/messages.ts'
import { createFallbacks, type FallbackOptions, type Fallbacks, type PublicHandler } from './responses.ts'

export interface RedirectOptions
  extends
    Omit<FollowOptions, 'siteOf' | 'sendNotStarted' | 'missed' | 'isBranded'>,
    Pick<FallbackOptions, 'log' | 'outages'>,
    Pick<MissedOptions, 'misses' | 'baseUrl'>,
    Pick<BioOptions, 'pageTurn'> {
  readonly targets: Targets
  readonly domains: Domains
  readonly isMainHost: (host: string) => boolean
}

/** Answers a request, or returns false when there is nothing at its address. */
export type Serve = (req: IncomingMessage, res: ServerResponse) => Promise<boolean>

export interface Redirect extends Pick<Follow, 'follow' | 'send' | 'isOpen'>, Pick<Fallbacks, 'sendFailure'> {
  /** Answers a request for any short address. */
  readonly handle: PublicHandler
  /**
   * Returns a handler for addresses below a prefix such as `/qr/`, with the error pages and the limit on guessing of
   * all public addresses. They exist on the service's own host, and on branded domains only when `everywhere` is set.
   */
  readonly withPrefix: (serve: Serve, everywhere?: boolean) => PublicHandler
}

/** an alias, and for a bio page the id of an entry; with or without a slash at the end */
const aliasPath = /^\/([A-Za-z0-9][A-Za-z0-9_-]{0,63})(?:\/([1-9]\d{0,8}))?\/?(?:\?|$)/
/** an alias, and more of a path behind it */
const longPath = /^\/([A-Za-z0-9][A-Za-z0-9_-]{0,63})\/[^?#]/
const methods: ReadonlySet<string | undefined> = new Set(['GET', 'HEAD', 'POST'])

/** Returns what answers requests for addresses that lead nowhere, and counts them. */
const createSendMisses = (options: RedirectOptions, sendFallback: Fallbacks['sendFallback']) => {
  const { sendPage, trustProxy } = options
  const missed = createMissed(options)
  const spendMiss = createBudget(missLimit, trustProxy)
  const sendNotFound: Send = (req, res, domain) => sendFallback(req, res, domain?.redirect404, pages.notFound)
  const sendBlocked: Send = (req, res, domain) => {
    // the host of a deleted domain has no owner
    if (domain) missed.address(req, domain, 'blocked')
    sendPage(req, res, blockedPage)
  }
  const sendUnknown: Send = (req, res, domain) => {
    missed.address(req, domain, 'unknown')
    sendNotFound(req, res, domain)
  }
  /** A program that guesses is stopped, and its guesses beyond the limit are not counted. */
  const limited =
    (answer: Send): Send =>
    (req, res, domain) => {
      const wait = spendMiss(req)
      if (wait > 0) sendPage(req, res, tooManyRequestsPage(wait))
      else answer(req, res, domain)
    }
  /** A link that has not begun looks like an address without one. */
  const sendNotStarted = (target: Target): Send =>
    limited((req, res, domain) => {
      missed.link(req, target, 'not_started')
      sendNotFound(req, res, domain)
    })
  const isBlockedAddress = createBlockedAddress(options)
  const sendIfBlocked: Serving['sendIfBlocked'] = (req, res, domain, alias) => {
    if (!isBlockedAddress(req.headers.host ?? '', alias)) return false
    options.notCounted('blocked')
    missed.blocked(req, domain, alias)
    sendPage(req, res, blockedPage)
    return true
  }
  return { missed, sendBlocked, sendIfBlocked, sendUnknown, sendMiss: limited(sendUnknown), sendNotStarted }
}

/**
 * Creates the public side, served without Koa: find the target of a short address, resolve it, record the visit,
 * respond.
 */
export const createRedirect = (options: RedirectOptions): Redirect => {
  const { sendPage, domains, isMainHost, blocks } = options
  const domainOf = ({ headers }: IncomingMessage) => domains.byHost(headers.host ?? '')
  const siteOf = (req: IncomingMessage) => {
    const site = domainOf(req)?.redirectroot
    return site && (blocks.destination(site) ? undefined : withValues(site, { path: '', host: '', query: '' }))
  }
  const { sendFallback, sendFailure } = createFallbacks(options)
  const misses = createSendMisses(options, sendFallback)
  const { missed, sendBlocked, sendIfBlocked, sendUnknown, sendMiss, sendNotStarted } = misses

  /**
   * By the host alone: a blocked domain that its owner has deleted would else show what its addresses are on the
   * service's own host.
   */
  const isBlocked = ({ headers: { host = '' } }: IncomingMessage) => blocks.domain(host) && !isMainHost(host)
  const following = createFollow({
    ...options,
    siteOf,
    missed,
    isBranded: (req) => domainOf(req) !== undefined,
    sendNotStarted: (req, res, target) => sendNotStarted(target)(req, res, domainOf(req)),
  })
  const { follow, send, isOpen } = following
  const bioPages = createBioPages({ ...options, ...following })

  const serving = { ...options, ...misses, follow, bioPages }
  const [serveAlias, serveExact] = [createServeAlias(serving), createServeExact(serving)]

  const handle: PublicHandler = (req, res) => {
    const { method, url = '' } = req
    if (!methods.has(method)) return sendPage(req, res, pages.methodNotAllowed)
    const domain = domainOf(req)
    if (isBlocked(req)) return sendBlocked(req, res, domain)
    if (url === '/' || url.startsWith('/?'))
      return sendFallback(req, res, domain?.redirectroot, isMainHost(req.headers.host ?? '') ? mainHomePage : homePage)
    const fail = (error: unknown) => sendFailure(req, res, error)
    if (domain?.exact) return serveExact(req, res, domain).catch(fail)
    const short = aliasPath.exec(url) ?? aliasPath.exec(asWritten(url))
    const [, alias, entry] = short ?? longPath.exec(url) ?? []
    if (alias === undefined) return sendUnknown(req, res, domain)
    if (sendIfBlocked(req, res, domain, alias)) return
    try {
      const hasRest = short === null || entry !== undefined
      return serveAlias(req, res, domain, alias.toLowerCase(), entry, hasRest)?.catch(fail)
    } catch (error) {
      fail(error)
    }
  }

  const withPrefix: Redirect['withPrefix'] = (serve, everywhere) => async (req, res) => {
    const domain = domainOf(req)
    if (isBlocked(req)) return sendBlocked(req, res, domain)
    if (domain && !everywhere) return sendUnknown(req, res, domain)
    try {
      if (!(await serve(req, res))) sendMiss(req, res, domain)
    } catch (error) {
      sendFailure(req, res, error)
    }
  }

  return { handle, follow, send, isOpen, sendFailure, withPrefix }
}
