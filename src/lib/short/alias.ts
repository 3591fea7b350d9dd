import { normalized } from '../strangers.ts'
import { withoutPasted } from '../url.ts'

/**
 * An alias as events of links have it. On a domain with exact aliases it is a whole path, `/Sale/2026.html`: the slash
 * before it says that it is compared as it is. Others are compared without letter case.
 */
export const isExact = (alias: string): boolean => alias.startsWith('/')

/** Returns the form in which aliases are compared. */
export const aliasKey = (alias: string): string => (isExact(alias) ? alias : alias.toLowerCase())

/** Returns an alias as its owner writes it. */
export const shownAlias = (alias: string): string => (isExact(alias) ? alias.slice(1) : alias)

/** Returns the path of an alias in a URL, without a slash before it. */
export const aliasPath = (alias: string): string =>
  isExact(alias) ? shownAlias(alias).split('/').map(encodeURIComponent).join('/') : alias

/** bytes of UTF-8 */
const longest = 255
const isDots = (segment: string) => segment === '.' || segment === '..'

/** Returns a path without its first slash as an alias on a domain with exact aliases; undefined: it cannot be one. */
export const exactAlias = (path: string): string | undefined => {
  if (path.length > longest) return undefined
  const text = normalized('path', 'NFC', path)
  if (text === undefined) return undefined
  const segments = text.split('/')
  const fits =
    Buffer.byteLength(text) <= longest &&
    text.isWellFormed() &&
    !/[\p{Cc}\\]/u.test(text) &&
    segments.every((segment) => segment.trim() !== '' && !isDots(segment))
  return fits ? `/${text}` : undefined
}

/** Returns the text of a path without its first slash; undefined: no alias can be there. */
const textAt = (path: string): string | undefined => {
  try {
    const segments = path.split('/').slice(1).map(decodeURIComponent)
    // an escaped slash is no slash
    return segments.some((segment) => segment.includes('/')) ? undefined : segments.join('/')
  } catch {
    return undefined
  }
}
/** characters at the end of an address that may be pasted or its own */
const mostPasted = 4
/** Returns a text, and the same with fewer and fewer characters that may be pasted behind it. */
const trimmed = (text: string): readonly string[] => {
  const least = withoutPasted(text)
  const few = Math.min(mostPasted, text.length - least.length)
  return [...Array.from({ length: few + 1 }, (_, n) => text.slice(0, text.length - n)), least]
}
/** Returns the alias that a text is; none: it cannot be one. */
const aliasesOf = (text: string | undefined): readonly string[] => {
  const alias = text === undefined ? undefined : exactAlias(text)
  return alias === undefined ? [] : [alias]
}

/** segments of an alias that is looked for at the beginning of a path */
const mostSegments = 8

/** An exact alias that a URL may ask for. */
export interface AskedAlias {
  readonly alias: string
  /** how many it has, where more of the path follows; undefined: it is the whole path */
  readonly segments: number | undefined
}
/**
 * Returns the exact aliases that a URL, or its path and query, may ask for, the likely ones first: the whole path as it
 * was typed, without a slash and pasted characters at its end, and its beginnings, the longest first.
 */
export const exactAliasesAt = (url: string): readonly AskedAlias[] => {
  const path = pathIn(url)
  const typed = textAt(path)
  const whole = typed === undefined ? [] : trimmed(typed).flatMap(aliasesOf)
  const parts = path.split('/')
  const longest = Math.max(0, Math.min(parts.length - 2, mostSegments))
  const beginnings = Array.from({ length: longest }, (_, i) => longest - i).flatMap((segments) =>
    aliasesOf(textAt(parts.slice(0, segments + 1).join('/'))).map((alias) => ({ alias, segments })),
  )
  return [...[...new Set(whole)].map((alias) => ({ alias, segments: undefined })), ...beginnings]
}

/** Returns the path of a URL, or of its path and query: with one slash before it, and none at its end. */
const pathIn = (url: string) => {
  const [path = ''] = url.split(/[?#]/, 1)
  return path.replace(/^\/{2,}/, '/').replace(/\/$/, '')
}
