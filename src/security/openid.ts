import type { Configuration, ServerMetadata } from 'openid-client'
import type { Claims } from './claims.ts'
import { failed, NotSignedIn } from './notsignedin.ts'

/** What a service is to an issuer. */
export interface Client {
  /** the address of the issuer */
  readonly issuer: string
  readonly clientId: string
  /** undefined: the client is a public one, which PKCE alone protects */
  readonly clientSecret: string | undefined
}

/** s that clocks may differ by */
export const tolerance = 30
/** s */
const timeout = 10
/** ms that its metadata is used without asking again */
const metadataAge = 3_600_000
/** What it may sign with: never with the secret of the client, and never with nothing. */
const algorithms = /^(?:RS|PS|ES)(?:256|384|512)$|^(?:EdDSA|Ed25519)$/

/** It is loaded with the first sign-in: most services have no issuer. */
const load = () => import('openid-client')
type Library = Awaited<ReturnType<typeof load>>

const isHttp = (address: string) => address.startsWith('http:')

/** What it signs with, of what it says that it may. Without a list, it is RS256 (OpenID Connect Discovery). */
export const signing = ({ id_token_signing_alg_values_supported: all }: ServerMetadata) => {
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

/** Returns what the issuer says of a person besides the ID token; undefined: it has no address for that. */
export const readUserInfo = async (
  library: Library,
  config: Configuration,
  token: string,
  subject: string,
): Promise<Claims | undefined> =>
  config.serverMetadata().userinfo_endpoint === undefined
    ? undefined
    : await library.fetchUserInfo(config, token, subject).catch(failed)
