import { problem } from './problems/problem.ts'
import { withoutEscapes } from './blocklist.ts'
import { textLimits } from './strangers.ts'
import { hasInvisible, parseUrl, reject, type SafeUrl, safeTargetUrl, urlLimit } from './url.ts'

/** What follows the scheme of an address that a program other than a browser opens. */
const forms: Readonly<Record<string, RegExp>> = {
  mailto: /^[^?/][^?]*@|^\?./,
  tel: /^[+\d*#][\d\-.()*#;=a-z+]*$/i,
  sms: /^\+?\d[\d\-.,;+]*(?:\?|$)|^\?./,
  geo: /^-?\d[\d.]*,-?\d[\d.]*/,
}
/** The schemes that a destination may have besides http and https, wherever the service runs. */
export const appSchemes: readonly string[] = Object.keys(forms)

/** Schemes that run code, read files or hide what they lead to: no setting allows them. */
const never: ReadonlySet<string> = new Set(
  'javascript data file blob vbscript about view-source filesystem http https ws wss ftp jar livescript mocha'.split(
    ' ',
  ),
)
/** Whether an operator may allow a scheme (RFC 3986, 3.1; in lower case). */
export const isAllowable = (scheme: string): boolean => /^[a-z][a-z\d+.-]{0,62}$/.test(scheme) && !never.has(scheme)

/** Returns the scheme of an address as it is stored. */
export const schemeOf = (url: string): string => url.slice(0, url.indexOf(':'))
export const isWeb = (url: string): boolean => url.startsWith('https:') || url.startsWith('http:')
/** Returns the host of a web address with its port; an empty string for any other. */
export const webHost = (url: string): string => (isWeb(url) ? new URL(url).host : '')

/** An address in a text, where it may end, and what stands between words that a phone takes for an address. */
const [webAddress, end, between] = [/https?:\/\/[^\s"<>]+/gi, /['()[\]{}|\\^`,;!]/, /[\s"'<>()[\]{}|\\^`,;:!?]+/]
/** Returns the web addresses in a text, also those of which a phone makes a link. */
export const addressesInText = (text: string): readonly string[] => {
  const found = [
    ...(text.match(webAddress) ?? []).flatMap((one) => [one, ...one.split(end, 1)]),
    ...text.split(between),
  ]
  return [...new Set(found)].map((one) => safeTargetUrl(one)).flatMap((one) => (one.ok ? [one.url] : []))
}

/** A host in the one spelling that web addresses have; none when it is no host. */
const webOf = (host: string, rest = '/'): readonly string[] => {
  const url = host === '' || host.length > textLimits.host ? undefined : parseUrl(`http://${host}${rest}`)
  return url ? [url.href] : []
}
/** The fields of a mail that have recipients; names of fields have no letter case. */
const recipients: ReadonlySet<string> = new Set(['to', 'cc', 'bcc'])
const mailboxHost = /@([^\s@<>"(),;]+)/g

/**
 * Returns the web addresses that stand for where another program goes or sends something, and those in its texts:
 * blocks are rules for hosts. Programs read escapes, and hosts in any spelling.
 */
export const addressesBehind = (url: string): readonly string[] => {
  if (isWeb(url)) return []
  const { host, pathname, search, hash } = new URL(url)
  const path = withoutEscapes(pathname)
  const fields = search
    .slice(1)
    .split('&')
    .map((pair) => [pair, ...pair.split('=', 1)].map(withoutEscapes))
    .map(([pair = '', name = '']) => ({ name: name.toLowerCase(), value: pair.slice(name.length + 1) }))
  const to =
    schemeOf(url) === 'mailto'
      ? [path, ...fields.flatMap(({ name, value }) => (recipients.has(name) ? value : []))]
      : []
  return [
    ...webOf(withoutEscapes(host), `${pathname}${search}${hash}`),
    ...to.flatMap((list) => [...list.matchAll(mailboxHost)]).flatMap(([, host = '']) => webOf(host)),
    ...[path, withoutEscapes(hash.slice(1)), ...fields.map(({ value }) => value)].flatMap(addressesInText),
  ]
}

/**
 * Checks where a link may lead: a web address, or one that another program opens. Which schemes are allowed, the caller
 * has to ask.
 */
export const safeDestination = (input: string): SafeUrl => {
  const web = safeTargetUrl(input)
  const [, scheme = '', rest = ''] = /^([a-z][a-z\d+.-]*):(.*)$/is.exec(input) ?? []
  const name = scheme.toLowerCase()
  if (web.ok || !isAllowable(name) || input.length > urlLimit || hasInvisible(input) || rest === '') return web
  if (rest.includes('\\')) return reject(problem('forbidden_characters', { what: 'backslash' }))
  const url = (forms[name] ?? /^./).test(rest) ? parseUrl(`${name}:${rest}`) : undefined
  if (!url || url.username !== '' || url.password !== '')
    return name in forms ? reject(problem('wrong_address', { what: 'app' })) : web
  if (url.href.length > urlLimit) return reject(problem('too_long', { what: 'encoded', max: urlLimit }))
  return { ok: true, url: url.href, entered: input }
}
