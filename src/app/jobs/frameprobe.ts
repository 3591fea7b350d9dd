import QuickLRU from 'quick-lru'
import { getDomain } from 'tldts'
import type { GuardedProbe } from '../../lib/fetch.ts'
import { type FramingReason, framingRefusal, mayRedirect } from '../../lib/framing.ts'

/**
 * What a destination says about frames on pages of an embedder: null when it allows them, `unknown` when it gave no
 * answer that visitors would get too, and `later` when its site has been asked often enough for now, or the signal has
 * aborted.
 */
export type Verdict = FramingReason | null | 'unknown' | 'later'
export type FrameProbe = (destination: string, embedder: string, signal?: AbortSignal) => Promise<Verdict>

export interface FrameProbeOptions {
  readonly probe: GuardedProbe
  readonly now?: () => number
}

/** requests to the hosts of one registered domain in a minute, so that an account cannot have us flood a site */
const perSite = 10
const minute = 60_000
/** as many redirects as a site usually needs from its bare name to a page */
const maxRedirects = 5

/** Returns where a redirect leads; undefined when it leads nowhere. */
const locationOf = (location: string | undefined, url: URL) => {
  try {
    return location === undefined ? undefined : new URL(location, url.href)
  } catch {
    return undefined
  }
}

interface Wanted {
  readonly destination: string
  readonly embedder: string
  readonly signal: AbortSignal | undefined
}
type Answer = Awaited<ReturnType<GuardedProbe>> | 'later'

/** Creates a probe of destinations that sends a site a few requests a minute, and the same one once a minute. */
export const createFrameProbe = ({ probe, now = Date.now }: FrameProbeOptions): FrameProbe => {
  const answers = new QuickLRU<string, { readonly until: number; readonly answer: Promise<Answer> }>({ maxSize: 1000 })
  const asked = new QuickLRU<string, { readonly until: number; readonly count: number }>({ maxSize: 10_000 })

  const mayAsk = ({ hostname }: URL) => {
    const site = getDomain(hostname) ?? hostname
    const before = asked.get(site)
    const current = before && before.until > now() ? before : { until: now() + minute, count: 0 }
    asked.set(site, { ...current, count: current.count + 1 })
    return current.count < perSite
  }
  const ask = (url: URL, signal: AbortSignal | undefined): Promise<Answer> => {
    const known = answers.get(url.href)
    if (known && known.until > now()) return known.answer
    if (!mayAsk(url)) return Promise.resolve('later')
    const answer = probe(url.href, signal)
    answers.set(url.href, { until: now() + minute, answer })
    return answer
  }

  const follow = async (wanted: Wanted, url: URL, redirects = maxRedirects): Promise<Verdict> => {
    const { destination, embedder, signal } = wanted
    if (signal?.aborted) return 'later'
    const answer = await ask(url, signal)
    // a request that was ended says nothing
    if (answer === 'later' || signal?.aborted) return 'later'
    if (!answer) return 'unknown'
    const { status, headers } = answer
    if (status >= 200 && status < 300) return framingRefusal(headers, url.href, embedder) ?? null
    const next = status >= 300 && status < 400 ? locationOf(headers.location, url) : undefined
    // an error may concern us only: many sites send programs something else than visitors
    if (!next || redirects === 0) return 'unknown'
    return mayRedirect(destination, next, embedder) ? follow(wanted, next, redirects - 1) : 'redirect'
  }

  return (destination, embedder, signal) => follow({ destination, embedder, signal }, new URL(destination))
}
