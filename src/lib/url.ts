import { isIPv4 } from 'node:net'
import { domainToASCII, domainToUnicode } from 'node:url'
import QuickLRU from 'quick-lru'
import { problem, type Problem } from './problems/problem.ts'
import { textLimits } from './strangers.ts'

/**
 * What a URL field accepts: the address as browsers write it, which is redirected to, and as its owner wrote it, with a
 * scheme; or the problem, worded to follow the field's name.
 */
export type SafeUrl =
  | { readonly ok: true; readonly url: string; readonly entered: string }
  | { readonly ok: false; readonly problem: Problem }

export const urlLimit = 2_048

// Whitespace, control and format characters and lone surrogates. Persian and Indic words need the two joiners.
const invisible = /(?![\u200c\u200d])[\p{Z}\p{Cc}\p{Cf}\p{Cs}]/u
export const hasInvisible = (text: string): boolean => invisible.test(text)
const absolute = /^https?:\/\/([^/?#]+)/i
const schemeless = /^([^/?#:@]+)(?::\d{1,5})?(?:[/?#]|$)/
// WHATWG allows `;`, `'`, `*` and similar characters in a host; no name in DNS has them, and they could break a header
// or a page
const hostname = /^(?:\[[\da-f:.]+\]|(?:[\w-]{1,63}\.)*[\w-]{1,63}\.?)$/

/**
 * Whether every `xn--` label of a host (lower case) is the punycode of a name outside ASCII. Parsers disagree here:
 * that of Node 24 passes any ASCII host through, that of Node 20 rejects labels that do not decode but accepts
 * `xn--example-`.
 */
const hasValidPunycode = (host: string): boolean => {
  if (!/(?:^|\.)xn--/.test(host)) return true
  const unicode = domainToUnicode(host)
  const decoded = unicode.split('.')
  const labels = host.split('.')
  return (
    labels.every((label, i) => !label.startsWith('xn--') || /[^\0-\x7f]/.test(decoded[i] ?? '')) &&
    domainToASCII(unicode) === host
  )
}

// not URL.canParse: on Node 20 and 22 it rejects Latin-1 letters once V8 has optimised the call
export const parseUrl = (text: string): URL | undefined => {
  try {
    const url = new URL(text)
    return hasValidPunycode(url.hostname) ? url : undefined
  } catch {
    return undefined
  }
}

export const reject = (reason: Problem): SafeUrl => ({ ok: false, problem: reason })

const isDotted = (host: string): boolean => {
  const labels = host.replace(/\.$/, '').split('.')
  return labels.length > 1 && !labels.includes('') && (/\D/.test(labels.at(-1) ?? '') || isIPv4(host))
}

// Adds a missing scheme, but only before a dotted host: `localhost:3000`, `javascript:…` and `a@b.c` are left alone.
const withScheme = (input: string): string => {
  const host = schemeless.exec(input)?.[1]
  return host !== undefined && isDotted(host) ? `https://${input}` : input
}

/**
 * Checks the value of a URL field and returns it normalised. Every URL that the service redirects to or fetches has
 * passed this check.
 */
export const safeTargetUrl = (input: string): SafeUrl => {
  if (input === '') return reject(problem('empty', { what: 'address' }))
  if (input.length > urlLimit) return reject(problem('too_long', { max: urlLimit }))
  if (invisible.test(input)) {
    return reject(problem('forbidden_characters', { what: 'whitespace' }))
  }
  if (/^[^?#]*\\/.test(input)) return reject(problem('forbidden_characters', { what: 'backslash' }))
  const text = withScheme(input)
  const authority = absolute.exec(text)?.[1]
  if (authority === undefined) return reject(problem('wrong_address', { what: 'web' }))
  if (authority.includes('@')) return reject(problem('forbidden_characters', { what: 'credentials' }))
  // to write a host in ASCII takes the square of its length
  const url = authority.length > textLimits.host ? undefined : parseUrl(text)
  if (!url || !hostname.test(url.hostname) || url.hostname.length > 254) {
    return reject(problem('wrong_address', { what: 'host' }))
  }
  if (url.href.length > urlLimit) return reject(problem('too_long', { what: 'encoded', max: urlLimit }))
  return { ok: true, url: url.href, entered: text }
}

/** Returns a text without the characters at its end that match, in a time that is proportional to their number. */
export const withoutEnd = (text: string, isExtra: RegExp): string => {
  let end = text.length
  while (end > 0 && isExtra.test(text.charAt(end - 1))) end--
  return text.slice(0, end)
}

/** Characters that are pasted after an address, and few have: punctuation, spaces, invisible characters. */
const isPasted = /[\p{P}\p{S}\p{Z}\p{C}](?<![-_/])/u
export const withoutPasted = (text: string): string => withoutEnd(text, isPasted)

/**
 * Returns the host that a text names, in punycode and lower case, without scheme, port, path and trailing dot:
 * `https://Bücher.example/` and `xn--bcher-kva.example.` are spellings of one.
 */
export const hostNamed = (text: string): string => {
  const [host = ''] = text
    .trim()
    .replace(/^https?:\/\//i, '')
    .split(/[/?#]/)
  const plain = host.toLowerCase().replace(/\.?(?::\d*)?$/, '')
  return host.length > textLimits.host ? plain : domainToASCII(plain) || plain
}

/** Returns a host as DNS has it, and as its language writes it (UTS 46); none when it is no host. */
export const spellingsOf = (host: string): readonly string[] => {
  const ascii = host.length > textLimits.host ? '' : domainToASCII(host)
  return ascii === '' ? [] : [ascii, domainToUnicode(ascii)]
}

const normalised = new QuickLRU<string, string>({ maxSize: 1000 })

/**
 * Returns one spelling per host: lower case, punycode, numeric addresses dotted, without port, trailing dot and `www.`;
 * `` when it is not a host.
 */
export const normalHost = (host: string): string => {
  const known = normalised.get(host)
  if (known !== undefined) return known
  const url = host.length <= textLimits.host && /^[^\s/?#@\\]+$/.test(host) ? parseUrl(`http://${host}`) : undefined
  const name = url?.hostname.replace(/\.$/, '') ?? ''
  // no name in DNS has an empty label, and of two dots at the end one would be left
  const normal = name.split('.').includes('') ? '' : name.replace(/^www\.(?=.)/, '')
  // visits keep naming the same few hosts; a longer name is not worth the memory
  if (host.length < 256) normalised.set(host, normal)
  return normal
}
