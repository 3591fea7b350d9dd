import type { IncomingMessage } from 'node:http'
import { english, type Texts, textsFor } from '../texts/languages.ts'

/** Who runs the service, as every page says. */
export interface Operator {
  readonly name: string
  readonly email: string | undefined
  /** URLs */
  readonly imprint: string | undefined
  readonly privacy: string | undefined
}

/**
 * What a page depends on besides its content: the visitor's language, the address that they opened, and the operator.
 */
export interface View {
  readonly texts: Texts
  /** the host that the visitor opened; that of the service when the request names one that is not ours */
  readonly host: string
  /** host and path, without scheme and query; the host alone when no short link could have the path */
  readonly address: string
  readonly operator: Operator
  /** the screen is small */
  readonly phone: boolean
}

/** A host that a request names. */
export interface Requested {
  readonly host: string
  /** whether each path there may be an alias */
  readonly exact?: boolean
}
// nothing else of an address is repeated on a page
const exactPath = /^\/[\w\-.~%/]{1,765}(?=\?|$)/
const plainPath = /^(?:\/(?:r|qr|u\/[\w-]{3,32}))?\/[\w-]{1,80}\/?(?=\?|$)/

/** By the client hint where a browser sends one, else by the word that browsers of phones have in their user agent. */
const isPhone = ({ headers }: IncomingMessage) =>
  headers['sec-ch-ua-mobile'] === undefined
    ? /\bMobi/.test(headers['user-agent'] ?? '')
    : headers['sec-ch-ua-mobile'] === '?1'

/** Returns the view of a visitor. Programs, which get JSON, always read English. */
export const viewOf = (
  req: IncomingMessage,
  operator: Operator,
  { asJson, host, exact = false }: Requested & { readonly asJson: boolean },
): View => ({
  texts: asJson ? english : textsFor(req),
  host,
  address: host + ((exact ? exactPath : plainPath).exec(req.url ?? '')?.[0] ?? ''),
  operator,
  phone: isPhone(req),
})
