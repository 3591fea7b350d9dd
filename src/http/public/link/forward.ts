/** Appends to the query of a URL without changing what is there; the fragment stays last. */
export const withQuery = (url: string, added: string) => {
  const at = url.indexOf('#')
  const [address, fragment] = at < 0 ? [url, ''] : [url.slice(0, at), url.slice(at)]
  const joint = address.includes('?') ? (/[?&]$/.test(address) ? '' : '&') : '?'
  return `${address}${joint}${added}${fragment}`
}

/** A longer query is not passed on: servers refuse addresses of more than a few thousand characters. */
const longest = 2048

/** Characters of a query (RFC 3986) except `&`, which separates parameters, and `;`, which does for some servers. */
const unsafe = /[^\w\-.~!$'()*+,:@/?%=]/g
/** The request line has one character for each byte. */
const escaped = (char: string) => `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`

const withoutUnicodeEscape = (_: string, code: string) =>
  encodeURIComponent(String.fromCharCode(Number.parseInt(code, 16)).toWellFormed())

/**
 * The names that servers may read in a parameter. Some ignore letter case, or take `a[]` and `a[b]` as parts of `a`.
 * PHP also cuts a name at NUL, drops spaces before it, and reads `.`, spaces, and a `[` that is not closed as `_`.
 * ASP.NET reads `%u0061` as `a`, and some frameworks drop spaces at the end.
 */
const namesOf = (pair: string): readonly string[] => {
  const [read = ''] = new URLSearchParams(pair.replaceAll(/%u([\da-f]{4})/gi, withoutUnicodeEscape)).keys()
  const name = read.replace(/\0.*/s, '').trim().toLowerCase().replaceAll(/[ .]/g, '_')
  return [name.replace(/\[.*/s, ''), name.replaceAll('[', '_')]
}

/**
 * Appends the query that a visitor brought to a destination. What the destination has already is neither changed nor
 * repeated, so that a visitor cannot replace what the owner of the link has set.
 */
export const withForwarded = (url: string, query: string) => {
  if (query === '' || query.length > longest) return url
  const own = new Set(new URL(url).search.slice(1).split('&').flatMap(namesOf))
  const pairs = query
    .split('&')
    .filter((pair) => pair !== '' && !namesOf(pair).some((name) => own.has(name)))
    .map((pair) => pair.replaceAll(unsafe, escaped))
  return pairs.length === 0 ? url : withQuery(url, pairs.join('&'))
}
