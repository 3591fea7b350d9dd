import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Logger } from 'pino'
import { account } from '../../../commands/accounts/account.ts'
import { requireCredential } from '../../../commands/accounts/credential.ts'
import { isTaken } from '../../../commands/claims/taken.ts'
import type { Handler } from '../../../commands/handle.ts'
import type { Cache } from '../../../cache/cache.ts'
import { addressBlock, clientAddress, type TrustedProxies } from '../../../lib/address.ts'
import type { Credentials } from '../../../security/credential.ts'
import { proxiedBy } from '../../../security/authproxy.ts'
import { isFresh, type Issuer, type Person } from '../../../security/issuer.ts'
import { NotSignedIn } from '../../../security/notsignedin.ts'
import type { SessionLimits, Sessions } from '../../../security/sessions.ts'
import type { Entrance } from '../../accounts/entrance.ts'
import { beginFlow, endFlow, type Flow, flowOf, type FlowServices, placeOf } from '../../accounts/flow.ts'
import { failureOf, Failure } from '../../api/errors.ts'
import { countNetworks, type Limiter } from '../../api/limits/limiter.ts'
import { browserOf, type SessionOptions, sessionCookie, tokenOf } from '../../api/session.ts'
import { pages, tooManyRequestsPage } from '../page/messages.ts'
import type { SendPage } from '../page/page.ts'
import type { Redirect } from '../redirect.ts'
import type { PublicHandler } from '../responses.ts'
import { hindrancePage } from './hindrance.ts'

export interface OidcPagesOptions
  extends
    Omit<FlowServices, 'baseUrl'>,
    Pick<Redirect, 'handle' | 'sendFailure'>,
    Pick<Cache, 'domains'>,
    Pick<SessionOptions, 'authProxy' | 'isDashboardHost'> {
  readonly serviceUrl: string
  readonly entrance: Entrance
  /** undefined: the issuer gives no roles */
  readonly groupRoles: Signed | undefined
  readonly handler: Pick<Handler, 'load'>
  readonly sessions: Sessions
  readonly issuerName: string
  readonly sendPage: SendPage
  readonly limiter: Limiter
  readonly log: Logger
  readonly trustProxy: TrustedProxies
}

/** two requests for each sign-in: a company at the start of its day uses one address */
const rate = { limit: 400, seconds: 600 }

/** Redirects a browser to an address with GET; a `POST` would be sent again. */
export const leadTo = (res: ServerResponse, location: string, cookies: readonly string[]) =>
  res
    .writeHead(303, {
      Location: location,
      'Cache-Control': 'no-store',
      'Referrer-Policy': 'no-referrer',
      ...(cookies.length > 0 && { 'Set-Cookie': [...cookies] }),
    })
    .end()

/** Called after a sign-in. */
export interface Signed {
  readonly signedIn: (account: number, credential: string, person: Person) => Promise<void>
}

type Signing = Pick<
  OidcPagesOptions,
  'authProxy' | 'domains' | 'entrance' | 'groupRoles' | 'handler' | 'isDashboardHost' | 'serviceUrl' | 'sessions'
>

/**
 * Whether opening an address may sign a person in: not as part of a page, and not by a link of another site while there
 * is a session, which would end. Otherwise the dashboard uses the session, or shows a button to sign in.
 */
export const mayEnter = async (
  req: IncomingMessage,
  { serviceUrl, sessions }: Pick<OidcPagesOptions, 'serviceUrl' | 'sessions'>,
): Promise<boolean> => {
  const { 'sec-fetch-mode': mode = 'navigate', 'sec-fetch-dest': shownAs = 'document' } = req.headers
  if (mode !== 'navigate' || shownAs !== 'document') return false
  const token = req.headers['sec-fetch-site'] === 'cross-site' ? tokenOf(req, serviceUrl) : undefined
  return token === undefined || (await sessions.find(token)) === undefined
}

/**
 * Ends a session that an issuer has just opened or confirmed, if the issuer has ended its own session `since` the
 * person returned: a logout looks for sessions after it is recorded, and this for logouts after the session is stored.
 */
const requireGoing = async (
  person: Person,
  since: Date,
  { account: id, session }: { readonly account: number; readonly session: number },
  { sessions }: Pick<Signing, 'sessions'>,
) => {
  if (!(await sessions.there.isEnded(person, since))) return
  await sessions.throwOut(id, session)
  throw new NotSignedIn('session', 'the issuer has ended the session there meanwhile')
}

/**
 * Signs a person in who returned from the issuer at `since`. Returns the cookies for the browser. Throws `NotSignedIn`.
 */
export const signInAs = async (
  req: IncomingMessage,
  person: Person,
  from: string,
  { entrance, groupRoles, handler, serviceUrl, sessions, ...hosts }: Signing,
  { confirmed, since }: Pick<SessionLimits, 'confirmed'> & { readonly since?: Date },
): Promise<readonly string[]> => {
  const { account: id, credential } = await entrance.enter(person, from)
  const { deactivated, status } = (await handler.load(account, id)).state
  if (status === 'disabled') throw new NotSignedIn('disabled', `account ${id} is disabled`)
  if (deactivated) throw new NotSignedIn('deactivated', `a directory has ended the access to account ${id}`)
  await groupRoles?.signedIn(id, credential.token, person)
  const { client, token: before } = browserOf(req, { ...hosts, baseUrl: () => serviceUrl })
  // always a new session: the former one of the browser may be known to another person
  const old = before === undefined ? undefined : await sessions.find(before)
  if (old) await sessions.end(old.account, old.id)
  const { id: session, token } = await sessions.open(id, credential, client, { confirmed, there: person })
  if (since) await requireGoing(person, since, { account: id, session }, { sessions })
  return [sessionCookie(token, serviceUrl, sessions.seconds)]
}

/** Returns the steps after the return from the issuer, each with the cookies for the browser. */
const createSteps = (options: OidcPagesOptions) => {
  const { entrance, handler, serviceUrl, sessions } = options
  /** Returns the session that began a flow, if this browser still has it. */
  const sessionOf = async (req: IncomingMessage, flow: Flow) => {
    const token = tokenOf(req, serviceUrl)
    const session = token === undefined ? undefined : await sessions.find(token)
    const { state } = session ? await handler.load(account, session.account) : { state: undefined }
    const credential = state?.status === 'active' && !state.deactivated ? session?.openedWith(state) : undefined
    if (!state || !session || !credential || session.id !== flow.session || proxiedBy(state, credential) !== undefined)
      throw new NotSignedIn('session', 'the session that has asked for it has ended')
    return { session, credential }
  }
  const confirm = async (req: IncomingMessage, person: Person, flow: Flow, since: Date) => {
    const { session, credential } = await sessionOf(req, flow)
    const found = await entrance.find(person)
    if (found?.account !== session.account)
      throw new NotSignedIn('other', `a person other than account ${session.account} has signed in`)
    if (!isFresh(person, flow.begun))
      throw new NotSignedIn('fresh', 'the ID token has no `auth_time` after the request, although `max_age` was 0')
    const isOpener = credential.kind === 'identity' && credential.token === found.credential.token
    await sessions.confirm(session.id, isOpener ? person : undefined)
    await requireGoing(person, since, { account: session.account, session: session.id }, { sessions })
    return []
  }
  const link = async (req: IncomingMessage, person: Person, flow: Flow) => {
    const { session, credential } = await sessionOf(req, flow)
    const requires = requireCredential(credential)
    await entrance
      .link(person, session.account, (state) => requires(state as Credentials))
      .catch((error: unknown) => {
        throw isTaken(error, 'identity') ? new NotSignedIn('linked', 'the identity was linked meanwhile', error) : error
      })
    return []
  }
  return (req: IncomingMessage, person: Person, flow: Flow, from: string, since: Date): Promise<readonly string[]> => {
    // the issuer may not have asked for a credential: a wider right asks again
    if (flow.for === 'signIn') return signInAs(req, person, from, options, { confirmed: false, since })
    return flow.for === 'confirm' ? confirm(req, person, flow, since) : link(req, person, flow)
  }
}

/**
 * Serves `/oidc/`: the start of a sign-in with the issuer, and the address that the issuer sends browsers back to.
 * Browsers open both as pages, so they answer with pages.
 */
export const createOidcPages = (options: OidcPagesOptions & { readonly issuer: Issuer }): PublicHandler => {
  const { domains, issuer, issuerName, limiter, log, sendPage, serviceUrl, trustProxy } = options
  const finish = createSteps(options)
  const flows = { ...options, baseUrl: () => serviceUrl }
  const { host: ownHost } = new URL(serviceUrl)

  const begin = async (req: IncomingMessage, res: ServerResponse, query: URLSearchParams) => {
    const to = placeOf(query.get('to'))
    if (!(await mayEnter(req, options))) return void leadTo(res, to, [])
    const { address, cookie } = await beginFlow(flows, { for: 'signIn', to })
    leadTo(res, address, [cookie])
  }
  const comeBack = async (req: IncomingMessage, res: ServerResponse, query: URLSearchParams, from: string) => {
    const flow = flowOf(req, flows)
    if (!flow || query.get('state') !== flow.state)
      throw new NotSignedIn('begin', 'this browser has not begun this sign-in, or has used its answer already')
    const since = await options.sessions.there.clock()
    const person = await issuer.personOf(query, flow)
    const cookies = await finish(req, person, flow, from, since)
    leadTo(res, flow.to, [...cookies, endFlow(serviceUrl)])
  }
  const refuse = (req: IncomingMessage, res: ServerResponse, error: NotSignedIn) => {
    // the log must not contain the person
    log.warn({ why: error.why, problem: error.message }, 'a sign-in with the issuer failed')
    sendPage(req, res, hindrancePage(error, issuerName, endFlow(serviceUrl)))
  }

  return async (req, res) => {
    const { headers, method, url = '' } = req
    const [path = '', search] = url.split('?')
    try {
      const isBegin = path === '/oidc/sign-in'
      if ((!isBegin && path !== '/oidc/callback') || domains.byHost(headers.host ?? ''))
        return await options.handle(req, res)
      if (method !== 'GET') return sendPage(req, res, pages.readOnly)
      // the cookie of the flow must be on the host to which the issuer leads
      if (isBegin && headers.host !== ownHost) return void leadTo(res, `${serviceUrl}${url}`, [])
      const from = clientAddress(req, trustProxy)
      const { over, wait } = await countNetworks(limiter, 'oidc', addressBlock(from), rate.limit, rate.seconds)
      if (over) return sendPage(req, res, tooManyRequestsPage(wait))
      const query = new URLSearchParams(search)
      return await (isBegin ? begin(req, res, query) : comeBack(req, res, query, addressBlock(from)))
    } catch (error) {
      if (error instanceof NotSignedIn) return refuse(req, res, error)
      if (error instanceof Failure && error.status === 429)
        return sendPage(req, res, tooManyRequestsPage(Number(failureOf(error).headers['Retry-After'] ?? 60)))
      return options.sendFailure(req, res, error)
    }
  }
}
