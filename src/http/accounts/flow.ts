import type { IncomingMessage } from 'node:http'
import { z } from 'zod'
import { begin, type Issuer } from '../../security/issuer.ts'
import { seal, unseal } from '../../security/seal.ts'
import { cookieOf } from '../api/session.ts'

/** The flow of a browser that was sent to the issuer, and its purpose. Sealed in a cookie of that browser. */
const Flow = z.object({
  for: z.enum(['signIn', 'confirm', 'link']),
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  /** the path of the dashboard to continue at */
  to: z.string(),
  /** ms since 1970 */
  begun: z.number(),
  /** the session that is confirmed, or that links an identity */
  session: z.number().optional(),
})
export type Flow = z.output<typeof Flow>

export interface FlowServices {
  readonly baseUrl: () => string
  /** undefined without OIDC_ISSUER */
  readonly issuer: Issuer | undefined
  /** 32 bytes */
  readonly pepper: Buffer
}

/** s that a sign-in may take */
const lifetime = 600
const context = 'sign-in with an issuer'
const isSecure = (baseUrl: string) => baseUrl.startsWith('https:')
const nameOf = (baseUrl: string) => `${isSecure(baseUrl) ? '__Host-' : ''}linkledger_oidc`

/** Browsers send it on the way back from the issuer, which is a request of another site: `Lax`, not `Strict`. */
const cookie = (value: string, seconds: number, baseUrl: string) =>
  `${nameOf(baseUrl)}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Lax${isSecure(baseUrl) ? '; Secure' : ''}`

/** Returns the `Set-Cookie` header that ends a flow: its response counts once. */
export const endFlow = (baseUrl: string) => cookie('', 0, baseUrl)

/**
 * Returns the address to send a browser to, and the `Set-Cookie` header that identifies its return. Throws
 * `NotSignedIn`.
 */
export const beginFlow = async (
  { baseUrl, issuer, pepper }: FlowServices & { readonly issuer: Issuer },
  what: Pick<Flow, 'for' | 'to' | 'session'>,
) => {
  const begun = begin()
  const address = await issuer.addressFor(begun, what.for === 'confirm')
  const flow: Flow = { ...what, ...begun, begun: Date.now() }
  return { address, cookie: cookie(seal(pepper, context, JSON.stringify(flow)), lifetime, baseUrl()) }
}

/** Returns the flow that a browser has begun; undefined when there is none, or it took too long. */
export const flowOf = (req: IncomingMessage, { baseUrl, pepper }: FlowServices): Flow | undefined => {
  const value = cookieOf(req, nameOf(baseUrl()))
  if (value === undefined || value.length > 4096) return undefined
  try {
    const flow = Flow.parse(JSON.parse(unseal(pepper, context, value).toString()))
    return Date.now() - flow.begun < lifetime * 1000 ? flow : undefined
  } catch {
    return undefined
  }
}

/**
 * Returns a path of the dashboard, or its first one: never an address of another site, nor a short link, which leads to
 * one.
 */
export const placeOf = (given: string | null | undefined): string => {
  const isPath = given && given.length <= 500 && /^\/dashboard(?:[/?][\w/?=&%.,~+@-]*)?$/.test(given)
  // browsers resolve `..`, also when escaped
  return isPath && /^\/dashboard(?:\/|$)/.test(new URL(given, 'http://x').pathname) ? given : '/dashboard'
}
