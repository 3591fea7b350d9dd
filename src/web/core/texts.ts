import { signal } from '@preact/signals'
import type { Languages, ScreenTexts, StartTexts, Texts } from '../texts/texts.ts'

/** A text around a number, in the two forms that our languages have. */
export interface Plural {
  readonly one: string
  readonly other: string
}

/** Each language is loaded on demand, in two parts of its file. */
const languages = {
  en: {
    start: () => import('../texts/en.json?start', { with: { type: 'json' } }),
    screens: () => import('../texts/en.json?screens', { with: { type: 'json' } }),
  },
  de: {
    start: () => import('../texts/de.json?start', { with: { type: 'json' } }),
    screens: () => import('../texts/de.json?screens', { with: { type: 'json' } }),
  },
  es: {
    start: () => import('../texts/es.json?start', { with: { type: 'json' } }),
    screens: () => import('../texts/es.json?screens', { with: { type: 'json' } }),
  },
  fr: {
    start: () => import('../texts/fr.json?start', { with: { type: 'json' } }),
    screens: () => import('../texts/fr.json?screens', { with: { type: 'json' } }),
  },
} as const satisfies Readonly<Record<keyof Languages, object>>
type Language = keyof typeof languages
const isLanguage = (code: string): code is Language => Object.hasOwn(languages, code)

const texts = signal<StartTexts | undefined>(undefined)
/** All texts, once a screen has needed them. */
export const allTexts = signal<Texts | undefined>(undefined)
/** The language of the page. */
export const lang = signal<Language>('en')
/**
 * How the language writes dates and figures. English has the day before the month here, as most of its readers outside
 * of America do.
 */
export const locale = (): string => (lang.value === 'en' ? 'en-GB' : lang.value)

/**
 * Returns the texts of the shell and the first screen, in the language of the page. Other screens use `alltexts.ts`.
 */
export const t = (): StartTexts => texts.value!

/** Loads a language, or English when it does not exist: `lang` is then the loaded one. */
export const useLanguage = async (code: string): Promise<void> => {
  const known = isLanguage(code) ? code : 'en'
  texts.value = (await languages[known].start()).default.start as StartTexts
  allTexts.value = undefined
  lang.value = known
}

/** Loads the texts of the other screens. */
export const loadTexts = async (): Promise<void> => {
  allTexts.value ??= { ...t(), ...((await languages[lang.value].screens()).default.screens as ScreenTexts) }
}

/** Returns the text for a name that comes from the service, which may be newer than the texts. */
export const textFor = (texts: Readonly<Record<string, string>>, name: string): string | undefined =>
  Object.hasOwn(texts, name) ? texts[name] : undefined

/** Fills `{name}` in a text. */
export const fill = (text: string, values: Readonly<Record<string, string | number>>): string =>
  text.replaceAll(/\{(\w+)\}/g, (all, name: string) => String(values[name] ?? all))

/** Returns a number with separators, as the language writes it. */
export const figure = (n: number, digits = 0): string =>
  n.toLocaleString(locale(), { maximumFractionDigits: digits, minimumFractionDigits: 0 })

/** Returns a text around a number, in the form that the language has for it. */
export const counted = ({ one, other }: Plural, n: number): string =>
  fill(new Intl.PluralRules(lang.value).select(n) === 'one' ? one : other, { n: figure(n) })
