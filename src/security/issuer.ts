import { createHash, randomBytes } from 'node:crypto'
import { type ClaimNames, emailIn, groupsIn, type GroupSource, idIn, type Said, textIn } from './claims.ts'
import { type Logout, openLogoutTokens } from './logout.ts'
import { failed } from './notsignedin.ts'
import { type Client, openLibrary, readUserInfo, tolerance } from './openid.ts'

export interface IssuerOptions extends Client {
  readonly scopes: string
  /** the address that it sends browsers back to */
  readonly redirect: string
  readonly claims: ClaimNames
}

/** Ties a response of the issuer to the browser that was sent there. */
export interface Begun {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
}

/** A person who has signed in, as the issuer describes them. */
export interface Person {
  readonly issuer: string
  readonly subject: string
  readonly email: string | undefined
  /** whether it confirms that the address belongs to this person */
  readonly verified: boolean
  readonly name: string | null
  /** when the person signed in there, in s since 1970; undefined: not sent */
  readonly authTime: number | undefined
  /** undefined: not sent */
  readonly groups: readonly string[] | undefined
  /** the responses that had the groups */
  readonly groupsFrom: readonly GroupSource[]
  /** the person's id in its directory (SCIM); undefined: not sent */
  readonly externalId: string | undefined
  /** token to read the person's data again; undefined: not sent */
  readonly refreshToken: string | undefined
  /** its id for their session there; undefined: not sent */
  readonly sid: string | undefined
}

export interface Issuer {
  /** Returns the address to sign in at; `fresh`: asks even a person who is signed in there. */
  readonly addressFor: (begun: Begun, fresh: boolean) => Promise<string>
  /** Returns the person who has signed in, given the query of the browser's return. Throws `NotSignedIn`. */
  readonly personOf: (query: URLSearchParams, begun: Begun) => Promise<Person>
  /**
   * Returns the current data of a person from the issuer; `before`: the responses that had their groups then. Throws
   * `NotSignedIn`.
   */
  readonly refresh: (refreshToken: string, subject: string, before: readonly GroupSource[]) => Promise<Person>
  /** Returns the address to sign out at; undefined when the issuer has none or is unavailable. */
  readonly signOutAddress: (to: string) => Promise<string | undefined>
  /** Returns the sessions that a logout token ends. Throws `NotSignedIn`. */
  readonly logoutIn: (token: string) => Promise<Logout>
}

const random = () => randomBytes(32).toString('base64url')
export const begin = (): Begun => ({ state: random(), nonce: random(), verifier: random() })

const challengeOf = (verifier: string) => createHash('sha256').update(verifier).digest('base64url')

/** Returns the person that ID token and userinfo describe. */
const personIn = (
  own: { readonly iss: string; readonly sub: string; readonly auth_time?: number },
  said: Said,
  names: ClaimNames,
  refreshToken: string | undefined,
  before?: readonly GroupSource[],
): Person => {
  const sources = [said.token ?? {}, said.userinfo ?? {}]
  const textOf = (name: string) => sources.map((one) => textIn(one, name)).find(Boolean)
  return {
    issuer: own.iss,
    subject: own.sub,
    ...emailIn(sources, names),
    name: textOf(names.name)?.slice(0, 255) ?? null,
    authTime: own.auth_time,
    sid: textIn({ ...own }, 'sid'),
    ...groupsIn(said, names.groups, before),
    externalId: names.directory === 'sub' ? own.sub : sources.map((one) => idIn(one, names.directory)).find(Boolean),
    refreshToken,
  }
}

/**
 * Opens an issuer that signs people in (OpenID Connect, authorization code with PKCE). Sends no request before the
 * first sign-in, so that the service starts while the issuer is unavailable.
 */
export const openIssuer = (options: IssuerOptions): Issuer => {
  const { clientId, scopes, redirect, claims } = options
  const { readMetadata, configure } = openLibrary(options)
  return {
    addressFor: async ({ state, nonce, verifier }, fresh) => {
      const { library, config } = await configure()
      const address = library.buildAuthorizationUrl(config, {
        redirect_uri: redirect,
        scope: scopes,
        state,
        nonce,
        code_challenge: challengeOf(verifier),
        code_challenge_method: 'S256',
        ...(fresh && { max_age: '0' }),
      })
      return address.href
    },
    personOf: async (query, { state, nonce, verifier }) => {
      const { library, config } = await configure()
      const answer = new URL(redirect)
      answer.search = query.toString()
      const tokens = await library
        .authorizationCodeGrant(config, answer, {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: verifier,
          idTokenExpected: true,
        })
        .catch(failed)
      const own = tokens.claims() ?? failed(new Error('the issuer sent no ID token'))
      const userinfo = await readUserInfo(library, config, tokens.access_token, own.sub)
      return personIn(own, { token: own, userinfo }, claims, tokens.refresh_token)
    },
    refresh: async (refreshToken, subject, before) => {
      const { library, config } = await configure()
      const tokens = await library.refreshTokenGrant(config, refreshToken).catch(failed)
      const token = tokens.claims()
      if (token !== undefined && token.sub !== subject)
        failed(new Error('the issuer has refreshed the token of another person'))
      const userinfo = await readUserInfo(library, config, tokens.access_token, subject)
      const own = { iss: options.issuer, sub: subject }
      return personIn(own, { token, userinfo }, claims, tokens.refresh_token ?? refreshToken, before)
    },
    signOutAddress: async (to) => {
      const metadata = await readMetadata().catch(() => undefined)
      if (metadata?.end_session_endpoint === undefined) return undefined
      const address = new URL(metadata.end_session_endpoint)
      address.searchParams.set('client_id', clientId)
      address.searchParams.set('post_logout_redirect_uri', to)
      return address.href
    },
    logoutIn: openLogoutTokens(options, readMetadata),
  }
}

/** Whether a person has signed in since a moment (ms since 1970). */
export const isFresh = ({ authTime }: Pick<Person, 'authTime'>, since: number): boolean =>
  authTime !== undefined && (authTime + tolerance) * 1000 >= since
