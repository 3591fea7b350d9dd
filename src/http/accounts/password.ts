import { account as accounts } from '../../commands/accounts/account.ts'
import type { Load } from '../../commands/load.ts'
import { checkAccountPassword, owner, stranger } from '../../security/passwords.ts'
import { fail, failField } from '../api/errors.ts'
import type { Call } from '../api/route.ts'
import type { Limiter } from '../api/limits/limiter.ts'
import { type GuessHolder, openGuesses } from '../api/limits/guesses.ts'
import type { Caller } from './credentials.ts'

export interface PresentedPassword {
  /** undefined: a sign-in names no account that exists */
  readonly account: number | undefined
  /**
   * what wrong passwords are counted for; by default the account. A sign-in counts for the name that was entered,
   * whether it exists or not.
   */
  readonly name?: string
  readonly password: string
  /** the address block of the client */
  readonly from: string
  /** what the request has of the account */
  readonly holder?: GuessHolder | undefined
}

/** Who presents a password besides a key or session. */
export type Asking = Pick<Caller, 'account' | 'from' | 'key' | 'session'>

/** Returns what a request has of its account, for which wrong passwords are counted. */
export const holderOf = ({ account, key, session }: Asking): GuessHolder | undefined => {
  if (session !== undefined) return { kind: 'session', id: String(session) }
  return key && { kind: 'key', id: `${account}/${key.number}` }
}

/**
 * Whether a password is the account's: `hash` is what it was compared with, which may have been replaced meanwhile.
 * With `wait`, it was not checked, and may be tried again after so many seconds.
 */
export type PasswordVerdict = 'wrong' | { readonly hash: string } | { readonly wait: number }

export interface AccountPasswords {
  /** Checks a password. It takes as long when there is no such account. Throws `TooManyPasswords`. */
  readonly verify: (presented: PresentedPassword) => Promise<PasswordVerdict>
  /**
   * Fails unless a field of a request is the password of the account: with 400, or 429 after too many wrong ones. Binds
   * the request to it.
   */
  readonly require: (
    asking: Asking & Pick<Call, 'bindTo'>,
    presented: string | undefined,
    field?: string,
  ) => Promise<void>
}

export interface AccountPasswordOptions {
  readonly limiter: Limiter
  readonly load: Load
  readonly check?: typeof checkAccountPassword
}

/**
 * Checks passwords of accounts, one at a time, against the newest event of the account. Wrong ones are limited by
 * account, and by address or by what the request has of the account, in all processes together.
 */
export const openAccountPasswords = ({
  limiter,
  load,
  check = checkAccountPassword,
}: AccountPasswordOptions): AccountPasswords => {
  const countGuess = openGuesses(limiter, 'account password')

  const verify: AccountPasswords['verify'] = async (presented) => {
    const { account, name = String(account), password, from, holder } = presented
    const { wait, end } = await countGuess({ link: name, block: from, password, holder })
    if (wait !== undefined) return { wait }
    const compare = async () => {
      const state = account === undefined ? undefined : (await load(accounts, account)).state
      const hash = state?.password ?? null
      return (await check(password, hash, holder ? owner(account ?? 0) : stranger(from))) ? hash : null
    }
    const hash = await compare().catch(async (error: unknown) => {
      await end(false)
      throw error
    })
    await end(hash === null)
    return hash === null ? 'wrong' : { hash }
  }

  return {
    verify,
    require: async (asking, presented, field = 'current_password') => {
      if (presented === undefined) return failField(field, 'required', {})
      const verdict = await verify({ ...asking, password: presented, holder: holderOf(asking) })
      if (verdict === 'wrong') return failField(field, 'wrong_password', {})
      if ('hash' in verdict) return asking.bindTo(asking.account, verdict.hash)
      const { wait } = verdict
      fail(429, 'too_many_requests', { what: 'passwords', seconds: wait }, { 'Retry-After': String(wait) })
    },
  }
}
