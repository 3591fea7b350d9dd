import type { IncomingMessage } from 'node:http'
import { en } from './texts/en.ts'
import { type Texts, textsFor } from './texts/languages.ts'

/** Who runs the service, as every page says. */
export interface Operator {
  readonly name: string
  readonly email: string | undefined
  /** URLs */
  readonly imprint: string | undefined
  readonly privacy: string | undefined
}

/** What a page depends on besides its content: the visitor's language, the address that they opened, and the operator. */
export interface View {
  readonly texts: Texts
  /** host and path, without scheme and query, at most 200 characters */
  readonly address: string
  readonly operator: Operator
}

const maxLength = 200

const addressOf = ({ headers: { host = '' }, url = '' }: IncomingMessage) => {
  const address = host + (url.split('?')[0] ?? '')
  return address.length > maxLength ? `${address.slice(0, maxLength)}…` : address
}

/** Returns the view of a visitor. Programs, which get JSON, always read English. */
export const viewOf = (req: IncomingMessage, operator: Operator, { asJson }: { readonly asJson: boolean }): View => ({
  texts: asJson ? en : textsFor(req),
  address: addressOf(req),
  operator,
})
