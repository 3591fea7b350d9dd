import QuickLRU from 'quick-lru'
import { canonicalRange } from './range.ts'

/** Maximum length of an Accept-Language header in characters; the rest is cut off before parsing. */
export const languagesLimit = 256

const entry = /^\s*([a-z]{2,3}(?:[-_][\w-]*)?)\s*(?:;\s*q\s*=\s*([\d.]+)\s*)?$/i

const cache = new QuickLRU<string, readonly string[]>({ maxSize: 2_000 })

/**
 * Returns the visitor's languages, each in one spelling with its script and region, ordered by q-value, then in the
 * order of the header.
 */
export const preferredLanguages = (header: string): readonly string[] => {
  const found = cache.get(header)
  if (found !== undefined) return found
  const languages = parse(header)
  if (header.length <= languagesLimit) cache.set(header, languages)
  return languages
}

const parse = (header: string): readonly string[] => {
  const cut = header.slice(0, languagesLimit)
  // the last entry of a header that was cut off may be incomplete
  const text = cut.length < header.length ? cut.slice(0, Math.max(0, cut.lastIndexOf(','))) : cut
  const wanted = text.split(',').flatMap((part) => {
    const [, tag, q] = entry.exec(part) ?? []
    const weight = q === undefined ? 1 : Math.min(1, Number(q))
    const range = canonicalRange(tag ?? '')
    return range !== '' && weight > 0 ? [{ range, weight }] : []
  })
  return [...new Set(wanted.sort((a, b) => b.weight - a.weight).map(({ range }) => range))]
}

/** Returns the primary subtag of a language code (`pt` for `pt-BR`), `` when it is not a language code. */
export const primaryLanguage = (code: string): string => canonicalRange(code).split('-', 1)[0] ?? ''

const names = new Intl.DisplayNames('en', { type: 'language', fallback: 'none' })

/** Whether a code begins with that of a language which browsers can ask for. */
export const isLanguage = (code: string): boolean => {
  const primary = primaryLanguage(code)
  return primary !== '' && names.of(primary) !== undefined
}
