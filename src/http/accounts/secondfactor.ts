import { z } from 'zod'
import { account } from '../../commands/accounts/account.ts'
import type { Account } from '../../commands/accounts/state.ts'
import { Refused } from '../../commands/decider.ts'
import { countRevision } from '../../commands/load.ts'
import type { SecondFactor } from '../../commands/accounts/secondfactor.ts'
import { says, text, verbatim } from '../../lib/fields.ts'
import {
  hashRecoveryCode,
  isTotpSecret,
  newRecoveryCodes,
  newTotpSecret,
  stepOfCode,
  totpAddress,
} from '../../security/secondfactor.ts'
import type { Sessions } from '../../security/sessions.ts'
import { problem, type Problem } from '../../lib/problems/problem.ts'
import { fail, Failure } from '../api/errors.ts'
import type { Limiter } from '../api/limits/limiter.ts'
import { endpoint, type Call, type Route } from '../api/route.ts'
import { type GuessHolder, openGuesses } from '../api/limits/guesses.ts'
import { given } from './account.ts'
import type { StepUps } from './credentials.ts'
import type { Mails } from './mails.ts'
import { PasskeyAnswer } from './passkey/ceremony.ts'
import { sessionContract } from './contract/session.ts'

/** A code that was entered at sign-in: of the authenticator app, or a recovery code. */
export interface PresentedCode {
  readonly account: number
  readonly factor: SecondFactor
  readonly code: string
  /** the field of the code, if it is not `code` */
  readonly field?: string
  /** the address block of the client */
  readonly from: string
  /** the session that sends it, or a browser that had a right code before: each has a separate budget */
  readonly holder?: GuessHolder | undefined
  /** Records that a recovery code is used. Throws `Refused` when it was used before. */
  readonly useRecoveryCode: (hash: string) => Promise<unknown>
}

export interface SecondFactors {
  /** Fails unless a code is right and unused: with 400, or 429 after too many wrong ones. */
  readonly require: (presented: PresentedCode) => Promise<void>
  /** Fails with 400 unless the app with this secret shows this code. Returns a function that uses the code up. */
  readonly confirm: (account: number, secret: string, code: string) => () => Promise<unknown>
}

export interface SecondFactorOptions {
  readonly limiter: Limiter
  readonly sessions: Pick<Sessions, 'useStep'>
  readonly pepper: Buffer
}

const wrong = problem('wrong_code', { field: 'code' })
const used = problem('wrong_code', { what: 'used', field: 'code' })
/** Returns the failure of a sign-in without a right code: with `second_factor`, the client can request one. */
export const needsCode = (reason: Problem) => new Failure(400, reason, {}, { second_factor: true })
const isRecoveryCode = (code: string) => !/^\d{6}$/.test(code)
const plain = (code: string) => (/^[\d\s]+$/.test(code) ? code.replaceAll(/\s/g, '') : code.trim())

/** Checks second factors. Limits wrong codes by account and by address, across processes. */
export const openSecondFactors = ({ limiter, sessions, pepper }: SecondFactorOptions): SecondFactors => {
  const [countCode, countRecovery] = [openGuesses(limiter, 'code'), openGuesses(limiter, 'recovery code')] as const

  /** Returns the problem with a code, undefined when it is right. */
  const problemOf = async ({ account, factor, code, useRecoveryCode }: PresentedCode) => {
    if (!isRecoveryCode(code)) {
      const step = stepOfCode(factor.secret, code, Date.now())
      if (step === undefined) return wrong
      return (await sessions.useStep(account, step)) ? undefined : used
    }
    const hash = hashRecoveryCode(pepper, account, code)
    if (!factor.recovery.includes(hash)) return wrong
    try {
      await useRecoveryCode(hash)
      return undefined
    } catch (error) {
      // another sign-in was faster
      if (error instanceof Refused) return used
      throw error
    }
  }

  return {
    require: async (presented) => {
      const { account, from, field = 'code', holder } = presented
      const code = plain(presented.code)
      const countGuess = isRecoveryCode(code) ? countRecovery : countCode
      const { wait, end } = await countGuess({ link: account, block: from, password: code, holder })
      if (wait !== undefined)
        return fail(429, 'too_many_requests', { what: 'codes', seconds: wait }, { 'Retry-After': String(wait) })
      const found = await problemOf({ ...presented, code }).catch(async (error: unknown) => {
        await end(false)
        throw error
      })
      await end(found === wrong)
      if (found) throw needsCode({ ...found, field })
    },
    confirm: (account, secret, code) => {
      const step = stepOfCode(secret, plain(code), Date.now())
      if (step === undefined) throw new Failure(400, wrong)
      return () => sessions.useStep(account, step)
    },
  }
}

/** Dependencies of the routes of second factors. */
export interface SecondFactorServices {
  readonly baseUrl: () => string
  /** undefined without SMTP_URL */
  readonly mails: Mails | undefined
  /** 32 bytes for keyed hashes */
  readonly pepper: Buffer
  readonly secondFactors: SecondFactors
  readonly sessions: Pick<Sessions, 'endOthers'>
  readonly stepUps: Pick<StepUps, 'require'>
}

// a session that an issuer has opened has no password to send
const currentPassword = verbatim(1024).optional()

/** The label of the account in an authenticator app. */
const labelOf = ({ email, username }: Pick<Account, 'email' | 'username'>) => email ?? username ?? ''

const stateOf = async ({ account: id, load }: Pick<Call, 'account' | 'load'>) => (await load(account, id)).state

const state = endpoint(sessionContract, 'GET /api/account/totp', {
  scope: 'account',
  person: true,
  run: async (call) => {
    const { secondFactor } = await stateOf(call)
    return { data: { enabled: secondFactor !== null, recovery_codes: secondFactor?.recovery.length ?? 0 } }
  },
})

const newSecret = ({ baseUrl }: SecondFactorServices) =>
  endpoint(sessionContract, 'POST /api/account/totp/secret', {
    scope: 'account',
    person: true,
    secret: true,
    run: async (call) => {
      const secret = newTotpSecret()
      const label = labelOf(await stateOf(call))
      return { secret, address: totpAddress(secret, `Linkledger ${new URL(baseUrl()).host}`, label) }
    },
  })

/** Orders the notice that the second factor of an account, if it has one, is about to be removed or replaced. */
const announce = async (
  mails: Mails | undefined,
  kind: 'secondFactorRemoved' | 'secondFactorReplaced',
  { account: id, load, lang }: Pick<Call, 'account' | 'load' | 'lang'>,
) => {
  const { state, revision } = await load(account, id)
  if (state.secondFactor !== null) await mails?.order({ kind, lang, after: countRevision(revision) }, id)
}

const add = ({ mails, pepper, secondFactors, sessions, stepUps }: SecondFactorServices) =>
  endpoint(sessionContract, 'POST /api/account/totp', {
    scope: 'account',
    person: true,
    secret: true,
    body: z.object({
      secret: verbatim(64).refine(isTotpSecret, says('wrong_form', { what: 'secret' })),
      code: text(64),
      current_password: currentPassword,
      current_code: text(64).optional(),
      passkey: PasskeyAnswer.optional(),
    }),
    run: async (call) => {
      const { account: id, body, session, write } = call
      const { current_password, current_code: code, passkey } = body
      // first the checks that use no code up
      const use = secondFactors.confirm(id, body.secret, body.code)
      await stepUps.require('secondFactor', call, { current_password, code, codeField: 'current_code', passkey })
      await use()
      const codes = newRecoveryCodes()
      const recovery = codes.map((code) => hashRecoveryCode(pepper, id, code))
      await announce(mails, 'secondFactorReplaced', call)
      await write(account, { type: 'AddSecondFactor', id, secret: body.secret, recovery })
      // sessions that were opened without the second factor end when it begins
      await sessions.endOthers(id, session)
      return {
        message:
          'Signing in needs a code of the authenticator app from now on. The recovery codes are shown only once.',
        recovery_codes: codes,
      }
    },
  })

const remove = ({ mails, stepUps }: SecondFactorServices) =>
  endpoint(sessionContract, 'POST /api/account/totp/delete', {
    scope: 'account',
    person: true,
    body: z.object(given),
    run: async (call) => {
      const { account: id, body, write } = call
      await stepUps.require('secondFactor', call, body)
      await announce(mails, 'secondFactorRemoved', call)
      await write(account, { type: 'RemoveSecondFactor', id })
      return { message: 'The password alone signs in now.' }
    },
  })

export const secondFactorRoutes = (services: SecondFactorServices): readonly Route[] => [
  state,
  newSecret(services),
  add(services),
  remove(services),
]
