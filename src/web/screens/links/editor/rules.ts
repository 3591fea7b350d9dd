import { browserNames, isBrowser } from '../../../../clicks/visitor/browser.ts'
import { choose, type Names, ruleName, type VisitorFacts } from '../../../../clicks/visitor/choose.ts'
import { deviceNames, hasName } from '../../../../clicks/visitor/device.ts'
import { fitOf } from '../../../../clicks/visitor/range.ts'
import type { LinkDetails } from '../../../../http/links/contract/link.ts'
import { t } from '../../../core/alltexts.ts'
import { lang } from '../../../core/texts.ts'

export type RuleKind = 'device' | 'browser' | 'country' | 'language'
/** Another destination for some visitors. */
export interface Rule {
  readonly kind: RuleKind
  /** a device, a browser, an ISO code of a country, or a code of a language */
  readonly value: string
  readonly url: string
}

/** The order in which the service looks for a match. */
export const kinds: readonly RuleKind[] = ['device', 'browser', 'country', 'language']

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'.split('')
/** codes that browsers know, but no visitor comes from */
const noCountries = new Set(['EU', 'EZ', 'UN', 'QO', 'XA', 'XB', 'ZZ', 'AC', 'CP', 'CQ', 'DG', 'EA', 'IC', 'TA'])

const names = (type: 'region' | 'language', locale: string) => new Intl.DisplayNames(locale, { type, fallback: 'none' })

/** Returns ISO codes of countries with their names in a language, in alphabetical order. */
const countriesIn = (locale: string): readonly (readonly [code: string, name: string])[] => {
  const region = names('region', locale)
  return (
    letters
      .flatMap((one) => letters.map((other) => one + other))
      // one code for each country: UK is GB, and FX has been FR since 1997
      .filter((code) => !noCountries.has(code) && new Intl.Locale(`und-${code}`).region === code)
      .flatMap((code) => {
        const name = region.of(code)
        return name === undefined ? [] : [[code, name] as const]
      })
      .toSorted(([, a], [, b]) => a.localeCompare(b, locale))
  )
}

const common =
  'ar bg bn ca cs da de el en es et fa fi fr he hi hr hu id it ja ko lt lv ms nb nl pl pt ro ru sk sl sr sv ta th tr uk ur vi zh'

/** Returns what a rule of each kind can match, as a list for a select. */
export const choices = (kind: RuleKind): readonly (readonly [value: string, label: string])[] => {
  switch (kind) {
    case 'device':
      return deviceNames.map((name) => [name, t().devices[name]] as const)
    case 'browser':
      return browserNames.map((name) => [name, name] as const)
    case 'country':
      return countriesIn(lang.value)
    case 'language': {
      const language = names('language', lang.value)
      return common
        .split(' ')
        .map((code) => [code, language.of(code) ?? code] as const)
        .toSorted(([, a], [, b]) => a.localeCompare(b, lang.value))
    }
  }
}

const codeByName = () => new Map(countriesIn('en').map(([code, name]) => [name.toLowerCase(), code]))

/** Returns the name of a country in the language of the page, given its English name. */
export const countryNamed = (name: string): string => {
  const code = lang.value === 'en' ? undefined : codeByName().get(name.toLowerCase())
  return (code && names('region', lang.value).of(code)) ?? name
}

const browserNamed = (name: string) => browserNames.find((family) => isBrowser(name, family)) ?? name

/** Returns the rules of a link. Those that were made with the name of a country get its code. */
export const rulesOf = ({
  device,
  browser,
  location,
  language,
}: Pick<LinkDetails, 'device' | 'browser' | 'location' | 'language'>): readonly Rule[] => {
  const known = Object.keys(location).length > 0 ? codeByName() : new Map<string, string>()
  const country = (name: string) => known.get(name.toLowerCase()) ?? (name.length === 2 ? name.toUpperCase() : name)
  const all = <K extends RuleKind>(
    kind: K,
    targets: Readonly<Record<string, string>>,
    valueOf = (name: string) => name,
  ) => Object.entries(targets).map(([name, url]): Rule => ({ kind, value: valueOf(name), url }))
  return [
    ...all('device', device),
    ...all('browser', browser, browserNamed),
    ...all('country', location, country),
    ...all('language', language),
  ]
}

/** Returns the name of what a rule matches, as people read it. */
export const nameOfRule = ({ kind, value }: Pick<Rule, 'kind' | 'value'>): string => {
  const given = value.toLowerCase()
  return choices(kind).find(([code]) => code.toLowerCase() === given)?.[1] ?? value
}

/** A visitor, as the tester imagines one. */
export interface Visitor {
  readonly country: string
  readonly device: keyof ReturnType<typeof t>['editor']['testers']
  readonly browser: string
  readonly language: string
}

/** What the service reads in the user agent of each visitor of the tester. */
const traits: Readonly<Record<Visitor['device'], { os: string; device: string; models?: readonly string[] }>> = {
  iphone: { os: 'iOS', device: 'mobile', models: ['iphone'] },
  ipad: { os: 'iOS', device: 'tablet', models: ['ipad'] },
  androidPhone: { os: 'Android', device: 'mobile' },
  androidTablet: { os: 'Android', device: 'tablet' },
  windows: { os: 'Windows', device: 'desktop' },
  mac: { os: 'macOS', device: 'desktop' },
  linux: { os: 'Linux', device: 'desktop' },
}
const factsOf = ({ country, device, browser, language }: Visitor): VisitorFacts => {
  const { os, device: form, models = [] } = traits[device]
  return {
    isDevice: (name) => hasName(name, { os: () => os, device: () => form, models: () => models }),
    isBrowser: (name) => isBrowser(name, browser),
    country: () => country,
    languages: () => [language],
    chance: () => 0.5,
  }
}

/** The rules of a form have codes of countries and languages. */
const codes: Names = {
  isCountry: (name, code) => name.toUpperCase() === code,
  fitOf,
}

/** How the service calls the kinds of rules. */
const kindNames = { device: 'device', browser: 'browser', country: 'location', language: 'language' } as const

/** Returns the place of the rule that decides where a visitor goes, in the list; undefined: none matches. */
export const decidingRule = (rules: readonly Rule[], visitor: Visitor): number | undefined => {
  const of = (wanted: RuleKind) =>
    rules.flatMap(({ kind, value, url }) => (kind === wanted && value !== '' ? [{ name: value, url }] : []))
  const { rule } = choose(
    {
      device: of('device'),
      browser: of('browser'),
      location: of('country'),
      language: of('language'),
      variants: [],
      url: '',
    },
    factsOf(visitor),
    codes,
  )
  const place = rules.findIndex(({ kind, value }) => ruleName(kindNames[kind], value) === rule)
  return place < 0 ? undefined : place
}
