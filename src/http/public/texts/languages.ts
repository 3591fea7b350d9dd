import accepts from 'accepts'
import type { IncomingMessage } from 'node:http'
import de from './de.json' with { type: 'json' }
import en from './en.json' with { type: 'json' }
import es from './es.json' with { type: 'json' }
import fr from './fr.json' with { type: 'json' }
import { filled } from '../page/html.ts'
import type { Message, Plural } from './parts.ts'

/**
 * Every text that visitors of public pages read: what each language must have. `#` is replaced with a name or a number.
 * `locale` is that of dates and numbers.
 */
export interface Texts extends Omit<typeof en, 'messages'> {
  readonly messages: Readonly<Record<keyof (typeof en)['messages'], Message>>
}

export const english: Texts = en

/** The languages of public pages. English is first: it is used when the visitor accepts all, or none of them. */
export const languages: Readonly<Record<string, Texts>> = { en, de, fr, es }
const names = Object.keys(languages)

/** Returns the texts in the language that the visitor prefers among ours. */
export const textsFor = (req: IncomingMessage): Texts => languages[accepts(req).languages(names) || 'en'] ?? en

const rules = new Map(Object.values(languages).map(({ locale }) => [locale, new Intl.PluralRules(locale)]))

/** Returns a text around a number, in the form that the language has for it. */
export const counted = ({ locale }: Pick<Texts, 'locale'>, { one, other }: Plural, n: number) =>
  filled(rules.get(locale)?.select(n) === 'one' ? one : other, n.toLocaleString(locale))

/** Returns a day in words, in UTC: 31 October 2026. */
export const dayIn = ({ locale }: Pick<Texts, 'locale'>, at: Date) =>
  at.toLocaleDateString(locale, { dateStyle: 'long', timeZone: 'UTC' })

/** Returns a time of day in UTC: 14:40 UTC. */
export const timeIn = ({ locale }: Pick<Texts, 'locale'>, at: Date) =>
  `${at.toLocaleTimeString(locale, { hour: '2-digit', minute: '2-digit', timeZone: 'UTC' })} UTC`
