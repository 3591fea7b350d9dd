import { z } from 'zod'
import { account } from '../../../commands/accounts/account.ts'
import { type Account, isShut } from '../../../commands/accounts/state.ts'
import { text } from '../../../lib/fields.ts'
import { problem } from '../../../lib/problems/problem.ts'
import type { Credential } from '../../../security/credential.ts'
import { markBrowser } from '../../../security/knownbrowsers.ts'
import type { Sessions } from '../../../security/sessions.ts'
import { fail } from '../../api/errors.ts'
import type { Call } from '../../api/route.ts'
import { browserCookie, sessionCookie } from '../../api/session.ts'
import { needsCode, type SecondFactors } from '../secondfactor.ts'
import type { Mails } from '../mails.ts'
import { PasskeyAnswer, type Passkeys } from './ceremony.ts'

/** Fields of a body besides a password. */
export const secondFactor = { code: text(64).optional(), passkey: PasskeyAnswer.optional() }
const SecondFactorGiven = z.object(secondFactor)
type SecondFactorGiven = z.output<typeof SecondFactorGiven>

/** Dependencies of every way to sign in. */
export interface EnteringServices {
  readonly baseUrl: () => string
  /** undefined without SMTP_URL */
  readonly mails: Mails | undefined
  /** 32 bytes for keyed hashes */
  readonly pepper: Buffer
  readonly sessions: Sessions
}

/** A caller who has shown a credential of an account. */
export interface Entering {
  readonly id: number
  readonly state: Account
  readonly credential: Credential
  /** the mark that identifies the browser */
  readonly known: string | undefined
}

/** Fails with 403 for an account that cannot be signed in to. */
export const requireOpen = (state: Account): void => {
  if (isShut(state)) fail(403, 'account_disabled', state.deactivated ? { what: 'directory' } : {})
}

/** Opens a session, and ends the former one of the browser. Returns its id, and its cookies. */
export const openFor = async (
  { browser, lang, setCookie }: Pick<Call, 'browser' | 'lang' | 'setCookie'>,
  { baseUrl, mails, pepper, sessions }: EnteringServices,
  { id, state, credential, known }: Entering,
) => {
  // always a new session: the former one of the browser may be known to another person
  const before = browser.token === undefined ? undefined : await sessions.find(browser.token)
  if (before) await sessions.end(before.account, before.id)
  const { browser: name, os } = browser.client
  if (known === undefined) await mails?.order({ kind: 'newBrowser', lang, browser: `${name}, ${os}` }, id)
  const { id: session, token } = await sessions.open(id, credential, browser.client)
  const setCookies = () => {
    setCookie(sessionCookie(token, baseUrl(), sessions.seconds))
    setCookie(browserCookie(id, markBrowser(pepper, { id, state }, known), baseUrl()))
  }
  return { session, setCookies }
}

/** Fails unless a sign-in has the second factor of the account: a code, or a passkey instead. */
export const checkSecondFactor = async (
  call: Call<unknown, unknown, SecondFactorGiven>,
  { id, state: { secondFactor: factor }, known }: Omit<Entering, 'credential'>,
  { passkeys, secondFactors }: { readonly passkeys: Pick<Passkeys, 'use'>; readonly secondFactors: SecondFactors },
) => {
  const { body, from, write } = call
  if (!factor) return
  if (body.passkey !== undefined)
    return void (await passkeys.use(call, body.passkey, { account: id, session: undefined }))
  if (body.code === undefined) throw needsCode(problem('required_here', { what: 'second_factor', field: 'code' }))
  await secondFactors.require({
    account: id,
    factor,
    code: body.code,
    from,
    // the mark of a browser ends with the second factor: a browser with a mark once had a right code
    holder: known === undefined ? undefined : { kind: 'browser', id: known },
    useRecoveryCode: (hash) => write(account, { type: 'UseRecoveryCode', id, hash }),
  })
}
