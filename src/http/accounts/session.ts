import { createHmac } from 'node:crypto'
import { z } from 'zod'
import { account } from '../../commands/accounts/account.ts'
import { refuse } from '../../commands/decider.ts'
import { email, timestamp, verbatim } from '../../lib/fields.ts'
import { Behind } from '../../lib/unavailable.ts'
import { findAccountBy } from '../../queries/accounts/account.ts'
import { knownBrowser } from '../../security/knownbrowsers.ts'
import type { Issuer } from '../../security/issuer.ts'
import type { Session } from '../../security/sessions.ts'
import { fail, requirePasswords } from '../api/errors.ts'
import { problem } from '../../lib/problems/problem.ts'
import { needsCode } from './secondfactor.ts'
import { byId } from '../api/fields.ts'
import { endpoint, type Call, type Route } from '../api/route.ts'
import { sessionCookie } from '../api/session.ts'
import type { AccountPasswords } from './password.ts'
import type { Passkeys } from './passkey/ceremony.ts'
import { checkSecondFactor, type EnteringServices, openFor, requireOpen, secondFactor } from './passkey/entering.ts'
import type { SecondFactors } from './secondfactor.ts'
import type { StepUps } from './credentials.ts'
import { sessionContract } from './contract/session.ts'

/** Dependencies of the sessions of the dashboard. */
export interface SessionServices extends EnteringServices {
  /** undefined without OIDC_ISSUER */
  readonly issuer: Pick<Issuer, 'signOutAddress'> | undefined
  readonly passkeys: Pick<Passkeys, 'use'>
  readonly passwords: AccountPasswords
  /** whether people may sign in with passwords */
  readonly passwordSignIn: boolean
  /** whether the sign-out leads to the sign-out of the issuer */
  readonly signsOutThere: boolean
  readonly secondFactors: SecondFactors
  readonly stepUps: Pick<StepUps, 'confirm'>
}

const SignIn = z.object({ email, password: verbatim(1024), ...secondFactor })
type SignIn = z.output<typeof SignIn>

/** The name by which wrong passwords of a sign-in are counted. No table has the address itself. */
const nameOf = (pepper: Buffer, address: string) =>
  `sign-in ${createHmac('sha256', pepper).update(`sign-in ${address}`).digest('base64url')}`

/**
 * Returns the account of the entered password. Fails with 400, with 403 when it is disabled, or with 429 after too many
 * wrong ones.
 */
const checkPassword = async (
  { bindTo, body, browser: sender, from, load, pending, reader }: Call<unknown, unknown, SignIn>,
  { passwords, pepper }: SessionServices,
) => {
  const found = await findAccountBy(reader, { email: body.email })
  // the account may not be projected yet: respond 503, not that the password is wrong
  if (!found && pending.any('account-')) throw new Behind('an account is not projected yet')
  const { password } = body
  const before = found && { id: found.id, ...(await load(account, found.id)) }
  const browser = before && knownBrowser(pepper, before, sender.markOf(before.id))
  const name = nameOf(pepper, body.email)
  const holder = browser === undefined ? undefined : ({ kind: 'browser', id: browser } as const)
  const verdict = await passwords.verify({ account: found?.id, name, password, from, holder })
  if (typeof verdict === 'object' && 'wait' in verdict) {
    const { wait } = verdict
    return fail(429, 'too_many_requests', { what: 'passwords', seconds: wait }, { 'Retry-After': String(wait) })
  }
  if (verdict === 'wrong' || !found) return fail(400, 'wrong_password', { what: 'sign_in' })
  const { state } = await load(account, found.id)
  // a password that was set while the sign-in waited was not entered
  if (state.password !== verdict.hash) return fail(400, 'wrong_password', { what: 'sign_in' })
  bindTo(found.id, verdict.hash)
  requireOpen(state)
  return { id: found.id, state, known: browser }
}

const present = (
  { id, browser, os, created, used, expires }: Omit<Session, 'openedWith' | 'confirmed'>,
  current: number | undefined,
) => ({
  id,
  browser,
  os,
  date: timestamp(created),
  lastused: timestamp(used),
  expires: timestamp(expires),
  current: id === current,
})

const signIn = (services: SessionServices) =>
  endpoint(sessionContract, 'POST /api/session', {
    ofSession: true,
    public: true,
    body: SignIn,
    run: async (call) => {
      // the sign-in must not come from another site either: it could sign the visitor in to the account of an attacker
      if (!call.browser.sameOrigin) fail(403, 'not_dashboard', { what: 'sign_in' })
      requirePasswords(services)
      const entering = await checkPassword(call, services)
      const { id, state } = entering
      await checkSecondFactor(call, entering, services)
      const credential = { kind: 'password', hash: state.password } as const
      const { session, setCookies } = await openFor(call, services, { ...entering, credential })
      // a second factor that was added meanwhile has ended the sessions of before
      if ((await call.load(account, id)).state.secondFactor?.secret !== state.secondFactor?.secret) {
        await services.sessions.end(id, session)
        throw needsCode(problem('required_here', { what: 'second_factor', field: 'code' }))
      }
      setCookies()
      return { id, username: state.username ?? '', session }
    },
  })

const confirm = ({ sessions, stepUps, ...services }: SessionServices) =>
  endpoint(sessionContract, 'POST /api/session/confirm', {
    ofSession: true,
    scope: [],
    person: true,
    body: z.object({ password: verbatim(1024), ...secondFactor }),
    run: async (call) => {
      const { body, session } = call
      if (session === undefined) return fail(400, 'not_dashboard', { what: 'session' })
      requirePasswords(services)
      await stepUps.confirm(call, body)
      await sessions.confirm(session)
      return { message: 'The password was right. It counts for ten minutes.' }
    },
  })

const ownList = ({ sessions }: SessionServices) =>
  endpoint(sessionContract, 'GET /api/sessions', {
    nowOnly: 'sessions',
    scope: 'account',
    person: true,
    run: async ({ account: id, load, reader, session }) => {
      const [{ state }, all] = await Promise.all([load(account, id), sessions.list(id, reader.db)])
      return { data: { sessions: all.filter((one) => one.openedWith(state)).map((one) => present(one, session)) } }
    },
  })

const signOut = ({ baseUrl, issuer, sessions, signsOutThere }: SessionServices) =>
  endpoint(sessionContract, 'DELETE /api/session', {
    ofSession: true,
    scope: [],
    person: true,
    run: async ({ account: id, credential, session, setCookie }) => {
      if (session === undefined) return fail(400, 'not_dashboard', { what: 'session' })
      await sessions.end(id, session)
      setCookie(sessionCookie(undefined, baseUrl(), 0))
      const isFromThere = signsOutThere && credential?.kind === 'identity'
      const address = isFromThere ? await issuer?.signOutAddress(`${baseUrl()}/dashboard`) : undefined
      return { message: 'You are signed out.', ...(address !== undefined && { address }) }
    },
  })

const end = ({ sessions }: SessionServices) =>
  endpoint(sessionContract, 'DELETE /api/session/:id', {
    scope: 'account',
    person: true,
    params: byId,
    run: async ({ account: id, params, session }) => {
      const isEnded = await (params.id === session ? sessions.end : sessions.throwOut)(id, params.id)
      if (!isEnded) refuse('not_found', { what: 'session' })
      return { message: 'The session has ended.' }
    },
  })

const endAll = ({ sessions }: SessionServices) =>
  endpoint(sessionContract, 'DELETE /api/sessions', {
    ofSession: true,
    scope: 'account',
    person: true,
    run: async ({ account: id, session }) => {
      await sessions.endOthers(id, session)
      return { message: session === undefined ? 'All sessions have ended.' : 'All other sessions have ended.' }
    },
  })

export const sessionRoutes = (services: SessionServices): readonly Route[] => [
  signIn(services),
  confirm(services),
  ownList(services),
  signOut(services),
  end(services),
  endAll(services),
]
