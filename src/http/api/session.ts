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

/** A person who is signed in on the dashboard. */
export interface SessionHolder {
  /** the account in which they act */
  readonly account: number
  /** the account that they sign in to */
  readonly person: number
  /** their membership, if that is another account */
  readonly member?: MemberHolder | undefined
  /** the id of the session */
  readonly session: number
  /** whether its password was entered, or its sign-in repeated, in the last ten minutes */
  readonly confirmed: boolean
  /** the credential that opened it */
  readonly credential: Credential
  readonly scopes: readonly Open<Scope>[]
  /** whether their own account is marked as that of an operator */
  readonly operator: boolean
  /** whether they may read everything that `account` may */
  readonly audit: boolean
}

/** Facts about the browser that sent a request. */
export interface BrowserCall {
  /**
   * Whether a page of this service has sent the request: no other site, and no branded domain, which may belong to
   * another person later.
   */
  readonly sameOrigin: boolean
  readonly client: SessionClient
  /** the token in the cookie */
  readonly token: string | undefined
  /** the person whom the proxy in front names, as from `AuthProxy` */
  readonly proxied: string | undefined
  /** Returns the mark of a browser that has signed in to an account before; it must still be checked. */
  readonly markOf: (account: number) => string | undefined
  /** the sealed passkey flows that it has begun, by their ids; the newest is last */
  readonly passkeys: ReadonlyMap<string, string>
}

export interface SessionOptions {
  readonly sessions: Sessions
  /** Returns the current state of an account. */
  readonly accountOf: (id: number) => Promise<Account>
  readonly members: Pick<Members, 'find'>
  readonly domains: Domains
  readonly baseUrl: () => string
  /** undefined without AUTH_PROXY_HEADER */
  readonly authProxy: AuthProxy | undefined
  /** whether a host serves the dashboard and its sessions */
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

/** Returns the `Set-Cookie` header that identifies a browser which has signed in to an account. */
export const browserCookie = (account: number, mark: string, baseUrl: string): string => {
  const secure = isSecure(baseUrl)
  return `${markName(account, secure)}=${mark}; Path=/; Max-Age=${markAge}; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`
}

const passkeyName = (secure: boolean) => `${secure ? '__Host-' : ''}linkledger_passkey_`

/**
 * Returns the `Set-Cookie` header that ties the response of a passkey to this browser. Each page that asks has a cookie
 * of its own, named by a part of its challenge, so that the response of one page does not remove that of another.
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
  // with two cookies of the name, one is not ours
  return found?.length === 1 ? found[0]?.slice(name.length) || undefined : undefined
}

/** Returns the passkey flows that a browser has begun, in the order in which it sends them: the oldest first. */
const passkeysOf = ({ headers }: IncomingMessage, baseUrl: string): ReadonlyMap<string, string> => {
  const found = new RegExp(`(?:^|; ?)${passkeyName(isSecure(baseUrl))}([\\w-]{8})=([^;]+)`, 'g')
  return new Map([...(headers.cookie ?? '').matchAll(found)].map(([, id = '', sealed = '']) => [id, sealed]))
}

/** Returns the session token of a browser; the session may have ended. */
export const tokenOf = (req: IncomingMessage, baseUrl: string) => cookieOf(req, cookieName(isSecure(baseUrl)))

/** Whether a browser has a session, which may have ended. */
export const hasSessionCookie = (req: IncomingMessage, baseUrl: string): boolean => tokenOf(req, baseUrl) !== undefined

/**
 * Returns the host of an origin that can be a page of this service. Behind https, a page over http is none, even on the
 * same host.
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
 * Whether a page of this service has sent a request. Browsers send `Sec-Fetch-Site`, except over plain http and older
 * ones: then a changing request has an `Origin`, and a reading one may have none, because the cookie is not sent with
 * requests of other sites. The dashboard sends requests by script only, and navigates no window to an answer.
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

/** Returns the client for the list of sessions, from the request that opens a session. */
export const clientOf = ({ headers }: IncomingMessage): SessionClient => {
  const { browser, os } = readAgent(headers['user-agent'] ?? '')
  return { browser: browser.family, os: os.family }
}

/** Returns the facts about the browser of a request. */
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

/** The holder of a working session, or why it does not work; undefined for a request without one. */
export type PresentedSession =
  | { readonly holder: SessionHolder; readonly session: Session }
  | { readonly disabled: number }
  /** the person of the session, who is no member of the account that they have chosen */
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
 * Whether the proxy names the person of a session that it has opened. A session ends when the proxy names another
 * person or none; a request that bypassed the proxy counts as one without a session, and ends none.
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
 * Returns the sender of a request, by the cookie of a session. A request of another site counts as one without a
 * cookie. Reads the account from its stream, so that a session never outlives its password or identity, or an account
 * that is disabled or erased. `person`: they act in their own account, even if they have chosen another. Only the route
 * that reads the signed-in person answers in an account that is not theirs, because another tab may have signed in
 * another person.
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
