import type { Problem } from '../../lib/problems/problem.ts'
import { lang } from './texts.ts'

/** The sentences of problems in a language, by their code, or by `code.what` when a reason has several. */
export type ProblemTexts = Readonly<Record<string, string>>

const languages: Readonly<Record<string, () => Promise<ProblemTexts>>> = {
  de: async () => (await import('../texts/problems/de.json', { with: { type: 'json' } })).default,
  es: async () => (await import('../texts/problems/es.json', { with: { type: 'json' } })).default,
  fr: async () => (await import('../texts/problems/fr.json', { with: { type: 'json' } })).default,
}

/** A failure, as the API sends it. */
export interface Failed {
  readonly message?: unknown
  readonly code?: unknown
  readonly field?: unknown
  readonly params?: unknown
}

/** A problem in words for people. */
export interface Told {
  /** the field that it is about, by its name in the API */
  readonly field: string | undefined
  /** next to the field */
  readonly words: string
  /** away from the field */
  readonly message: string
}

/**
 * Returns the sentence of an API problem in the language of the page, by its code. Loads the texts with the first
 * failure.
 */
export const told = async ({ message, code, field: path, params }: Failed): Promise<Told> => {
  const given = { code, params: { ...(params as object) } } as Problem
  const { englishTexts, fillProblem, textOf } = await import('../../lib/problems/problem.ts')
  // without the table, the sentence stays in English
  const table = (await languages[lang.value]?.().catch(() => undefined)) ?? {}
  const named = typeof path === 'string' ? path : undefined
  const field = named?.split('.')[0]
  const known = table[`${String(code)}.${given.params['what'] ?? 'plain'}`] ?? table[String(code)]
  if (known !== undefined) {
    const words = fillProblem(known, given.params, lang.value)
    return { field, words, message: named === undefined ? words : `${named}: ${words}` }
  }
  // a reason that only a newer release knows has the sentence of the API
  const english = textOf(englishTexts, given)
  const words = english === undefined ? String(message) : fillProblem(english, { ...given.params, field: 'This' }, 'en')
  return { field, words, message: String(message) }
}
