import { withoutScheme } from '../../core/address.ts'
import type { ClickLine } from '../../../http/streams/contract.ts'
import { at, withQuery } from '../../core/router.ts'
import { countryName, languageName } from '../../core/names.ts'
import { service } from '../../core/session.ts'
import { t, textFor } from '../../core/texts.ts'

/** What clicks can be filtered by, as the API names it. */
export const dimensions = [
  'country',
  'referrer',
  'medium',
  'device',
  'browser',
  'os',
  'language',
  'source',
  'rule',
  'variant',
  'class',
] as const
export type Dimension = (typeof dimensions)[number]
/** A list can also contain links. Each link has its own screen. */
export type Listed = Dimension | 'link'

/** Returns the values that a dimension is filtered by; the address of the page has them. */
export const filterOf = (dimension: Dimension | 'classes'): readonly string[] =>
  (at.value.query.get(dimension) ?? '').split(',').filter(Boolean)

/** Returns the filters, as a query of the API, and which classes count. */
export const filterQuery = (): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [...dimensions, 'classes' as const].flatMap((name) => {
      const values = filterOf(name)
      return values.length === 0 ? [] : [[name, values.join()]]
    }),
  )

export const isFiltered = (): boolean => dimensions.some((name) => filterOf(name).length > 0)

/** Returns the address of this screen with a value added to a filter, or removed if it is there. */
export const toggled = (dimension: Dimension, value: string): string => {
  const before = filterOf(dimension)
  const after = before.includes(value) ? before.filter((one) => one !== value) : [...before, value]
  return withQuery({ [dimension]: after.join() || undefined })
}

export const withoutFilters = (): string => withQuery(Object.fromEntries(dimensions.map((name) => [name, undefined])))

const deviceName = (device: string): string | undefined => textFor(t().devices, device)

/** What the kinds of rules match. */
const ruleDimensions: Readonly<Record<string, 'country' | 'device' | 'browser' | 'language'>> = {
  location: 'country',
  device: 'device',
  browser: 'browser',
  language: 'language',
}

/** Returns what people call a value. `name` is what the service calls it. */
export const nameOf = (dimension: Listed, value: string, name = value): string => {
  const { by, stats } = t()
  if (value === 'none') return dimension === 'referrer' ? by.direct : dimension === 'variant' ? by.none : by.unknown
  if (dimension === 'country') return countryName(value)
  if (dimension === 'language') return languageName(value)
  if (dimension === 'device') return deviceName(value) ?? name
  if (dimension === 'medium') return textFor(stats.media, value) ?? name
  if (dimension === 'source') return textFor(stats.sources, value) ?? name
  if (dimension === 'class') return textFor(stats.classes, value) ?? name
  if (dimension === 'rule') return ruleName(value)
  // the host of the service says nothing: most links have it
  const path = name.startsWith(`${service.baseUrl}/`) ? name.slice(service.baseUrl.length) : name
  return withoutScheme(path) || value
}

/** Returns what people call where a visit came from: its site, or how it came when no site is known. */
export const cameFrom = (referrer: string, medium = ''): string =>
  referrer || !medium ? nameOf('referrer', referrer || 'none') : nameOf('medium', medium)

/** `location:de` is what the service calls a rule. */
const ruleName = (rule: string): string => {
  const { stats } = t()
  const [kind = '', value = ''] = rule.split(':')
  const by = ruleDimensions[kind]
  if (by)
    return `${stats.filters[by]}: ${nameOf(by, by === 'country' && value.length === 2 ? value.toUpperCase() : value)}`
  const known = textFor(stats.rules, kind)
  return known === undefined ? rule : `${known}${value && ` ${value}`}`
}

const valueOf: Readonly<Record<Dimension, (click: ClickLine) => string>> = {
  country: ({ country }) => country,
  referrer: ({ referrer }) => referrer,
  medium: ({ medium }) => medium ?? '',
  device: ({ device }) => device,
  browser: ({ browser }) => browser.family,
  os: ({ os }) => os.family,
  language: ({ language }) => language,
  source: ({ source }) => source.kind,
  rule: ({ rule }) => rule,
  variant: ({ rule }) => /^variant:(\d+)$/.exec(rule)?.[1] ?? '',
  class: (click) => click.class,
}

/** Whether a click passes the filters. Without a filter of kinds, people pass. */
export const passes = (click: ClickLine): boolean =>
  dimensions.every((name) => {
    const wanted = filterOf(name)
    if (wanted.length === 0) return name !== 'class' || click.class === 'human'
    return wanted.includes(valueOf[name](click) || 'none')
  })
