import type { Configuration, ServerMetadata } from 'openid-client'
import type { Claims } from './claims.ts'
import { failed, NotSignedIn } from './notsignedin.ts'

/** The service as a client of an issuer. */
export interface Client {
  /** the address of the issuer */
  readonly issuer: string
  readonly clientId: string
  /** undefined: the client is a public one, which PKCE alone protects */
  readonly clientSecret: string | undefined
}

/** s of clock skew to accept */
export const tolerance = 30
/** s */
const timeout = 10
/** ms for which its metadata is cached */
const metadataAge = 3_600_000
/** Accepted signature algorithms: never the client's secret, and never none. */
const algorithms = /^(?:RS|PS|ES)(?:256|384|512)$|^(?:EdDSA|Ed25519)$/

/** Loaded with the first sign-in: most services have no issuer. */
const load = () => import('openid-client')
type Library = Awaited<ReturnType<typeof load>>

const isHttp = (address: string) => address.startsWith('http:')

/** Returns its accepted signature algorithms. Without a list, it is RS256 (OpenID Connect Discovery). */
export const signing = ({ id_token_signing_alg_values_supported: all }: ServerMetadata) => {
  const given = all?.filter((one) => algorithms.test(one)) ?? ['RS256']
  if (given.length > 0) return given
  throw new NotSignedIn('answer', `the issuer signs with ${all?.join(', ')} only; it must sign with RS256 or ES256`)
}

/** Caches the result of a promise, unless it fails. */
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

/** Returns how the service authenticates to the issuer. */
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

/** Returns functions that open the library for one sign-in, and read the metadata of the issuer, cached for an hour. */
export const openLibrary = ({ issuer, clientId, clientSecret }: Client) => {
  const execute = ({ allowInsecureRequests }: Library) => (isHttp(issuer) ? [allowInsecureRequests] : [])
  const readMetadata = remembered(async (): Promise<ServerMetadata> => {
    const library = await load()
    const found = await library
      .discovery(new URL(issuer), clientId, undefined, undefined, { execute: execute(library), timeout })
      .catch(failed)
    // without its functions
    return JSON.parse(JSON.stringify(found.serverMetadata())) as ServerMetadata
  }, metadataAge)
  /** Reads the keys of the issuer at each sign-in, so that the issuer may replace them at any time. */
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
    // without it, the signature of an ID token that came directly from the issuer is not checked
    for (const change of [library.enableNonRepudiationChecks, ...execute(library)]) change(config)
    return { library, config }
  }
  return { readMetadata, configure }
}

/** Returns the userinfo of a person; undefined: the issuer has no address for that. */
export const readUserInfo = async (
  library: Library,
  config: Configuration,
  token: string,
  subject: string,
): Promise<Claims | undefined> =>
  config.serverMetadata().userinfo_endpoint === undefined
    ? undefined
    : await library.fetchUserInfo(config, token, subject).catch(failed)
