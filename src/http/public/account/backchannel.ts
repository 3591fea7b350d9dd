import type { IncomingMessage, ServerResponse } from 'node:http'
import { addressBlock, clientAddress } from '../../../lib/address.ts'
import { isUnavailable } from '../../../lib/unavailable.ts'
import type { Issuer } from '../../../security/issuer.ts'
import { NotSignedIn } from '../../../security/notsignedin.ts'
import { retryAfter } from '../../accounts/identity.ts'
import { failureOf } from '../../api/errors.ts'
import { countNetworks } from '../../api/limits/limiter.ts'
import { readForm } from '../postedform.ts'
import type { PublicHandler } from '../responses.ts'
import type { OidcPagesOptions } from './oidc.ts'

export interface BackchannelOptions extends Pick<
  OidcPagesOptions,
  'domains' | 'entrance' | 'limiter' | 'log' | 'sessions' | 'trustProxy'
> {
  readonly issuer: Pick<Issuer, 'logoutIn'>
}

/** The path at which the issuer reports a logout. */
export const backchannelPath = '/oidc/backchannel-logout'

/** an issuer that signs all its users out uses one address */
const rate = { limit: 6000, seconds: 600 }
/** bytes of a form, and characters of a token */
const [formLimit, longest] = [16_384, 8192]

/** The response to the issuer, which shows no page (OpenID Connect Back-Channel Logout, 2.8). */
interface Outcome {
  readonly status: number
  readonly error?: string
  readonly why?: string
  readonly headers?: Readonly<Record<string, string>>
}
const invalid = (why: string): Outcome => ({ status: 400, error: 'invalid_request', why })
const later = (why: string): Outcome => ({
  status: 503,
  error: 'temporarily_unavailable',
  why,
  headers: { 'Retry-After': String(retryAfter) },
})

const send = (res: ServerResponse, { status, error, why, headers }: Outcome) =>
  res
    .writeHead(status, {
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
      ...headers,
      ...(error !== undefined && { 'Content-Type': 'application/json' }),
    })
    .end(error === undefined ? undefined : JSON.stringify({ error, error_description: why }))

const isForm = ({ headers }: IncomingMessage) =>
  /^application\/x-www-form-urlencoded *(?:;|$)/i.test(headers['content-type'] ?? '')

/** Ends the sessions that a token names. */
const createLogout = ({ entrance, issuer, log, sessions }: BackchannelOptions) => {
  const end = async (token: string): Promise<Outcome> => {
    const ended = await issuer.logoutIn(token)
    const { subject } = ended
    const holder = subject === undefined ? undefined : await entrance.find({ issuer: ended.issuer, subject })
    const isFirst = await sessions.endBy({ ...ended, holder })
    return isFirst ? { status: 200 } : invalid('the logout token was used before')
  }
  return async (req: IncomingMessage): Promise<Outcome> => {
    const form = isForm(req) ? await readForm(req, formLimit) : undefined
    const [token = '', ...others] = form?.getAll('logout_token') ?? []
    if (token === '' || token.length > longest || others.length > 0)
      return invalid(`one \`logout_token\` of at most ${longest} characters must be in a form`)
    try {
      return await end(token)
    } catch (error) {
      if (!(error instanceof NotSignedIn)) throw error
      log.warn({ why: error.why, problem: error.message }, 'a logout of the issuer was refused')
      return error.why === 'away' ? later('the issuer does not answer') : invalid(error.message)
    }
  }
}

/** Serves the address at which the issuer ends sessions, and passes on other requests. */
export const createBackchannel = (options: BackchannelOptions, others: PublicHandler): PublicHandler => {
  const { domains, limiter, log, trustProxy } = options
  const logOut = createLogout(options)
  const answer = async (req: IncomingMessage): Promise<Outcome> => {
    if (req.method !== 'POST') return { ...invalid('it takes a POST'), status: 405, headers: { Allow: 'POST' } }
    const from = addressBlock(clientAddress(req, trustProxy))
    const { over, wait } = await countNetworks(limiter, 'logout', from, rate.limit, rate.seconds)
    if (!over) return logOut(req)
    return { status: 429, error: 'slow_down', why: 'too many requests', headers: { 'Retry-After': String(wait) } }
  }
  return async (req, res) => {
    if (req.url?.split('?')[0] !== backchannelPath || domains.byHost(req.headers.host ?? '')) return others(req, res)
    const outcome = await answer(req).catch((error: unknown): Outcome => {
      if (!isUnavailable(error)) log.error({ err: error }, 'a logout of the issuer has failed')
      // the issuer may send the same token again
      return later(failureOf(error).message)
    })
    send(res, outcome)
  }
}
