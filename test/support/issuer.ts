import { createHmac, generateKeyPairSync, type KeyObject, randomUUID, sign } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'

type Claims = Readonly<Record<string, unknown>>

/** What an issuer does other than it should. */
export interface Mischief {
  /** claims instead of the right ones */
  readonly claims?: Claims
  readonly header?: { readonly alg: string; readonly kid?: string }
  /** signs with a key that it does not publish */
  readonly forged?: boolean
  readonly userinfo?: Claims
  /** what its userinfo waits for */
  readonly pause?: Promise<unknown>
  /** answers everything with 503 */
  readonly away?: boolean
  /** sends a refresh token, which works while this holds */
  readonly refreshes?: boolean
  /** sends no ID token for a refresh token */
  readonly bare?: boolean
  /** refuses refresh tokens */
  readonly ended?: boolean
  readonly metadata?: Claims
}

const encode = (value: object | string) =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')

const signatureOf = (alg: string, text: string, key: KeyObject) => {
  if (alg === 'none') return Buffer.alloc(0)
  if (alg === 'HS256') return createHmac('sha256', 'a secret').update(text).digest()
  if (alg === 'ES256') return sign('sha256', Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' })
  return sign('sha256', Buffer.from(text), key)
}

const jwtOf = (header: { readonly alg: string; readonly typ?: string }, claims: Claims, key: KeyObject) => {
  const text = `${encode({ typ: 'JWT', ...header })}.${encode(claims)}`
  return `${text}.${signatureOf(header.alg, text, key).toString('base64url')}`
}

const newKeys = (alg: 'RS256' | 'ES256') => {
  const { privateKey, publicKey } =
    alg === 'RS256'
      ? generateKeyPairSync('rsa', { modulusLength: 2048 })
      : generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const kid = randomUUID()
  return { alg, kid, privateKey, jwk: { ...publicKey.export({ format: 'jwk' }), kid, alg, use: 'sig' } }
}

const formOf = async (req: IncomingMessage) => {
  const chunks: Buffer[] = []
  for await (const chunk of req as AsyncIterable<Buffer>) chunks.push(chunk)
  return new URLSearchParams(Buffer.concat(chunks).toString())
}

/** A small issuer that answers as it is told to. A code works once. */
export const startStubIssuer = async (alg: 'RS256' | 'ES256' = 'RS256') => {
  let keys = newKeys(alg)
  let mischief: Mischief = {}
  let person: Claims = { sub: 'ann' }
  const codes = new Map<string, { readonly nonce: string; readonly client: string }>()
  const used: string[] = []
  const json = (res: ServerResponse, body: object, status = 200) =>
    res.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body))

  const answer = async (req: IncomingMessage, res: ServerResponse) => {
    const path = (req.url ?? '').split('?')[0] ?? ''
    used.push(path)
    if (mischief.away) return json(res, { error: 'server_error' }, 503)
    if (path === '/.well-known/openid-configuration')
      return json(res, {
        issuer: address,
        authorization_endpoint: `${address}/authorize`,
        token_endpoint: `${address}/token`,
        jwks_uri: `${address}/jwks`,
        userinfo_endpoint: `${address}/userinfo`,
        end_session_endpoint: `${address}/logout`,
        response_types_supported: ['code'],
        id_token_signing_alg_values_supported: [alg, 'HS256', 'none'],
        authorization_response_iss_parameter_supported: true,
        ...mischief.metadata,
      })
    if (path === '/jwks') return json(res, { keys: [keys.jwk] })
    if (path === '/userinfo') await mischief.pause
    if (path === '/userinfo') return json(res, mischief.userinfo ?? person)
    const form = await formOf(req)
    const code = form.get('code') ?? ''
    const isAgain = form.get('grant_type') === 'refresh_token' && !mischief.ended
    const begun = isAgain ? { nonce: undefined, client: 'linkledger' } : codes.get(code)
    codes.delete(code)
    if (!begun) return json(res, { error: 'invalid_grant' }, 400)
    const now = Math.floor(Date.now() / 1000)
    const claims = { iss: address, aud: begun.client, nonce: begun.nonce, iat: now, exp: now + 300, auth_time: now }
    const header = { kid: keys.kid, alg: keys.alg, ...mischief.header }
    const key = mischief.forged ? newKeys(alg).privateKey : keys.privateKey
    const token = jwtOf(header, { ...claims, ...person, ...mischief.claims }, key)
    const refresh = mischief.refreshes ? { refresh_token: `refresh-${randomUUID()}` } : {}
    const own = isAgain && mischief.bare ? {} : { id_token: token }
    return json(res, { access_token: 'access', token_type: 'Bearer', ...own, ...refresh })
  }
  const server = createServer((req, res) => void answer(req, res))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = `http://localhost:${(server.address() as AddressInfo).port}`

  const signIn = (at: string) => {
    const asked = new URL(at).searchParams
    const code = randomUUID()
    codes.set(code, { nonce: asked.get('nonce') ?? '', client: asked.get('client_id') ?? '' })
    return new URLSearchParams({ code, state: asked.get('state') ?? '', iss: address })
  }

  /** Returns a logout token that is right but for what is given. */
  const logoutToken = (claims: Claims, { header, forged }: Pick<Mischief, 'header' | 'forged'> = {}) => {
    const now = Math.floor(Date.now() / 1000)
    const events = { 'http://schemas.openid.net/event/backchannel-logout': {} }
    const own = { iss: address, aud: 'linkledger', iat: now, exp: now + 120, jti: randomUUID(), events }
    const key = forged ? newKeys(alg).privateKey : keys.privateKey
    return jwtOf({ typ: 'logout+jwt', kid: keys.kid, alg: keys.alg, ...header }, { ...own, ...claims }, key)
  }

  return {
    address,
    used,
    logoutToken,
    /** Sets what it knows of the person who signs in next. */
    knows: (claims: Claims) => void (person = claims),
    does: (what: Mischief) => void (mischief = what),
    rotate: () => void (keys = newKeys(alg)),
    /** Signs in, as a browser does at the address to which the service leads. Returns the query that comes back. */
    signIn,
    /** The same as the address of the service at which it comes back. */
    answerTo: (at: unknown) => `/oidc/callback?${signIn(String(at)).toString()}`,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
export type StubIssuer = Awaited<ReturnType<typeof startStubIssuer>>
