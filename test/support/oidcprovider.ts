import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { generateKeyPairSync } from 'node:crypto'

/** What the tests use of `oidc-provider`, which has no types. */
interface Provider {
  readonly callback: () => (req: IncomingMessage, res: ServerResponse) => unknown
  readonly interactionDetails: (
    req: IncomingMessage,
    res: ServerResponse,
  ) => Promise<{ readonly prompt: { readonly name: string } }>
  readonly interactionFinished: (
    req: IncomingMessage,
    res: ServerResponse,
    result: object,
    options: object,
  ) => Promise<void>
  readonly Grant: new (of: { readonly accountId: string; readonly clientId: string }) => {
    readonly addOIDCScope: (scope: string) => void
    readonly save: () => Promise<string>
  }
}
type ProviderClass = new (issuer: string, configuration: object) => Provider

const keyOf = (alg: string) => {
  const { privateKey } =
    alg === 'ES256'
      ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
      : generateKeyPairSync('rsa', { modulusLength: 2048 })
  return { ...privateKey.export({ format: 'jwk' }), alg, use: 'sig', kid: `key ${alg}` }
}

/** Starts a real issuer, at which `ann` signs in without being asked anything. */
export const startProvider = async (
  redirect: string,
  alg: 'RS256' | 'ES256' | 'HS256',
  /** where it reports a sign-out, and whether it names the session */
  logout?: { readonly uri: string; readonly named: boolean },
) => {
  let answer: (req: IncomingMessage, res: ServerResponse) => unknown = () => {}
  const server = createServer((req, res) => void answer(req, res))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = `http://localhost:${(server.address() as AddressInfo).port}`
  // by a name that the compiler does not look up
  const name: string = 'oidc-provider'
  const { Provider } = (await import(name)) as { readonly Provider: ProviderClass }
  const clientId = 'linkledger'
  const provider = new Provider(address, {
    clients: [
      {
        client_id: clientId,
        client_secret: 'a secret that is long enough for HS256',
        redirect_uris: [redirect],
        post_logout_redirect_uris: [],
        id_token_signed_response_alg: alg,
        ...(logout && { backchannel_logout_uri: logout.uri, backchannel_logout_session_required: logout.named }),
      },
    ],
    enabledJWA: { idTokenSigningAlgValues: ['RS256', 'ES256', 'HS256'] },
    jwks: { keys: [keyOf('RS256'), keyOf('ES256')] },
    cookies: { keys: ['a key of a test'] },
    ttl: { Interaction: 600, Session: 600, Grant: 600, AccessToken: 600, IdToken: 600 },
    features: { devInteractions: { enabled: false }, backchannelLogout: { enabled: true } },
    // its own refuses addresses of this machine
    fetch: (at: string, { dispatcher: _, ...options }: RequestInit & { readonly dispatcher?: unknown }) =>
      fetch(at, options),
    pkce: { required: () => true },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    interactions: { url: (_: unknown, { uid }: { readonly uid: string }) => `/interaction/${uid}` },
    findAccount: (_: unknown, accountId: string) => ({
      accountId,
      claims: () => ({ sub: accountId, email: 'ann@example.com', email_verified: true, name: 'Ann Smith' }),
    }),
  })
  const handle = provider.callback()
  const interact = async (req: IncomingMessage, res: ServerResponse) => {
    const { prompt } = await provider.interactionDetails(req, res)
    if (prompt.name === 'login')
      return provider.interactionFinished(req, res, { login: { accountId: 'ann' } }, { mergeWithLastSubmission: false })
    const grant = new provider.Grant({ accountId: 'ann', clientId })
    grant.addOIDCScope('openid email profile')
    const consent = { grantId: await grant.save() }
    return provider.interactionFinished(req, res, { consent }, { mergeWithLastSubmission: true })
  }
  answer = (req, res) => (req.url?.startsWith('/interaction/') ? interact(req, res) : handle(req, res))

  const cookies = new Map<string, string>()
  return {
    address,
    clientId,
    clientSecret: 'a secret that is long enough for HS256',
    /** Follows an address as a browser does, until it leads back to the service. Returns the query of that. */
    follow: async (at: string) => {
      let next = at
      for (let steps = 0; steps < 12; steps++) {
        const header = [...cookies].map(([key, value]) => `${key}=${value}`).join('; ')
        const response = await fetch(next, { redirect: 'manual', headers: { Cookie: header } })
        for (const line of response.headers.getSetCookie()) {
          const [, key = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
          if (value === '') cookies.delete(key)
          else cookies.set(key, value)
        }
        const location = response.headers.get('Location')
        if (location === null) throw new Error(`${next} leads nowhere: ${response.status} ${await response.text()}`)
        next = new URL(location, next).href
        if (next.startsWith(redirect)) return new URL(next).searchParams
      }
      throw new Error(`${at} leads in circles`)
    },
    /** Signs out at the provider on its page for that. Resolves once the provider has notified its clients. */
    signOut: async () => {
      const header = () => [...cookies].map(([key, value]) => `${key}=${value}`).join('; ')
      const page = await fetch(`${address}/session/end`, { headers: { Cookie: header() } })
      const [, xsrf = ''] = /name="xsrf" value="([^"]+)"/.exec(await page.text()) ?? []
      const confirmed = await fetch(`${address}/session/end/confirm`, {
        method: 'POST',
        headers: { Cookie: header() },
        body: new URLSearchParams({ xsrf, logout: 'yes' }),
        redirect: 'manual',
      })
      if (confirmed.status !== 303)
        throw new Error(`the provider did not sign out: ${confirmed.status} ${await confirmed.text()}`)
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
