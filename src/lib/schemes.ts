import { problem } from './problems/problem.ts'
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

/** Returns the web addresses that stand for who gets a message: blocks are rules for hosts. */
export const recipientsOf = (url: string): readonly string[] => {
  if (schemeOf(url) !== 'mailto') return []
  const { pathname, searchParams } = new URL(url)
  const lists = [pathname, ...['to', 'cc', 'bcc'].flatMap((name) => searchParams.getAll(name))]
  const hosts = lists.flatMap((list) => list.split(',')).map((one) => one.trim().split('@').at(-1) ?? '')
  return hosts.flatMap((host) => (/^[\w.-]+$/.test(host) ? [`http://${host}/`] : []))
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
