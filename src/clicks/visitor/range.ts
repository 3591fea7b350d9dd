// Imports nothing, so that the dashboard reads languages as the redirect does.

/** A language as browsers send it: `pt`, `pt-BR`, `zh-Hant-TW`. */
interface Range {
  readonly tag: string
  readonly language: string
  /** the most common script of the language: `zh-TW` is `Hant` */
  readonly script: string
  /** with the most common script and region when it names none */
  readonly whole: string
}

const subtags = /^([a-z]{2,3})(?:[-_]([a-z]{4}))?(?:[-_]([a-z]{2}|\d{3}))?(?![a-z\d])/i

const read = (text: string): Range | undefined => {
  const [, ...parts] = subtags.exec(text.trim()) ?? []
  if (parts.length === 0) return undefined
  // one name per language: `eng` -> `en`, `iw` -> `he`
  const locale = new Intl.Locale(parts.filter(Boolean).join('-'))
  const { language, script = '', baseName } = locale.maximize()
  return { tag: locale.baseName, language, script, whole: baseName }
}

// ICU is slow, and visitors send the same languages
const known = new Map<string, Range | undefined>()
const rangeOf = (text: string): Range | undefined => {
  if (known.has(text)) return known.get(text)
  if (known.size >= 2_000) known.clear()
  const found = read(text)
  known.set(text, found)
  return found
}

/** Returns the canonical spelling of a language, with its script and region; `` for an invalid one. */
export const canonicalRange = (text: string): string => rangeOf(text)?.tag ?? ''

/**
 * Returns how well a language fits the preferred one (RFC 4647, 3.4): 0 for the same, more for a shorter name of it,
 * and most for another region or script of it; undefined for another language.
 */
export const fitOf = (offered: string, asked: string): number | undefined => {
  const [one, other] = [rangeOf(offered), rangeOf(asked)]
  if (!one || !other || one.language !== other.language) return undefined
  if (one.tag === other.tag) return 0
  if (one.whole === other.whole) return 1
  // the longest of the shorter names comes first
  if (other.tag.startsWith(`${one.tag}-`)) return 3 - one.tag.length / other.tag.length
  return one.script === other.script ? 4 : 5
}
