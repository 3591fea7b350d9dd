import type { Interstitial, Target } from '../../queries/target.ts'
import { readAgent } from '../../visitor/agent.ts'
import { isCountry } from '../../visitor/country.ts'
import { isDevice } from '../../visitor/device.ts'
import { primaryLanguage } from '../../visitor/language.ts'

/** Where a visitor is sent, and how. `rule` names the rule that chose it, and is recorded with the click. */
export type Destination = {
  readonly to: 'destination'
  readonly url: string
  /** `link`, or the target that matched: `device:ios`, `location:canada`, `language:fr` */
  readonly rule: string
} & ({ readonly way: 'redirect' } | Shown)
/** The page shown before the destination. Only the pixels in `interstitial` are fired. */
export interface Shown {
  readonly way: 'card' | 'frame' | 'splash' | 'overlay' | 'pixels'
  readonly interstitial: Interstitial
  /** its pixels are left out, because the browser asks not to be tracked */
  readonly untracked?: true
}
export type Resolved = Destination | { readonly to: 'password' | 'expired' | 'loop' }

/** What rules may ask about a visitor. Functions are called only when a rule needs them, because they cost a lookup. */
export interface Visitor {
  /** gave the link's password within the last hour */
  readonly unlocked: boolean
  readonly agent: string
  /** ISO 3166-1 alpha-2, an empty string when unknown */
  readonly country: () => string
  /** primary subtags, most preferred first */
  readonly languages: () => readonly string[]
  /** the browser sent Global Privacy Control or Do Not Track */
  readonly untracked: () => boolean
  /** uses https, where browsers do not frame http pages */
  readonly secure: () => boolean
}

type Rules = Target['device']

/** Returns the rule for the language that the visitor prefers among those of the rules. */
const byLanguage = (rules: Rules, preferred: readonly string[]) => {
  for (const language of preferred) {
    const found = rules.find(({ name }) => primaryLanguage(name) === language)
    if (found) return found
  }
  return undefined
}

/** Chooses by device, then location, then language: the first rule that matches. An unknown name never matches. */
const choose = ({ device, location, language, url }: Target, visitor: Visitor): { url: string; rule: string } => {
  const chosenBy = (kind: string, found: Rules[number] | undefined) =>
    found && { url: found.url, rule: `${kind}:${found.name.toLowerCase()}` }
  const byDevice = () => device.find(({ name }) => isDevice(name, visitor.agent))
  const byLocation = () => {
    const country = visitor.country()
    return location.find(({ name }) => isCountry(name, country))
  }
  return (
    (device.length > 0 && chosenBy('device', byDevice())) ||
    (location.length > 0 && chosenBy('location', byLocation())) ||
    (language.length > 0 && chosenBy('language', byLanguage(language, visitor.languages()))) || { url, rule: 'link' }
  )
}

/** Appends the parameters to the query without changing what is there; the fragment stays last. */
const withParameters = (url: string, parameters: Target['parameters']) => {
  if (parameters.length === 0) return url
  const added = new URLSearchParams(parameters.map(({ name, value }): [string, string] => [name, value])).toString()
  const at = url.indexOf('#')
  const [address, fragment] = at < 0 ? [url, ''] : [url.slice(0, at), url.slice(at)]
  const joint = address.includes('?') ? (/[?&]$/.test(address) ? '' : '&') : '?'
  return `${address}${joint}${added}${fragment}`
}

/** Previewers get the card that the owner wrote; a person gets the page, with pixels unless they asked not to be tracked. A frame that would stay empty becomes a redirect. */
const wayOf = (
  interstitial: Interstitial,
  url: string,
  refusesFrames: boolean,
  visitor: Visitor,
): { readonly way: 'redirect' } | Shown => {
  const isPreviewer = readAgent(visitor.agent).class === 'preview'
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

/** Decides where a visitor goes: expired before password before destination. Pure. `now` is in ms since 1970. */
export const resolve = (
  target: Target,
  visitor: Visitor,
  now: number,
  isOurHost: (host: string) => boolean,
): Resolved => {
  if (target.expiry && target.expiry.getTime() <= now) return { to: 'expired' }
  if (target.password !== null && !visitor.unlocked) return { to: 'password' }
  const { url, rule } = choose(target, visitor)
  // a branded domain that was added after the link would make it loop
  if (isOurHost(new URL(url).host)) return { to: 'loop' }
  const to = withParameters(url, target.parameters)
  if (!target.interstitial) return { to: 'destination', url: to, rule, way: 'redirect' }
  const refused = target.unframed.some((one) => one.url === url)
  return { to: 'destination', url: to, rule, ...wayOf(target.interstitial, to, refused, visitor) }
}
