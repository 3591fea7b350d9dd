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

/** The name of a parameter as servers compare it: some ignore its letter case, or take `a[]` and `a[b]` as parts of `a`. */
const nameOf = (pair: string) => {
  const [name = ''] = new URLSearchParams(pair).keys()
  return name.toLowerCase().replace(/\[.*/s, '')
}

/**
 * Appends the query that a visitor brought to a destination. What the destination has already is neither changed nor repeated, so that a
 * visitor cannot replace what the owner of the link has set.
 */
export const withForwarded = (url: string, query: string) => {
  if (query === '' || query.length > longest) return url
  const own = new Set(new URL(url).search.slice(1).split('&').map(nameOf))
  const pairs = query
    .split('&')
    .filter((pair) => pair !== '' && !own.has(nameOf(pair)))
    .map((pair) => pair.replaceAll(unsafe, escaped))
  return pairs.length === 0 ? url : withQuery(url, pairs.join('&'))
}
