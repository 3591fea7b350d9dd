import type { Interstitial, Target } from '../../queries/target.ts'
import { readAgent } from '../../visitor/agent.ts'
import { isCountry } from '../../visitor/country.ts'
import { primaryLanguage } from '../../visitor/language.ts'

/** Where a visitor is sent, and by which way; `rule` says which rule chose it, and stands in the click. */
export type Destination = {
  readonly to: 'destination'
  readonly url: string
  /** `link`, or the target that matched: `device:ios`, `location:canada`, `language:fr` */
  readonly rule: string
} & ({ readonly way: 'redirect' } | Shown)
/** What is shown on the way: only the pixels in it are fired. */
export interface Shown {
  readonly way: 'meta' | 'frame' | 'splash' | 'overlay' | 'pixels'
  readonly shows: Interstitial
}
export type Resolved = Destination | { readonly to: 'password' | 'expired' | 'loop' }

/** A visitor, as far as the rules ask; what costs is found out only when a rule asks. */
export interface Visitor {
  /** has shown the link's password within the hour */
  readonly unlocked: boolean
  readonly agent: string
  /** ISO 3166-1 alpha-2, `` when not known */
  readonly country: () => string
  /** primary subtags, most wanted first */
  readonly languages: () => readonly string[]
  /** the browser says that this person does not want to be tracked */
  readonly untracked: () => boolean
  /** came by https, where nothing that comes by http can be framed */
  readonly secure: () => boolean
}

type Rules = Target['device']

/** What a device target may be called, and whom it means. */
const devices: Readonly<Record<string, (agent: string) => boolean>> = {
  iphone: (agent) => /\b(?:iPhone|iPod)\b/.test(agent),
  ipad: (agent) => /\biPad\b/.test(agent),
  ios: (agent) => readAgent(agent).os.family === 'iOS',
  android: (agent) => readAgent(agent).os.family === 'Android',
  mobile: (agent) => readAgent(agent).device === 'mobile',
  tablet: (agent) => readAgent(agent).device === 'tablet',
  desktop: (agent) => readAgent(agent).device === 'desktop',
  windows: (agent) => readAgent(agent).os.family === 'Windows',
  mac: (agent) => readAgent(agent).os.family === 'macOS',
  linux: (agent) => readAgent(agent).os.family === 'Linux',
}
const isDevice = (name: string, agent: string) => {
  const means = Object.hasOwn(devices, name.toLowerCase()) ? devices[name.toLowerCase()] : undefined
  return means?.(agent) ?? false
}

/** The language that the visitor wants most of those that there are. */
const byLanguage = (rules: Rules, wanted: readonly string[]) => {
  for (const language of wanted) {
    const found = rules.find(({ name }) => primaryLanguage(name) === language)
    if (found) return found
  }
  return undefined
}

/** Device, location, language: the first that matches. A name that is not known never matches. */
const chosen = ({ device, location, language, url }: Target, visitor: Visitor): { url: string; rule: string } => {
  const as = (kind: string, found: Rules[number] | undefined) =>
    found && { url: found.url, rule: `${kind}:${found.name.toLowerCase()}` }
  const byDevice = () => device.find(({ name }) => isDevice(name, visitor.agent))
  const byLocation = () => {
    const country = visitor.country()
    return location.find(({ name }) => isCountry(name, country))
  }
  return (
    (device.length > 0 && as('device', byDevice())) ||
    (location.length > 0 && as('location', byLocation())) ||
    (language.length > 0 && as('language', byLanguage(language, visitor.languages()))) || { url, rule: 'link' }
  )
}

/** Appends to the query as it stands; the fragment stays last. */
const withParameters = (url: string, parameters: Target['parameters']) => {
  if (parameters.length === 0) return url
  const added = new URLSearchParams(parameters.map(({ name, value }): [string, string] => [name, value])).toString()
  const at = url.indexOf('#')
  const [address, fragment] = at < 0 ? [url, ''] : [url.slice(0, at), url.slice(at)]
  const joint = address.includes('?') ? (/[?&]$/.test(address) ? '' : '&') : '?'
  return `${address}${joint}${added}${fragment}`
}

/** Programs that draw cards read what the owner wrote for them; a person is shown the page, with the pixels that he lets be. */
const wayOf = (shows: Interstitial, url: string, visitor: Visitor): { readonly way: 'redirect' } | Shown => {
  const previews = readAgent(visitor.agent).class === 'preview'
  const pixels = shows.pixels.length === 0 || previews || visitor.untracked() ? [] : shows.pixels
  if (previews && shows.card) return { way: 'meta', shows: { ...shows, pixels } }
  const framed = shows.type !== 'frame' || url.startsWith('https:') || !visitor.secure()
  if (shows.type !== 'direct' && framed) return { way: shows.type, shows: { ...shows, pixels } }
  return pixels.length > 0 ? { way: 'pixels', shows } : { way: 'redirect' }
}

/** Decides where a visitor goes. Pure; the order is that of `decisions.md`, "The public side". */
export const resolve = (target: Target, visitor: Visitor, now: number, isOurs: (host: string) => boolean): Resolved => {
  if (target.expiry && target.expiry.getTime() <= now) return { to: 'expired' }
  if (target.password !== null && !visitor.unlocked) return { to: 'password' }
  const { url, rule } = chosen(target, visitor)
  // the address may have become one of ours after the link was made
  if (isOurs(new URL(url).hostname)) return { to: 'loop' }
  const to = withParameters(url, target.parameters)
  if (!target.interstitial) return { to: 'destination', url: to, rule, way: 'redirect' }
  return { to: 'destination', url: to, rule, ...wayOf(target.interstitial, to, visitor) }
}
