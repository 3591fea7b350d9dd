import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Visit } from '../../../clicks/visit.ts'
import { isLoadAhead } from '../../../clicks/visitor/loadahead.ts'
import type { Target } from '../../../queries/links/target.ts'
import { otherSchemesOf } from '../../../commands/links/link.ts'
import type { Blocks } from '../../../cache/blocks.ts'
import { type ClickCounts, isExact } from '../../../cache/clickcounts.ts'
import { Unavailable } from '../../../lib/unavailable.ts'
import { withRequestedHost } from '../../api/ownaddress.ts'
import { answerForm } from '../overlay/signed.ts'
import { blockedPage, withoutBlocked } from '../blocked.ts'
import { interstitialPage, peoplePage } from '../interstitial/interstitials.ts'
import type { PixelConsent } from '../interstitial/measure.ts'
import type { Missed } from './misses.ts'
import { endedPage, pages } from '../page/messages.ts'
import { passwordPage } from '../password/page.ts'
import { createPasswordForm, type PasswordFormOptions } from '../password/form.ts'
import { type Closed, closedAt, type Destination, resolve, type Resolved, type ShownPage } from './resolve.ts'
import { type MaybeLater, redirectTo } from '../responses.ts'
import { isUnlocked } from '../password/unlock.ts'
import {
  type Chosen,
  isOpened,
  isPerson,
  readVisit,
  readVisitor,
  type Source,
  type Visited,
  type VisitorOptions,
} from './visit.ts'

export interface FollowOptions extends PasswordFormOptions, VisitorOptions {
  /** Returns a link with the interstitial it has now, also while the tables are behind. */
  readonly current: (target: Target) => Promise<Target>
  readonly isOurHost: (host: string) => boolean
  readonly blocks: Blocks
  readonly clickCounts: ClickCounts
  readonly missed: Pick<Missed, 'link' | 'head'>
  /** Responds as for an address that has no link, and counts the request unless the client has guessed too often. */
  readonly sendNotStarted: (req: IncomingMessage, res: ServerResponse, target: Target) => void
  /** Returns the address of the owner's own site, when the request's domain has one. */
  readonly siteOf: (req: IncomingMessage) => string | undefined
  /** Whether a request is for a branded domain, where the dashboard has no session. */
  readonly isBranded: (req: IncomingMessage) => boolean
  readonly pixelConsent: PixelConsent
  /**
   * Resolves once a killed process can no longer lose the visit, or only with a trace. With `mustBeWritten`, false says
   * that the disk does not take it.
   */
  readonly recordVisit: (visit: Visit, mustBeWritten: boolean) => Promise<boolean>
  /** the clock that links begin and end by, in ms since 1970 */
  readonly now: () => number
}

export interface Follow {
  /** Records a visit, unless the request only asks for headers, then answers. */
  readonly record: (
    req: IncomingMessage,
    visited: Visited,
    chosen: Chosen,
    source: Source,
    answer: () => void,
  ) => MaybeLater
  /** Whether a link leads visitors somewhere now, unless the operator blocks it. */
  readonly isOpen: (target: Target) => Promise<boolean>
  /** Answers a request for a link as its own short address does. `rest` follows the alias in the path. */
  readonly follow: (
    req: IncomingMessage,
    res: ServerResponse,
    target: Target,
    source: Source,
    rest?: string,
  ) => MaybeLater
  /** Records the visit, then redirects the visitor. */
  readonly send: (
    req: IncomingMessage,
    res: ServerResponse,
    visited: Visited,
    chosen: Chosen,
    source: Source,
  ) => MaybeLater
}

const closed: ReadonlySet<string> = new Set<Closed['to']>(['not-started', 'expired', 'used-up', 'instead'])
const isClosed = (resolved: Resolved): resolved is Closed => closed.has(resolved.to)

/** Returns what shows the page of a link. The page leads to the destination itself, so that the visit counts once. */
const createShow =
  ({ sendPage, pepper, blocks, secureCookies, pixelConsent, isBranded }: FollowOptions, record: Follow['record']) =>
  (req: IncomingMessage, res: ServerResponse, target: Target, chosen: Destination & ShownPage, source: Source) => {
    const { url } = chosen
    const interstitial = withoutBlocked(chosen.interstitial, blocks)
    const form =
      interstitial.overlay && answerForm(pepper, interstitial.overlay.id, { link: target.link, to: url }, Date.now())
    const page = { secure: secureCookies(), form, consent: pixelConsent, apart: !isBranded(req) }
    return record(req, target, chosen, source, () =>
      sendPage(req, res, interstitialPage({ ...chosen, interstitial }, url, page)),
    )
  }

/**
 * Returns what answers a program at a link that lets so many people through. It does not learn where the link leads:
 * anybody can look like a program, and would read it without using the link up.
 */
const createHold =
  ({ sendPage, blocks }: FollowOptions, record: Follow['record']) =>
  (req: IncomingMessage, res: ServerResponse, target: Target, chosen: Chosen, source: Source) => {
    const { interstitial } = target
    const shown = interstitial && withoutBlocked(interstitial, blocks)
    return record(req, target, chosen, source, () =>
      sendPage(req, res, peoplePage(shown, isLoadAhead(req.headers) ? 503 : 200)),
    )
  }

/** Returns what records a visit before it is answered. */
const createRecord = ({ clickCounts, recordVisit, notCounted, missed, trustProxy }: FollowOptions) => {
  const record: Follow['record'] = (req, visited, chosen, source, answer) => {
    if (req.method !== 'GET') {
      missed.head(visited.account)
      notCounted('head')
      return answer()
    }
    const visit = readVisit(req, visited, chosen, source, trustProxy)
    // before anything is awaited: the next visitor must not take the same place
    const admitted = isExact(visited.max_clicks) && isPerson(visit) ? clickCounts.admit(visit.link) : undefined
    return recordVisit(visit, admitted !== undefined).then((isKept) => {
      admitted?.(isKept)
      if (!isKept) throw new Unavailable('the disk takes no visits, which a link with a maximum of them has to have')
      answer()
    })
  }

  const send: Follow['send'] = (req, res, visited, chosen, source) =>
    record(req, visited, chosen, source, () => redirectTo(res, chosen.url))
  return { record, send }
}

/** Returns what leads a visitor from a link to its destination: at once, or by a page. */
const createLead = (options: FollowOptions, record: Follow['record'], send: Follow['send']) => {
  const [show, hold] = [createShow(options, record), createHold(options, record)]
  return (req: IncomingMessage, res: ServerResponse, target: Target, chosen: Destination, source: Source) => {
    if (isExact(target.max_clicks) && !isOpened(req)) return hold(req, res, target, chosen, source)
    return chosen.way === 'redirect' ? send(req, res, target, chosen, source) : show(req, res, target, chosen, source)
  }
}

/**
 * How a visitor gets from a link to its destination: resolve, record the visit, respond. A plain link waits for nothing
 * but the spool.
 */
export const createFollow = (options: FollowOptions): Follow => {
  const { sendPage, current, pepper, siteOf, isOurHost, blocks, clickCounts, notCounted, missed, secureCookies } =
    options
  const postPassword = createPasswordForm(options)

  const { record, send } = createRecord(options)
  const lead = createLead(options, record, send)

  /** Returns how many clicks a link has had so far, if it has a maximum. */
  const clicksOf = ({ max_clicks: most, link }: Target) => (most === null ? 0 : clickCounts.of(link))

  const isOpen: Follow['isOpen'] = async (target) => {
    if (target.max_clicks !== null) await clickCounts.refresh(target.link, isExact(target.max_clicks))
    return closedAt(target, options.now(), isOurHost, clicksOf(target)) === undefined
  }

  const sendBlocked = (req: IncomingMessage, res: ServerResponse, target: Target) => {
    notCounted('blocked')
    missed.link(req, target, 'blocked')
    sendPage(req, res, blockedPage)
  }

  const sendClosed = (req: IncomingMessage, res: ServerResponse, target: Target, resolved: Closed) => {
    if (resolved.to === 'instead' && blocks.destination(resolved.url)) return sendBlocked(req, res, target)
    if (resolved.to === 'not-started') return options.sendNotStarted(req, res, target)
    missed.link(req, target, 'ended')
    if (resolved.to === 'instead') return redirectTo(res, resolved.url)
    sendPage(req, res, endedPage(resolved.to === 'expired' ? target.expiry : null, siteOf(req)))
  }

  /** Nothing in it is awaited up to the place that a visitor takes. */
  const followNow = (req: IncomingMessage, res: ServerResponse, target: Target, source: Source, rest: string) => {
    const now = options.now()
    const { link, password } = target
    const unlocked = password === null || isUnlocked(req, pepper, { link, password }, now, secureCookies())
    const visitor = readVisitor(req, link, { unlocked, rest }, options)
    const resolved = resolve(target, visitor, now, withRequestedHost(req, isOurHost), clicksOf(target))
    if (isClosed(resolved)) return sendClosed(req, res, target, resolved)
    if (req.method === 'POST') return postPassword(req, res, target)
    switch (resolved.to) {
      case 'destination':
        if (blocks.destination(resolved.url)) return sendBlocked(req, res, target)
        return lead(req, res, target, resolved, source)
      case 'password':
        return sendPage(req, res, passwordPage({ wrong: false, schemes: otherSchemesOf(target) }))
      case 'loop':
        return sendPage(req, res, pages.loop)
    }
  }

  /** Returns a link as it is now, once it is known how many clicks it has had if they count. */
  const refreshed = async (found: Target) => {
    const target = found.interstitial ? await current(found) : found
    if (target.max_clicks !== null) await clickCounts.refresh(target.link, isExact(target.max_clicks))
    return target
  }

  const follow: Follow['follow'] = (req, res, found, source, rest = '') => {
    if (blocks.link(found.link)) return sendBlocked(req, res, found)
    if (!found.interstitial && found.max_clicks === null) return followNow(req, res, found, source, rest)
    return refreshed(found).then((target) => followNow(req, res, target, source, rest))
  }

  return { follow, send, record, isOpen }
}
