import { amountTexts } from './amounts.ts'
import { bodyTexts } from './bodies.ts'
import { fieldTexts } from './fields.ts'
import { requestTexts } from './requests.ts'

/**
 * Every reason why a request fails, with its English sentences. The codes are part of the API: none is ever renamed.
 */
export const englishTexts = { ...fieldTexts, ...amountTexts, ...requestTexts, ...bodyTexts }
type Texts = typeof englishTexts

/** Why something failed: it names the reason, never the field. */
export type ProblemCode = keyof Texts
export const problemCodes = Object.keys(englishTexts) as readonly ProblemCode[]

/** The sentences of all problems in another language. */
export type ProblemTexts = {
  readonly [C in ProblemCode]: Texts[C] extends string ? string : { readonly [W in keyof Texts[C]]: string }
}

/** What a sentence needs besides the code, such as `{ max: 255 }`; `what` tells problems with the same code apart. */
export type ProblemParams = Readonly<Record<string, string | number>>

/** What went wrong, as a value. The sentence is written at the edge. */
export interface Problem {
  readonly code: ProblemCode
  /** the field of the request that it is about, with dots inside of it: `links.0.url` */
  readonly field?: string
  readonly params: ProblemParams
}

type NameOf<P extends string> = P extends `${infer N}, number` ? N : P
type NamesIn<T> = T extends `${string}{${infer P}}${infer Rest}` ? NameOf<P> | NamesIn<Rest> : never
type Filled<T> = { readonly [N in Exclude<NamesIn<T>, 'field'>]: string | number }
type Variant<T, W> = Filled<T> & (W extends 'plain' ? { readonly what?: undefined } : { readonly what: W })

/** What the values of a code are: those that its sentence names, and `what` where it has several. */
export type Values<C extends ProblemCode> = Texts[C] extends string
  ? Filled<Texts[C]>
  : { [W in keyof Texts[C]]: Variant<Texts[C][W], W> }[keyof Texts[C]]
/** What a code may be about. */
export type What<C extends ProblemCode> = Exclude<keyof Texts[C], 'plain'>

/** The values of a code, and the field. */
export type WithField<C extends ProblemCode> = Values<C> & { readonly field?: string | undefined }
/** Values can be left out where a sentence needs none. */
export type Rest<C extends ProblemCode> = object extends Values<C> ? [given?: WithField<C>] : [given: WithField<C>]

/** Returns a problem: `problem('too_long', { field: 'title', max: 255 })`. */
export const problem = <C extends ProblemCode>(code: C, ...[given]: Rest<C>): Problem => {
  const { field, ...params } = (given ?? {}) as ProblemParams & { readonly field?: string }
  return { code, ...(field !== undefined && { field }), params }
}

/**
 * Returns the text of a problem in one language, undefined when it has none: the problem is that of a newer release.
 */
export const textOf = (texts: ProblemTexts, { code, params: { what = 'plain' } }: Problem): string | undefined => {
  const found: string | Readonly<Record<string, string>> | undefined = texts[code]
  return typeof found === 'string' ? found : found?.[what]
}

/** Fills the parameters in a text. */
export const fillProblem = (text: string, params: ProblemParams, locale: string): string =>
  text.replaceAll(/\{(\w+)(, number)?\}/g, (all, name: string, figure: string | undefined) => {
    const value = params[name]
    return figure !== undefined && typeof value === 'number' ? value.toLocaleString(locale) : String(value ?? all)
  })

/** Returns the English sentence of a problem. `field` is how it names the field. */
export const sentenceOf = (given: Problem, field = `\`${given.field ?? ''}\``): string =>
  fillProblem(textOf(englishTexts, given) ?? '', { ...given.params, field }, 'en')

/** Returns the same without a full stop, for what is part of a sentence. */
export const phraseOf = (given: Problem, field?: string): string => sentenceOf(given, field).slice(0, -1)
