import type { SourceAddress } from './records.ts'

const decoded = (path: string) => {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

/** Reads a short URL with or without scheme, a path with slashes around it (YOURLS), or an alias alone. */
export const addressIn = (text: string): SourceAddress => {
  if (/^\/(?!\/)/.test(text)) return { host: undefined, alias: decoded(text.slice(1).replace(/\/$/, '')) }
  const [scheme = ''] = /^(?:[a-z]{1,10}:)?\/\//i.exec(text) ?? []
  const [rest = ''] = text.slice(scheme.length).split(/[?#]/, 1)
  const slash = rest.indexOf('/')
  const host = slash < 0 ? rest : rest.slice(0, slash)
  if (scheme === '' && (slash < 0 || !/[.:]/.test(host))) return { host: undefined, alias: text }
  return { host: host.toLowerCase(), alias: slash < 0 ? '' : decoded(rest.slice(slash + 1)) }
}

/** Returns a host that a field names, with or without scheme. */
export const hostIn = (text: string): string =>
  text
    .replace(/^[a-z]{1,10}:\/\//i, '')
    .split('/', 1)
    .join()
    .toLowerCase()

/** Returns the addresses of a link, the main one first: an alias and its host, then short URLs. */
export const addressesOf = (
  alias: string | undefined,
  host: string | undefined,
  links: readonly string[],
): readonly SourceAddress[] => {
  const found = links.map((link) => ({ ...addressIn(link) }))
  const all = found.map((one) => ({ ...one, host: one.host ?? host }))
  if (alias !== undefined) {
    const same = found.find((one) => one.alias === alias) ?? found[0]
    all.unshift({ host: host ?? same?.host, alias })
  }
  const keys = all.map((one) => `${one.host ?? ''}/${one.alias}`)
  return all.filter((_, i) => keys.indexOf(keys[i]!) === i)
}
