import { createHash, randomBytes } from 'node:crypto'
import type { Configuration, ServerMetadata } from 'openid-client'
import { type ClaimNames, type Claims, emailIn, groupsIn, textIn } from './claims.ts'
import { failed, NotSignedIn } from './notsignedin.ts'

export interface IssuerOptions {
  /** its address */
  readonly issuer: string
  readonly clientId: string
  /** undefined: the client is a public one, which PKCE alone protects */
  readonly clientSecret: string | undefined
  readonly scopes: string
  /** where it sends browsers back to */
  readonly redirect: string
  readonly claims: ClaimNames
}

/** What ties an answer of the issuer to the browser that was sent there. */
export interface Begun {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
}

/** Who has signed in, as the issuer says. */
export interface Person {
  readonly issuer: string
  readonly subject: string
  readonly email: string | undefined
  /** whether it says that the address is that of this person */
  readonly verified: boolean
  readonly name: string | null
  /** when the person signed in there, in s since 1970; undefined: it does not say */
  readonly authTime: number | undefined
  /** undefined: it does not say */
  readonly groups: readonly string[] | undefined
  /** what its directory (SCIM) calls them; undefined: it does not say */
  readonly externalId: string | undefined
  /** by which it says who they are now; undefined: it has sent none */
  readonly refreshToken: string | undefined
}

export interface Issuer {
  /** Returns the address to sign in at; `fresh`: also somebody who is signed in there. */
  readonly addressFor: (begun: Begun, fresh: boolean) => Promise<string>
  /** Returns who has signed in, given the query with which a browser came back. Throws `NotSignedIn`. */
  readonly personOf: (query: URLSearchParams, begun: Begun) => Promise<Person>
  /** Returns who has signed in, as the issuer says now. Throws `NotSignedIn`. */
  readonly refresh: (refreshToken: string, subject: string) => Promise<Person>
  /** Returns the address to sign out at; undefined when it has none, or is away. */
  readonly signOutAddress: (to: string) => Promise<string | undefined>
}

/** s that clocks may differ by */
export const tolerance = 30
/** s */
const timeout = 10
/** ms that its metadata is used without asking again */
const metadataAge = 3_600_000
/** What it may sign with: never with the secret of the client, and never with nothing. */
const algorithms = /^(?:RS|PS|ES)(?:256|384|512)$|^(?:EdDSA|Ed25519)$/

const random = () => randomBytes(32).toString('base64url')
export const begin = (): Begun => ({ state: random(), nonce: random(), verifier: random() })

const challengeOf = (verifier: string) => createHash('sha256').update(verifier).digest('base64url')

/** It is loaded with the first sign-in: most services have no issuer. */
const load = () => import('openid-client')
type Library = Awaited<ReturnType<typeof load>>

const isHttp = (address: string) => address.startsWith('http:')

/** What it signs with, of what it says that it may. Without a list, it is RS256 (OpenID Connect Discovery). */
const signing = ({ id_token_signing_alg_values_supported: all }: ServerMetadata) => {
  const given = all?.filter((one) => algorithms.test(one)) ?? ['RS256']
  if (given.length > 0) return given
  throw new NotSignedIn('answer', `the issuer signs with ${all?.join(', ')} only; it must sign with RS256 or ES256`)
}

/** Keeps what a promise has made, unless it fails. */
const remembered = <T>(make: () => Promise<T>, ms: number) => {
  let made: { readonly at: number; readonly value: T } | undefined
  let making: Promise<T> | undefined
  return async () => {
    if (made && performance.now() - made.at < ms) return made.value
    making ??= make()
      .then((value) => {
        made = { at: performance.now(), value }
        return value
      })
      .finally(() => (making = undefined))
    return making
  }
}

/** Returns how the service proves to the issuer that it is the client. */
const authOf = (
  { ClientSecretBasic, ClientSecretPost, None }: Library,
  secret: string | undefined,
  ways?: readonly string[],
) => {
  if (secret === undefined) return None()
  return (ways ?? ['client_secret_basic']).includes('client_secret_basic')
    ? ClientSecretBasic(secret)
    : ClientSecretPost(secret)
}

/** Returns what opens the library for one sign-in, and what reads the metadata of the issuer, for an hour. */
const openConfigurations = ({ issuer, clientId, clientSecret }: IssuerOptions) => {
  const execute = ({ allowInsecureRequests }: Library) => (isHttp(issuer) ? [allowInsecureRequests] : [])
  const readMetadata = remembered(async (): Promise<ServerMetadata> => {
    const library = await load()
    const found = await library
      .discovery(new URL(issuer), clientId, undefined, undefined, { execute: execute(library), timeout })
      .catch(failed)
    // without its functions
    return JSON.parse(JSON.stringify(found.serverMetadata())) as ServerMetadata
  }, metadataAge)
  /** Each sign-in reads the keys of the issuer anew, so that it may replace them at any time. */
  const configure = async (): Promise<{ readonly library: Library; readonly config: Configuration }> => {
    const metadata = await readMetadata()
    const library = await load()
    const config = new library.Configuration(
      { ...metadata, id_token_signing_alg_values_supported: signing(metadata) },
      clientId,
      { [library.clockTolerance]: tolerance },
      authOf(library, clientSecret, metadata.token_endpoint_auth_methods_supported),
    )
    config.timeout = timeout
    // without it, the signature of an ID token that came straight from the issuer is not checked
    for (const change of [library.enableNonRepudiationChecks, ...execute(library)]) change(config)
    return { library, config }
  }
  return { readMetadata, configure }
}

const readUserInfo = async (
  library: Library,
  config: Configuration,
  token: string,
  subject: string,
): Promise<Claims> =>
  config.serverMetadata().userinfo_endpoint === undefined
    ? {}
    : await library.fetchUserInfo(config, token, subject).catch(failed)

/** Returns who somebody is, by the ID token and the userinfo. */
const personIn = (
  { iss, sub, auth_time: authTime }: { readonly iss: string; readonly sub: string; readonly auth_time?: number },
  sources: readonly Claims[],
  names: ClaimNames,
  refreshToken: string | undefined,
): Person => ({
  issuer: iss,
  subject: sub,
  ...emailIn(sources, names),
  name:
    sources
      .map((one) => textIn(one, names.name))
      .find(Boolean)
      ?.slice(0, 255) ?? null,
  authTime,
  groups: groupsIn(sources, names.groups),
  externalId: names.directory === 'sub' ? sub : sources.map((one) => textIn(one, names.directory)).find(Boolean),
  refreshToken,
})

/**
 * Opens an issuer that signs people in (OpenID Connect, authorization code with PKCE). Nothing is asked of it before
 * the first sign-in, so that the service starts while it is away.
 */
export const openIssuer = (options: IssuerOptions): Issuer => {
  const { clientId, scopes, redirect, claims } = options
  const { readMetadata, configure } = openConfigurations(options)
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
      const info = await readUserInfo(library, config, tokens.access_token, own.sub)
      return personIn(own, [own, info], claims, tokens.refresh_token)
    },
    refresh: async (refreshToken, subject) => {
      const { library, config } = await configure()
      const tokens = await library.refreshTokenGrant(config, refreshToken).catch(failed)
      const own = tokens.claims()
      if (own !== undefined && own.sub !== subject) failed(new Error('the issuer has refreshed somebody else'))
      const info = await readUserInfo(library, config, tokens.access_token, subject)
      const person = personIn(
        { iss: options.issuer, sub: subject },
        [own ?? {}, info],
        claims,
        tokens.refresh_token ?? refreshToken,
      )
      // without an ID token, what the userinfo lacks is not known
      return own === undefined && person.groups?.length === 0 ? { ...person, groups: undefined } : person
    },
    signOutAddress: async (to) => {
      const metadata = await readMetadata().catch(() => undefined)
      if (metadata?.end_session_endpoint === undefined) return undefined
      const address = new URL(metadata.end_session_endpoint)
      address.searchParams.set('client_id', clientId)
      address.searchParams.set('post_logout_redirect_uri', to)
      return address.href
    },
  }
}

/** Whether a person has signed in since a moment (ms since 1970). */
export const isFresh = ({ authTime }: Pick<Person, 'authTime'>, since: number): boolean =>
  authTime !== undefined && (authTime + tolerance) * 1000 >= since
