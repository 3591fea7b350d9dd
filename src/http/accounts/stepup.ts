import { account } from '../../commands/accounts/account.ts'
import { team } from '../../commands/accounts/team.ts'
import { problem } from '../../lib/problems/problem.ts'
import { fail } from '../api/errors.ts'
import {
  type Asker,
  askerOf,
  type Caller,
  type Given,
  isUnlimited,
  type Need,
  sendingKey,
  type StepName,
  steps,
  type StepUps,
  unlimited,
} from './credentials.ts'
import { type AccountPasswords, holderOf } from './password.ts'
import type { Passkeys } from './passkey/ceremony.ts'
import { needsCode, type SecondFactors } from './secondfactor.ts'

/** Opens the check that asks for passwords and codes before a right is widened. */
export const openStepUps = ({
  passkeys,
  passwords,
  secondFactors,
}: {
  readonly passkeys: Pick<Passkeys, 'use'>
  readonly passwords: Pick<AccountPasswords, 'require'>
  readonly secondFactors: Pick<SecondFactors, 'require'>
}): StepUps => {
  const requireCode = async (call: Caller, { code, codeField: field = 'code', passkey }: Given) => {
    const { account: id, from, load, write } = call
    const { secondFactor: factor } = (await load(account, id)).state
    if (!factor) return
    if (passkey !== undefined) return void (await passkeys.use(call, passkey, { account: id, session: call.session }))
    if (code === undefined) throw needsCode(problem('required_here', { what: 'second_factor', field }))
    const useRecoveryCode = (hash: string) => write(account, { type: 'UseRecoveryCode', id, hash })
    // codes of keys count with those of sign-ins, so that many keys give no more guesses
    const holder = call.session === undefined ? undefined : holderOf(call)
    await secondFactors.require({ account: id, factor, code, field, from, holder, useRecoveryCode })
  }
  const requireBoth = async (call: Caller, given: Given) => {
    await passwords.require(call, given.current_password)
    await requireCode(call, given)
  }
  /** A password must be right even when it is not needed. */
  const requireSent = async (call: Caller, { current_password: sent }: Given) => {
    if (sent !== undefined) await passwords.require(call, sent)
  }
  return {
    confirm: async (call, { password, ...factor }) => {
      await passwords.require(call, password, 'password')
      await requireCode(call, factor)
    },
    require: async (step, call, given = {}) => {
      const { account: id, load, session } = call
      const { kind } = call.credential ?? {}
      const isByPassword = kind === 'password'
      const what = kind === 'passkey' ? kind : 'identity'
      const again = (): never => fail(403, 'confirmation_needed', isByPassword ? {} : { what })
      switch (await needFor(step, call)) {
        case 'nothing':
          return requireSent(call, given)
        case 'a session':
          return fail(400, 'not_dashboard', { what: 'session' })
        case 'confirmation':
          if (call.confirmed) return requireSent(call, given)
          return isByPassword || given.current_password === undefined ? again() : requireBoth(call, given)
        case 'password': {
          if (session === undefined || given.code !== undefined || given.passkey !== undefined)
            return requireBoth(call, given)
          await passwords.require(call, given.current_password)
          if (!call.confirmed && (await load(account, id)).state.secondFactor) again()
          return
        }
        case 'password and code':
          return requireBoth(call, given)
      }
    },
  }
}

/** Returns what a step needs from a caller. Reads the account only if it makes a difference. */
const needFor = async (step: StepName, call: Caller): Promise<Exclude<Need, typeof unlimited>> => {
  const { session, 'other session': other, 'first key': first, key } = steps[step] as Readonly<Record<Asker, Need>>
  const { account: id, load } = call
  const find = async () => {
    if (call.session !== undefined) return call.credential?.kind === 'password' ? session : other
    if (first === key) return key
    const [own, members] = await Promise.all([load(account, id), load(team, id)])
    return steps[step][askerOf(call, own.state, members.state)]
  }
  const need = await find()
  if (need !== unlimited) return need
  return isUnlimited(sendingKey(call, (await load(account, id)).state))
    ? 'nothing'
    : fail(403, 'lacks_rights', { what: 'limited_key' })
}
