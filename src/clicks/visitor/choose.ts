// Imports nothing: the dashboard previews the rules of a link with the code of the redirect.

/** Another destination for visitors of a device, a browser, a country or a language, by its name. */
interface Rule {
  readonly name: string
  readonly url: string
}
interface Variant {
  readonly id: number
  readonly url: string
  readonly weight: number
}
type RuleKind = 'device' | 'browser' | 'location' | 'language'

/** Rules that decide where a link leads. */
export interface Rules extends Readonly<Record<RuleKind, readonly Rule[]>> {
  readonly variants: readonly Variant[]
  /** for all other visitors */
  readonly url: string
}

/**
 * Facts about a visitor that rules need. Functions are called only when a rule needs them, because they cost a lookup.
 */
export interface VisitorFacts {
  /** whether the device has this name */
  readonly isDevice: (name: string) => boolean
  /** whether the browser has this name */
  readonly isBrowser: (name: string) => boolean
  /** ISO 3166-1 alpha-2, an empty string when unknown */
  readonly country: () => string
  /** `pt-BR`, `en`, …: most preferred first */
  readonly languages: () => Iterable<string>
  /** a number above 0 and below 1 for a variant of the link: any of them, but always the same for this visitor */
  readonly chance: (variant: number) => number
}

/** The meaning of names in rules. An unknown name matches nothing. */
export interface Names {
  /** whether a name means the country with this code */
  readonly isCountry: (name: string, code: string) => boolean
  /** how well a name fits the language that the visitor prefers: 0 is best, undefined is another language */
  readonly fitOf: (name: string, asked: string) => number | undefined
}

/** Returns the name of a rule, as it is recorded with clicks: `device:ios`, `browser:safari`, `location:canada`,
 * `language:fr`. */
export const ruleName = (kind: RuleKind, name: string): string => `${kind}:${name.toLowerCase()}`

/**
 * Returns the rule for the language that the visitor prefers among those of the rules: of those that fit the first
 * language at all, the one that fits best.
 */
const byLanguage = (rules: readonly Rule[], preferred: Iterable<string>, { fitOf }: Names) => {
  for (const language of preferred) {
    let [best, found] = [Infinity, undefined as Rule | undefined]
    for (const rule of rules) {
      const fit = fitOf(rule.name, language)
      if (fit === undefined || fit >= best) continue
      best = fit
      found = rule
    }
    if (found) return found
  }
  return undefined
}

/**
 * Splits visitors in proportion to the weights (weighted rendezvous hashing). While the weights stay, a visitor keeps
 * their variant; when they change, as few visitors as possible change theirs.
 */
const byChance = (variants: readonly Variant[], { chance }: VisitorFacts) => {
  let [best, found] = [Infinity, undefined as Variant | undefined]
  for (const variant of variants) {
    if (variant.weight === 0) continue
    const score = -Math.log(chance(variant.id)) / variant.weight
    if (score >= best) continue
    best = score
    found = variant
  }
  return found && { url: found.url, rule: `variant:${found.id}` }
}

/**
 * Chooses by device, then browser, then location, then language, then among the variants: the first rule that matches.
 * Returns its destination and its name, which is `link` where none matches, and `variant:2` for a variant.
 */
export const choose = (rules: Rules, visitor: VisitorFacts, names: Names): { url: string; rule: string } => {
  const { device, browser, location, language, variants, url } = rules
  const chosenBy = (kind: RuleKind, found: Rule | undefined) =>
    found && { url: found.url, rule: ruleName(kind, found.name) }
  const byDevice = () => device.find(({ name }) => visitor.isDevice(name))
  const byBrowser = () => browser.find(({ name }) => visitor.isBrowser(name))
  const byLocation = () => {
    const country = visitor.country()
    return location.find(({ name }) => names.isCountry(name, country))
  }
  return (
    (device.length > 0 && chosenBy('device', byDevice())) ||
    (browser.length > 0 && chosenBy('browser', byBrowser())) ||
    (location.length > 0 && chosenBy('location', byLocation())) ||
    (language.length > 0 && chosenBy('language', byLanguage(language, visitor.languages(), names))) ||
    (variants.length > 0 && byChance(variants, visitor)) || { url, rule: 'link' }
  )
}
