import QuickLRU from 'quick-lru'

/** What is read of an Accept-Language header. */
export const languagesLimit = 256

const entry = /^\s*([a-z]{2,3})(?:[-_][\w-]*)?\s*(?:;\s*q\s*=\s*([\d.]+)\s*)?$/i

// `eng` -> `en`, `iw` -> `he`: the same language under one name. Remembered, for ICU is slow; there are no more than 26² + 26³ tags.
const known = new Map<string, string>()

const canonical = (tag: string): string => {
  const found = known.get(tag)
  if (found !== undefined) return found
  const { language } = new Intl.Locale(tag)
  known.set(tag, language)
  return language
}

const headers = new QuickLRU<string, readonly string[]>({ maxSize: 2000 })

/** The visitor's languages, most wanted first: primary subtags in lower case, by q-value, then as sent. */
export const preferredLanguages = (header: string): readonly string[] => {
  const found = headers.get(header)
  if (found !== undefined) return found
  const languages = parse(header)
  if (header.length <= languagesLimit) headers.set(header, languages)
  return languages
}

const parse = (header: string): readonly string[] => {
  const cut = header.slice(0, languagesLimit)
  // the last entry of a cut header may be half of one
  const text = cut.length < header.length ? cut.slice(0, Math.max(0, cut.lastIndexOf(','))) : cut
  const wanted = text.split(',').flatMap((part) => {
    const [, tag, q] = entry.exec(part) ?? []
    const weight = q === undefined ? 1 : Math.min(1, Number(q))
    return tag !== undefined && weight > 0 ? [{ tag, weight }] : []
  })
  return [...new Set(wanted.sort((a, b) => b.weight - a.weight).map(({ tag }) => canonical(tag.toLowerCase())))]
}

/** The primary subtag of a language code as somebody wrote it (`pt-BR` is `pt`), `` when it is none. */
export const primaryLanguage = (code: string): string => preferredLanguages(code)[0] ?? ''
