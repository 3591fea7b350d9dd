import QuickLRU from 'quick-lru'

/** Maximum length of an Accept-Language header in characters; the rest is cut off before parsing. */
export const languagesLimit = 256

const entry = /^\s*([a-z]{2,3})(?:[-_][\w-]*)?\s*(?:;\s*q\s*=\s*([\d.]+)\s*)?$/i

// `eng` -> `en`, `iw` -> `he`: one name per language. Cached because ICU is slow; there are at most 26² + 26³ tags.
const canonicalTags = new Map<string, string>()

const canonical = (tag: string): string => {
  const found = canonicalTags.get(tag)
  if (found !== undefined) return found
  const { language } = new Intl.Locale(tag)
  canonicalTags.set(tag, language)
  return language
}

const cache = new QuickLRU<string, readonly string[]>({ maxSize: 2_000 })

/**
 * Returns the visitor's languages as primary subtags in lower case, ordered by q-value, then in the order of the
 * header.
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
    return tag !== undefined && weight > 0 ? [{ tag, weight }] : []
  })
  return [...new Set(wanted.sort((a, b) => b.weight - a.weight).map(({ tag }) => canonical(tag.toLowerCase())))]
}

/** Returns the primary subtag of a language code (`pt` for `pt-BR`), `` when it is not a language code. */
export const primaryLanguage = (code: string): string => preferredLanguages(code)[0] ?? ''

const names = new Intl.DisplayNames('en', { type: 'language', fallback: 'none' })

/** Whether a code begins with that of a language which browsers can ask for. */
export const isLanguage = (code: string): boolean => {
  const primary = primaryLanguage(code)
  return primary !== '' && names.of(primary) !== undefined
}
