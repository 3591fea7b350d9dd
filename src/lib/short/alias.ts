import { normalized } from '../strangers.ts'

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

/** Returns the exact alias that a URL, or its path, asks for; undefined: no alias can be there. */
export const exactAliasAt = (path: string): string | undefined => {
  try {
    const segments = path.split('/').slice(1).map(decodeURIComponent)
    // an escaped slash is no slash
    return segments.some((segment) => segment.includes('/')) ? undefined : exactAlias(segments.join('/'))
  } catch {
    return undefined
  }
}
