import { isIPv4 } from 'node:net'
import QuickLRU from 'quick-lru'

/** What a URL field accepts: the address as it will be stored, shown and sent, or what is wrong with it (to follow the field's name). */
export type SafeUrl = { readonly ok: true; readonly url: string } | { readonly ok: false; readonly problem: string }

export const urlLimit = 2_048

// Whitespace, control and format characters and lone surrogates. The two joiners are letters' business in Persian and Indic words.
const unwritable = /(?![\u200c\u200d])[\p{Z}\p{Cc}\p{Cf}\p{Cs}]/u
const absolute = /^https?:\/\/([^/?#]+)/i
const schemeless = /^([^/?#:@]+)(?::\d{1,5})?(?:[/?#]|$)/
// WHATWG lets `;`, `'`, `*` and their like stand in a host; no name on the net has them, and a header or a page could trip over them.
const hostname = /^(?:\[[\da-f:.]+\]|(?:[\w-]{1,63}\.)*[\w-]{1,63}\.?)$/

// not URL.canParse: on Node 20 and 22 it refuses Latin-1 letters once it is optimised
const urlOf = (text: string): URL | undefined => {
  try {
    return new URL(text)
  } catch {
    return undefined
  }
}

const refuse = (problem: string): SafeUrl => ({ ok: false, problem })

const isDotted = (host: string): boolean => {
  const labels = host.replace(/\.$/, '').split('.')
  return labels.length > 1 && !labels.includes('') && (/\D/.test(labels.at(-1) ?? '') || isIPv4(host))
}

// Adds the scheme that was left out, but only where a host stands in its place: `localhost:3000`, `javascript:…`, `a@b.c` have none.
const withScheme = (input: string): string => {
  const host = schemeless.exec(input)?.[1]
  return host !== undefined && isDotted(host) ? `https://${input}` : input
}

/** The one guard of every URL field: what was checked here is what is sent. */
export const safeTargetUrl = (input: string): SafeUrl => {
  if (input === '') return refuse('must not be empty: give an address such as https://example.com/page')
  if (input.length > urlLimit) return refuse('is longer than 2,048 characters: give a shorter address')
  if (unwritable.test(input)) {
    return refuse(
      'contains whitespace or an invisible character: remove it, or write it percent-encoded (a space as %20)',
    )
  }
  if (/^[^?#]*\\/.test(input)) return refuse('contains a backslash: write / instead, or %5C for the character itself')
  const text = withScheme(input)
  const authority = absolute.exec(text)?.[1]
  if (authority === undefined) return refuse('must be a web address that starts with http:// or https://')
  if (authority.includes('@')) return refuse('must not carry a user name or a password: remove all up to the @')
  const url = urlOf(text)
  if (!url || !hostname.test(url.hostname) || url.hostname.length > 254) {
    return refuse('has no valid host or port: give an address such as https://example.com/page')
  }
  if (url.href.length > urlLimit) {
    return refuse('is longer than 2,048 characters once it is percent-encoded: give a shorter address')
  }
  return { ok: true, url: url.href }
}

const normalised = new QuickLRU<string, string>({ maxSize: 1000 })

/** One spelling per host, `` when it is none: lower case, punycode, without port, trailing dot and `www.`; numeric addresses dotted. */
export const normalHost = (host: string): string => {
  const known = normalised.get(host)
  if (known !== undefined) return known
  const url = /^[^\s/?#@\\]+$/.test(host) ? urlOf(`http://${host}`) : undefined
  const normal = url ? url.hostname.replace(/\.$/, '').replace(/^www\.(?=.)/, '') : ''
  // every visit asks for the same few
  if (host.length < 256) normalised.set(host, normal)
  return normal
}

/** Whether an address leads to one of our own hosts, however it is spelt; `hosts` is asked for a normal host. */
export const ourAddress = (url: string, hosts: (host: string) => boolean): boolean => {
  const host = normalHost(urlOf(url)?.hostname ?? '')
  return host !== '' && hosts(host)
}
