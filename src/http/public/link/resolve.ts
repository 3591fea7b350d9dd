import type { Interstitial, Target } from '../../../queries/links/target.ts'
import { type Agent, readAgent } from '../../../clicks/visitor/agent.ts'
import { choose, type VisitorFacts } from '../../../clicks/visitor/choose.ts'
import { isCountry } from '../../../clicks/visitor/country.ts'
import { fitOf } from '../../../clicks/visitor/range.ts'
import { isWeb } from '../../../lib/schemes.ts'
import { urlLimit } from '../../../lib/url.ts'
import { withRest } from './rest.ts'
import { withForwarded, withQuery } from './forward.ts'

/** Where a visitor is sent, and how. `rule` names the rule that chose it, and is recorded with the click. */
export type Destination = {
  readonly to: 'destination'
  readonly url: string
  /**
   * `link`, the target that matched (`device:ios`, `browser:safari`, `location:canada`, `language:fr`), or the variant
   * by its id (`variant:2`)
   */
  readonly rule: string
  /** what is recorded instead of `url`: without the query that the visitor brought, which may be personal */
  readonly recorded?: string
} & ({ readonly way: 'redirect' } | ShownPage)
/** The page shown before the destination. Only the pixels in `interstitial` are fired. */
export interface ShownPage {
  readonly way: 'card' | 'frame' | 'splash' | 'overlay' | 'pixels'
  readonly interstitial: Interstitial
  /** its pixels are left out, because the browser asks not to be tracked */
  readonly untracked?: true
}
/** A link that leads to no destination at this time. */
export type Closed =
  /** `used-up`: it has had as many clicks as its owner allows */
  | { readonly to: 'not-started' | 'expired' | 'used-up' }
  /** it has ended, and its owner has another place for its visitors */
  | { readonly to: 'instead'; readonly url: string }
export type Resolved = Destination | Closed | { readonly to: 'password' | 'loop' }

/** What decides where a visitor goes. Functions are called only when a link needs them. */
export interface Visitor extends VisitorFacts {
  /** gave the link's password within the last hour */
  readonly unlocked: boolean
  readonly agent: string
  /** the browser sent Global Privacy Control or Do Not Track */
  readonly untracked: () => boolean
  /** uses https, where browsers do not frame http pages */
  readonly secure: () => boolean
  /** the query of the request, without its question mark */
  readonly query: () => string
  /** what follows the alias in its path */
  readonly rest?: string
}

const names = { isCountry, fitOf }

/** Appends the parameters of a link. What the destination has already stays, and is not sent twice. */
const withParameters = (url: string, parameters: Target['parameters']) => {
  if (parameters.length === 0) return url
  const own = url.includes('?') ? new URL(url).searchParams : undefined
  const added = parameters.filter(({ name }) => !own?.has(name))
  const query = new URLSearchParams(added.map(({ name, value }): [string, string] => [name, value]))
  return added.length === 0 ? url : withQuery(url, query.toString())
}

/** Returns a destination with the rest of the path, before the parameters of the link. */
const withPath = ({ forward_path, parameters }: Target, url: string, own: string, rest: string) =>
  forward_path ? withParameters(withRest(url, rest), parameters) : own

/** The classes of programs that show a page to a person: they get the card that the owner wrote. */
const shownCards: ReadonlySet<string> = new Set<Agent['class']>(['preview', 'assistant'])

/**
 * Previewers and assistants get the card that the owner wrote; a person gets the page, with pixels unless they asked
 * not to be tracked. A frame that would stay empty becomes a redirect.
 */
const wayOf = (
  interstitial: Interstitial,
  url: string,
  refusesFrames: boolean,
  visitor: Visitor,
): { readonly way: 'redirect' } | ShownPage => {
  const isPreviewer = shownCards.has(readAgent(visitor.agent).class)
  const untracked = interstitial.pixels.length > 0 && !isPreviewer && visitor.untracked()
  const shown = {
    interstitial: { ...interstitial, pixels: isPreviewer || untracked ? [] : interstitial.pixels },
    ...(untracked && { untracked }),
  }
  if (isPreviewer && interstitial.card) return { way: 'card', ...shown }
  const { type } = interstitial
  const loads = type !== 'frame' || url.startsWith('https:') || !visitor.secure()
  const refused = refusesFrames && (type === 'frame' || type === 'overlay')
  if (type !== 'direct' && loads && !refused) return { way: type, ...shown }
  return shown.interstitial.pixels.length > 0 ? { way: 'pixels', ...shown } : { way: 'redirect' }
}

/** Returns how a link has ended: with a page, or a redirect unless it has become one to ourselves. */
const ended = (
  to: 'expired' | 'used-up',
  { expired_url: url }: Target,
  isOurHost: (host: string) => boolean,
): Closed => (url === '' || isOurHost(new URL(url).host) ? { to } : { to: 'instead', url })

/** Returns how a link is closed, undefined when it leads somewhere. `clicks` are those that it has had so far. */
export const closedAt = (
  target: Target,
  now: number,
  isOurHost: (host: string) => boolean,
  clicks: number,
): Closed | undefined => {
  if (target.starts && target.starts.getTime() > now) return { to: 'not-started' }
  if (target.expiry && target.expiry.getTime() <= now) return ended('expired', target, isOurHost)
  if (target.max_clicks !== null && clicks >= target.max_clicks) return ended('used-up', target, isOurHost)
  return undefined
}

/**
 * Decides where a visitor goes: not started before ended before password before destination. Pure. `now` is in ms since
 * 1970, `clicks` are those that the link has had so far, if it has a maximum.
 */
export const resolve = (
  target: Target,
  visitor: Visitor,
  now: number,
  isOurHost: (host: string) => boolean,
  clicks = 0,
): Resolved => {
  const closed = closedAt(target, now, isOurHost, clicks)
  if (closed) return closed
  if (target.password !== null && !visitor.unlocked) return { to: 'password' }
  const { url, rule } = choose(target, visitor, names)
  // another program opens it, which knows neither pages nor parameters
  if (!isWeb(url)) return { to: 'destination', url, rule, way: 'redirect' }
  // a branded domain that was added after the link would make it loop
  if (isOurHost(new URL(url).host)) return { to: 'loop' }
  const own = withParameters(url, target.parameters)
  const to = target.forward ? withForwarded(withPath(target, url, own, visitor.rest ?? ''), visitor.query()) : own
  // each visit is in the log for good; the revision that it names has the parameters
  const recorded = own.length > urlLimit ? url : own
  // the way of most visits
  if (!target.interstitial && to === recorded) return { to: 'destination', url: to, rule, way: 'redirect' }
  const chosen = { to: 'destination' as const, url: to, rule, ...(to !== recorded && { recorded }) }
  if (!target.interstitial) return { ...chosen, way: 'redirect' }
  const refused = target.unframed.some((one) => one.url === url)
  return { ...chosen, ...wayOf(target.interstitial, to, refused, visitor) }
}
