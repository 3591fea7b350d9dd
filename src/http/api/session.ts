import type { IncomingMessage } from 'node:http'
import type { Domains } from '../../cache/domains.ts'
import type { Account } from '../../commands/accounts/state.ts'
import { allScopes, type Scope } from '../../events/accounts/scope.ts'
import type { Session, SessionClient, Sessions } from '../../security/sessions.ts'
import { readAgent } from '../../clicks/visitor/agent.ts'

/** The owner of an account, signed in on the dashboard. */
export interface SessionHolder {
  readonly account: number
  /** the id of the session */
  readonly session: number
  /** whether its password was entered in the last ten minutes */
  readonly confirmed: boolean
  /** the stored hash of the password that it was opened with */
  readonly password: string | null
  readonly scopes: readonly Scope[]
  /** whether the account is marked as that of an operator */
  readonly operator: boolean
}

/** What a request tells about the browser that has sent it. */
export interface BrowserCall {
  /**
   * Whether a page of this service has sent the request: no other site, and no branded domain, of which somebody else
   * may have the pages tomorrow.
   */
  readonly sameOrigin: boolean
  readonly client: SessionClient
  /** the token in the cookie */
  readonly token: string | undefined
  /** Returns the mark of a browser that has signed in to an account before; it has to be checked. */
  readonly markOf: (account: number) => string | undefined
}

export interface SessionOptions {
  readonly sessions: Sessions
  /** Reads an account as it is now. */
  readonly accountOf: (id: number) => Promise<Account>
  readonly domains: Domains
  readonly baseUrl: () => string
  /** whether the dashboard and its sessions are on a host */
  readonly isDashboardHost: (host: string) => boolean
}

/**
 * Browsers accept the prefix only from this host over https, so that no other subdomain can set the cookie (RFC
 * 6265bis, 4.1.3.2).
 */
const cookieName = (secure: boolean) => `${secure ? '__Host-' : ''}linkledger_session`
const isSecure = (baseUrl: string) => baseUrl.startsWith('https:')

/** Returns the `Set-Cookie` header of a session; without a token, the one that ends it. */
export const sessionCookie = (token: string | undefined, baseUrl: string, seconds: number): string => {
  const secure = isSecure(baseUrl)
  const age = token === undefined ? 0 : seconds
  return `${cookieName(secure)}=${token ?? ''}; Path=/; Max-Age=${age}; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`
}

/** seconds; browsers keep no cookie for longer */
const markAge = 400 * 86_400
const markName = (account: number, secure: boolean) => `${secure ? '__Host-' : ''}linkledger_browser_${account}`

/** Returns the `Set-Cookie` header by which a browser that has signed in to an account is known later. */
export const browserCookie = (account: number, mark: string, baseUrl: string): string => {
  const secure = isSecure(baseUrl)
  return `${markName(account, secure)}=${mark}; Path=/; Max-Age=${markAge}; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`
}

const cookieOf = ({ headers }: IncomingMessage, of: string) => {
  const name = `${of}=`
  const found = headers.cookie
    ?.split(';')
    .map((part) => part.trim())
    .filter((part) => part.startsWith(name))
  // two cookies of the name: one of them is not ours
  return found?.length === 1 ? found[0]?.slice(name.length) || undefined : undefined
}

const tokenOf = (req: IncomingMessage, baseUrl: string) => cookieOf(req, cookieName(isSecure(baseUrl)))

/** Whether a browser has a session, which may have ended. */
export const hasSessionCookie = (req: IncomingMessage, baseUrl: string): boolean => tokenOf(req, baseUrl) !== undefined

/**
 * Returns the host of an origin that can be a page of this service: behind https, a page that came over http is not,
 * whatever host it names.
 */
const hostOf = (origin: string, baseUrl: string) => {
  try {
    const { host, protocol } = new URL(origin)
    return protocol === 'https:' || !isSecure(baseUrl) ? host : undefined
  } catch {
    return undefined
  }
}

/**
 * Whether a page of this service has sent a request. Browsers say so in `Sec-Fetch-Site`, except over plain http and
 * older ones: then a request that changes something has an `Origin`, and one that reads may have none, because the
 * cookie is not sent with requests of other sites. The dashboard asks by script alone, and leads no window to an
 * answer.
 */
const isSameOrigin = ({ method, headers }: IncomingMessage, baseUrl: string) => {
  const { origin, host } = headers
  const site = headers['sec-fetch-site']
  if (headers['sec-fetch-mode'] === 'navigate') return false
  if (origin !== undefined) {
    const sender = hostOf(origin, baseUrl)
    if (sender === undefined || (sender !== host && sender !== new URL(baseUrl).host)) return false
  }
  if (site !== undefined) return site === 'same-origin'
  return origin !== undefined || method === 'GET' || method === 'HEAD'
}

/** Returns what a request tells about its browser. */
export const browserOf = (
  req: IncomingMessage,
  { baseUrl, domains, isDashboardHost }: Pick<SessionOptions, 'baseUrl' | 'domains' | 'isDashboardHost'>,
): BrowserCall => {
  const { host = '' } = req.headers
  const isOurs = isDashboardHost(host) && domains.byHost(host) === undefined
  const { browser, os } = readAgent(req.headers['user-agent'] ?? '')
  return {
    sameOrigin: isOurs && isSameOrigin(req, baseUrl()),
    client: { browser: browser.family, os: os.family },
    token: tokenOf(req, baseUrl()),
    markOf: (account) => cookieOf(req, markName(account, isSecure(baseUrl()))),
  }
}

/** Who presents a session that works, or why it does not work; undefined for a request without one. */
export type PresentedSession =
  { readonly holder: SessionHolder; readonly session: Session } | { readonly disabled: number } | undefined

/**
 * Returns who has sent a request, by the cookie of a session. A request of another site counts as one without a cookie.
 * The account is read from its stream, so that a session never outlives its password, or an account that is disabled or
 * erased.
 */
export const presentedSession = async (
  req: IncomingMessage,
  { sessions, accountOf, ...hosts }: SessionOptions,
): Promise<PresentedSession> => {
  if (req.headers.cookie === undefined) return undefined
  const { sameOrigin, token } = browserOf(req, hosts)
  const session = sameOrigin && token !== undefined ? await sessions.find(token) : undefined
  if (!session) return undefined
  const { account } = session
  const state = await accountOf(account)
  if (!session.isFor(state.password)) return undefined
  if (state.status === 'disabled') return { disabled: account }
  return state.status === 'active'
    ? {
        holder: {
          account,
          session: session.id,
          confirmed: session.confirmed,
          password: state.password,
          scopes: allScopes,
          operator: state.operator,
        },
        session,
      }
    : undefined
}
