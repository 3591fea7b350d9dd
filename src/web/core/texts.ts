import { signal } from '@preact/signals'
import { en, type Texts } from '../texts/en/index.ts'

export type { Texts } from '../texts/en/index.ts'

/** A text around a number, in the two forms that our languages have. */
export interface Plural {
  readonly one: string
  readonly other: string
}

/** The languages besides English are loaded when somebody reads them. */
const others: Readonly<Record<string, () => Promise<Texts>>> = {
  de: async () => (await import('../texts/de/index.ts')).de,
  es: async () => (await import('../texts/es/index.ts')).es,
  fr: async () => (await import('../texts/fr/index.ts')).fr,
}

const texts = signal<Texts>(en)
/** The language of the page. */
export const lang = signal('en')
/** How the language writes dates and figures. English has the day before the month here, as most of its readers outside of America do. */
export const locale = (): string => (lang.value === 'en' ? 'en-GB' : lang.value)

/** Returns the texts in the language of the page. A component that calls it is rendered again when that changes. */
export const t = (): Texts => texts.value

/** Shows the page in a language; in English when there is no such language. */
export const useLanguage = async (code: string): Promise<void> => {
  const load = others[code]
  const found = load ? await load() : en
  texts.value = found
  lang.value = load ? code : 'en'
  document.documentElement.lang = lang.value
}

/** Fills `{name}` in a text. */
export const fill = (text: string, values: Readonly<Record<string, string | number>>): string =>
  text.replaceAll(/\{(\w+)\}/g, (all, name: string) => String(values[name] ?? all))

/** Returns a number with separators, as the language writes it. */
export const figure = (n: number, digits = 0): string =>
  n.toLocaleString(locale(), { maximumFractionDigits: digits, minimumFractionDigits: 0 })

/** Returns a text around a number, in the form that the language has for it. */
export const counted = ({ one, other }: Plural, n: number): string =>
  fill(new Intl.PluralRules(lang.value).select(n) === 'one' ? one : other, { n: figure(n) })
