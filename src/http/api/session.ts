import type { IncomingMessage } from 'node:http'
import type { MemberHolder } from '../../cache/auth.ts'
import type { Domains } from '../../cache/domains.ts'
import type { Members } from '../../cache/access.ts'
import { type Account, isShut } from '../../commands/accounts/state.ts'
import type { Credential } from '../../security/credential.ts'
import { allScopes, type Scope } from '../../events/accounts/scope.ts'
import { rightsOf } from '../../events/accounts/role.ts'
import type { Open } from '../../events/openenum.ts'
import { type AuthProxy, proxiedBy } from '../../security/authproxy.ts'
import type { Session, SessionClient, Sessions } from '../../security/sessions.ts'
import { readAgent } from '../../clicks/visitor/agent.ts'

/** Somebody who is signed in on the dashboard. */
export interface SessionHolder {
  /** in which they act */
  readonly account: number
  /** which they sign in to */
  readonly person: number
  /** what they are there, if that is another one */
  readonly member?: MemberHolder | undefined
  /** the id of the session */
  readonly session: number
  /** whether its password was entered, or its sign-in repeated, in the last ten minutes */
  readonly confirmed: boolean
  /** what it was opened with */
  readonly credential: Credential
  readonly scopes: readonly Open<Scope>[]
  /** whether their own account is marked as that of an operator */
  readonly operator: boolean
  /** whether they may read all that `account` may */
  readonly audit: boolean
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
  /** whom the proxy in front names, as `AuthProxy` says */
  readonly proxied: string | undefined
  /** Returns the mark of a browser that has signed in to an account before; it has to be checked. */
  readonly markOf: (account: number) => string | undefined
  /** what is kept of the uses of passkeys that it has begun, sealed, by their ids; the last one comes last */
  readonly passkeys: ReadonlyMap<string, string>
}

export interface SessionOptions {
  readonly sessions: Sessions
  /** Reads an account as it is now. */
  readonly accountOf: (id: number) => Promise<Account>
  readonly members: Pick<Members, 'find'>
  readonly domains: Domains
  readonly baseUrl: () => string
  /** undefined without AUTH_PROXY_HEADER */
  readonly authProxy: AuthProxy | undefined
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

const passkeyName = (secure: boolean) => `${secure ? '__Host-' : ''}linkledger_passkey_`

/**
 * Returns the `Set-Cookie` header by which the answer of a passkey is known as that of this browser. Each page that
 * asks has one of its own, by a part of its challenge: the answer of one must not take away that of another.
 */
export const passkeyCookie = (id: string, sealed: string, baseUrl: string, seconds: number): string => {
  const secure = isSecure(baseUrl)
  return `${passkeyName(secure)}${id}=${sealed}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure ? '; Secure' : ''}`
}

/** Returns the value of a cookie; undefined when there is none, or more than one. */
export const cookieOf = ({ headers }: IncomingMessage, of: string) => {
  const name = `${of}=`
  const found = headers.cookie
    ?.split(';')
    .map((part) => part.trim())
    .filter((part) => part.startsWith(name))
  // two cookies of the name: one of them is not ours
  return found?.length === 1 ? found[0]?.slice(name.length) || undefined : undefined
}

/** Returns the uses of passkeys that a browser has begun, in the order in which it sends them: the oldest first. */
const passkeysOf = ({ headers }: IncomingMessage, baseUrl: string): ReadonlyMap<string, string> => {
  const found = new RegExp(`(?:^|; ?)${passkeyName(isSecure(baseUrl))}([\\w-]{8})=([^;]+)`, 'g')
  return new Map([...(headers.cookie ?? '').matchAll(found)].map(([, id = '', sealed = '']) => [id, sealed]))
}

/** Returns the token of a session that a browser has, which may have ended. */
export const tokenOf = (req: IncomingMessage, baseUrl: string) => cookieOf(req, cookieName(isSecure(baseUrl)))

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

/** Returns what a session is listed as that a request opens. */
export const clientOf = ({ headers }: IncomingMessage): SessionClient => {
  const { browser, os } = readAgent(headers['user-agent'] ?? '')
  return { browser: browser.family, os: os.family }
}

/** Returns what a request tells about its browser. */
export const browserOf = (
  req: IncomingMessage,
  {
    authProxy,
    baseUrl,
    domains,
    isDashboardHost,
  }: Pick<SessionOptions, 'authProxy' | 'baseUrl' | 'domains' | 'isDashboardHost'>,
): BrowserCall => {
  const { host = '' } = req.headers
  const isOurs = isDashboardHost(host) && domains.byHost(host) === undefined
  return {
    sameOrigin: isOurs && isSameOrigin(req, baseUrl()),
    client: clientOf(req),
    token: tokenOf(req, baseUrl()),
    proxied: authProxy?.subjectOf(req),
    get passkeys() {
      return passkeysOf(req, baseUrl())
    },
    markOf: (account) => cookieOf(req, markName(account, isSecure(baseUrl()))),
  }
}

/** Who presents a session that works, or why it does not work; undefined for a request without one. */
export type PresentedSession =
  | { readonly holder: SessionHolder; readonly session: Session }
  | { readonly disabled: number }
  /** of whom the session is: they are no member of the account that they have chosen */
  | { readonly foreign: number }
  | undefined

/** The account that a session has chosen: a download, a picture or a stream of a page cannot send a header. */
export const accountHeader = 'Linkledger-Account'
const chosenBy = ({ headers, method, url = '' }: IncomingMessage): number | undefined => {
  const header = headers['linkledger-account']
  const query = method === 'GET' || method === 'HEAD' ? url.split('?')[1] : undefined
  const named = header ?? (query?.includes('account=') ? new URLSearchParams(query).get('account') : undefined)
  if (named === undefined || named === null) return undefined
  return typeof named === 'string' && /^[1-9]\d{0,14}$/.test(named) ? Number(named) : 0
}

/**
 * Whether the proxy names the person of a session that it has opened. One for which it names somebody else, or nobody,
 * ends; a request that came around the proxy counts as one without a session, and ends none.
 */
export const isProxied = async (
  sessions: Pick<Sessions, 'end'>,
  { account, id }: Pick<Session, 'account' | 'id'>,
  subject: string | undefined,
  named: string | undefined,
): Promise<boolean> => {
  if (subject === undefined) return true
  const isNamed = named === subject && subject !== ''
  if (named !== undefined && !isNamed) await sessions.end(account, id)
  return isNamed
}

/**
 * Returns who has sent a request, by the cookie of a session. A request of another site counts as one without a cookie.
 * The account is read from its stream, so that a session never outlives its password or identity, or an account that is
 * disabled or erased. `person`: they act in their own account, whichever they have chosen; only what finds out who they
 * are answers where that is none of theirs, since then another tab has signed in somebody else than its page shows.
 */
export const presentedSession = async (
  req: IncomingMessage,
  { sessions, accountOf, members, ...hosts }: SessionOptions,
  person?: true | 'or key',
): Promise<PresentedSession> => {
  if (req.headers.cookie === undefined) return undefined
  const { proxied, sameOrigin, token } = browserOf(req, hosts)
  const session = sameOrigin && token !== undefined ? await sessions.find(token) : undefined
  if (!session) return undefined
  const { account: own } = session
  const state = await accountOf(own)
  const credential = session.openedWith(state)
  if (!credential || !(await isProxied(sessions, session, proxiedBy(state, credential), proxied))) return undefined
  if (state.status === 'erased') return undefined
  if (isShut(state)) return { disabled: own }
  const { operator } = state
  const signedIn = { person: own, session: session.id, confirmed: session.confirmed, credential, operator }
  const chosen = person === 'or key' ? undefined : chosenBy(req)
  const alone = { holder: { ...signedIn, account: own, scopes: allScopes, audit: true }, session }
  if (chosen === undefined || chosen === own) return alone
  const member = await members.find(chosen, own)
  if (!member || member.status === 'erased') return { foreign: own }
  if (person) return alone
  if (member.status === 'disabled') return { disabled: chosen }
  const rights = rightsOf(member.role)
  const { number, role, domains } = member
  return {
    holder: {
      ...signedIn,
      account: chosen,
      member: { number, role, domains },
      scopes: rights.filter((right) => right !== 'audit'),
      audit: rights.some((right) => right === 'audit' || right === 'account'),
    },
    session,
  }
}
