import type { ServerMetadata } from 'openid-client'
import { type Claims, textIn } from './claims.ts'
import { failed, NotSignedIn } from './notsignedin.ts'
import { type Client, signing, tolerance } from './openid.ts'

/** Whose sessions an issuer ends: one of its own sessions, or all of a person. */
export interface Logout {
  readonly issuer: string
  /** by which a token is known that comes again */
  readonly jti: string
  /** undefined: `sid` alone says which */
  readonly subject: string | undefined
  /** undefined: all of the person */
  readonly sid: string | undefined
}

/** s after which a token does not count any more */
export const logoutAge = 300
/** characters of a claim */
const longest = 500
/** ms */
const timeoutDuration = 5000
const event = 'http://schemas.openid.net/event/backchannel-logout'

const refuse = (why: string): never => {
  throw new NotSignedIn('answer', `the logout token ${why}`)
}
const shortIn = (claims: Claims, name: string) => {
  const value = textIn(claims, name)
  if (value !== undefined && value.length > longest) refuse(`has a \`${name}\` of more than ${longest} characters`)
  return value
}
const isObject = (value: unknown): value is Claims =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Returns what a token says. Throws `NotSignedIn` for one that is not for this client, or is another kind of token. */
const read = (claims: Claims, { clientId }: Client): Omit<Logout, 'issuer'> => {
  const { aud, events, nonce } = claims
  if (![aud].flat().includes(clientId)) refuse('is for another client (`aud`)')
  if (!isObject(events) || !isObject(events[event])) refuse('has no event of a logout (`events`)')
  // an ID token has one, and must not count
  if (nonce !== undefined) refuse('has a `nonce`')
  const [subject, sid] = [shortIn(claims, 'sub'), shortIn(claims, 'sid')]
  if (subject === undefined && sid === undefined) refuse('names neither a person (`sub`) nor a session (`sid`)')
  return { jti: shortIn(claims, 'jti') ?? refuse('has no `jti`'), subject, sid }
}

/** What the library calls it when the issuer does not send its keys. */
const keyless = ['ERR_JOSE_GENERIC', 'ERR_JWKS_INVALID', 'ERR_JWKS_TIMEOUT']

const openKeys = async (address: string) => {
  const { createRemoteJWKSet } = await import('jose')
  const find = createRemoteJWKSet(new URL(address), { timeoutDuration })
  const keys = (...of: Parameters<typeof find>) =>
    find(...of).catch((error: unknown) => {
      const { code = '', message } = error as { readonly code?: string; readonly message: string }
      if (!keyless.includes(code)) throw error
      // no fault of the token: it may come again
      throw new NotSignedIn('away', `the issuer does not send its keys: ${message}`, error)
    })
  return { address, keys }
}

/**
 * Returns what reads logout tokens (OpenID Connect Back-Channel Logout). Its keys are kept for some minutes, since
 * anybody may send one: the signature is only looked at where everything else is right.
 */
export const openLogoutTokens = (client: Client, readMetadata: () => Promise<ServerMetadata>) => {
  let opened: ReturnType<typeof openKeys> | undefined
  const keysAt = async (address: string) => {
    if (opened === undefined || (await opened).address !== address) opened = openKeys(address)
    return (await opened).keys
  }
  return async (token: string): Promise<Logout> => {
    const { decodeJwt, jwtVerify } = await import('jose')
    try {
      const shown = decodeJwt(token)
      read(shown, client)
      const metadata = await readMetadata()
      // as it calls itself, which identities have as well
      const { issuer } = metadata
      if (shown.iss !== issuer) return refuse('is of another issuer (`iss`)')
      if (metadata.jwks_uri === undefined) return refuse('cannot be verified: the issuer has no `jwks_uri`')
      const { payload } = await jwtVerify(token, await keysAt(metadata.jwks_uri), {
        algorithms: [...signing(metadata)],
        audience: client.clientId,
        clockTolerance: tolerance,
        issuer,
        maxTokenAge: logoutAge,
      })
      return { issuer, ...read(payload, client) }
    } catch (error) {
      return failed(error)
    }
  }
}
