import type { AccountKey } from '../../commands/accounts/key.ts'
import type { Account } from '../../commands/accounts/state.ts'
import { hasMembers, type Team } from '../../commands/accounts/roster.ts'
import { allows, allScopes, type Scope } from '../../events/accounts/scope.ts'
import { mainKey } from '../../events/accounts/account.ts'
import type { Open } from '../../events/openenum.ts'
import type { Assertion } from '../../security/passkeys.ts'
import type { Call } from '../api/route.ts'

/** the rights of an unlimited key */
export const unlimited = 'all scopes, no end and no networks'

/**
 * What a request needs besides the scope of its route, to widen a right: nothing; an unlimited key; a session whose
 * password was entered in the last ten minutes; the password, and a code where there is a second factor, for which such
 * a session counts, too; or both in the request itself.
 */
export type Need = 'nothing' | typeof unlimited | 'confirmation' | 'password' | 'password and code' | 'a session'

/**
 * The kind of caller: a session opened by a password, a session opened by an issuer, a passkey or an operator's link,
 * the unlimited key of the registration, or any other key.
 */
export type Asker = 'session' | 'other session' | 'first key' | 'key'

interface Step extends Readonly<Record<Asker, Need>> {
  /** the step, in words */
  readonly does: string
  readonly routes: readonly string[]
}

/** Without a password, a passkey or a fresh sign-in with the issuer counts. */
const otherSession = { 'other session': 'confirmation' } as const
const anybody = (need: Need) => ({ session: need, ...otherSession, 'first key': need, key: need })
/** A key gives at most its own rights: the account's decider checks that. */
const onlySessions = { session: 'confirmation', ...otherSession, 'first key': 'nothing', key: 'nothing' } as const

/** Every step by which a credential becomes another or a wider one. The list is complete. */
export const steps = {
  account: {
    does: 'set a password or an e-mail address',
    routes: ['PUT /api/account/update', 'POST /api/account/restore'],
    session: 'password',
    ...otherSession,
    // as the API has always had it
    'first key': 'nothing',
    key: 'password',
  },
  keys: {
    does: 'make, widen, rotate or restore a key with `account` or `webhooks`',
    routes: ['POST /api/key/add', 'PUT /api/key/:id/update', 'POST /api/key/:id/rotate', 'POST /api/key/:id/restore'],
    ...onlySessions,
  },
  webhooks: {
    does: 'make, widen, redirect, rotate or restore a webhook with events of the account',
    routes: [
      'POST /api/webhook/add',
      'PUT /api/webhook/:id/update',
      'POST /api/webhook/:id/rotate',
      'POST /api/webhook/:id/restore',
    ],
    ...onlySessions,
  },
  members: {
    does: 'invite a person to the account, change the role of a member, or hand over their keys and work',
    routes: ['POST /api/member/invite', 'PUT /api/member/:id/update', 'DELETE /api/member/:id/delete'],
    ...onlySessions,
    // a member has the rights of their role permanently: more than a narrower key gives
    key: unlimited,
  },
  secondFactor: {
    does: 'set, replace or remove a second factor',
    routes: ['POST /api/account/totp', 'POST /api/account/totp/delete'],
    ...anybody('password and code'),
  },
  identities: {
    does: 'link an identity of an issuer',
    routes: ['POST /api/identity/add'],
    // it signs in permanently, without the password and without the second factor
    session: 'password and code',
    ...otherSession,
    'first key': 'a session',
    key: 'a session',
  },
  unlink: {
    does: 'remove an identity',
    routes: ['DELETE /api/identity/:id/delete'],
    session: 'confirmation',
    ...otherSession,
    'first key': 'a session',
    key: 'a session',
  },
  passkeys: {
    does: 'add a passkey',
    routes: ['POST /api/passkey/begin'],
    // like an identity
    session: 'password and code',
    ...otherSession,
    'first key': 'a session',
    key: 'a session',
  },
  removePasskey: {
    does: 'remove a passkey',
    routes: ['DELETE /api/passkey/:id/delete'],
    session: 'confirmation',
    ...otherSession,
    'first key': 'a session',
    key: 'a session',
  },
  erasure: {
    does: 'have the account erased',
    routes: ['POST /api/account/erase'],
    ...anybody('password and code'),
  },
  handover: {
    does: 'end the own sign-in of the account, which becomes a team account',
    routes: ['POST /api/account/handover'],
    session: 'password and code',
    ...otherSession,
    'first key': 'a session',
    key: 'a session',
  },
  export: { does: 'export everything', routes: ['GET /api/account/export'], ...onlySessions },
} as const satisfies Readonly<Record<string, Step>>
export type StepName = keyof typeof steps

/** Scopes that lead to no further rights. A scope of a newer release may. */
const harmless: readonly Open<Scope>[] = ['read', 'write', 'links:write', 'stats:read'] satisfies Scope[]
/** Whether a key with some scopes leads to further rights, or sends events to another place. */
export const leadsOn = (scopes: readonly Open<Scope>[]): boolean => scopes.some((one) => !harmless.includes(one))

/** Whether a key is unlimited. */
export const isUnlimited = (key: Pick<AccountKey, 'scopes' | 'expires' | 'addresses'> | undefined): boolean =>
  key?.expires === null && key.addresses === null && allScopes.every((scope) => allows(key.scopes, scope))

/** Returns the current state of the key that sends a request. */
export const sendingKey = ({ key }: Pick<Caller, 'key'>, { keys }: Pick<Account, 'keys'>): AccountKey | undefined =>
  keys.keys.find(({ number }) => number === key?.number)

/**
 * Returns the kind of caller. The key of the registration counts as such while it is unlimited, in an account without a
 * second factor, members and the mark of an operator.
 */
export const askerOf = (
  { credential, key, session }: Pick<Caller, 'credential' | 'key' | 'session'>,
  { keys, secondFactor, operator }: Pick<Account, 'keys' | 'secondFactor' | 'operator'>,
  team: Pick<Team, 'members'>,
): Asker => {
  if (session !== undefined) return credential?.kind === 'password' ? 'session' : 'other session'
  const own = sendingKey({ key }, { keys })
  const isFirst = own?.number === mainKey.number && isUnlimited(own)
  return isFirst && secondFactor === null && !operator && !hasMembers(team) ? 'first key' : 'key'
}

/** The credentials of a request besides its key or session. */
export interface Given {
  readonly current_password?: string | undefined
  /** of the current second factor, or a recovery code */
  readonly code?: string | undefined
  /** instead of a code */
  readonly passkey?: Assertion | undefined
  /** the field that the code is in, if it is not `code` */
  readonly codeField?: 'code' | 'current_code'
}
/** The sender of a request. */
export type Caller = Pick<
  Call,
  | 'account'
  | 'bindTo'
  | 'browser'
  | 'key'
  | 'session'
  | 'credential'
  | 'confirmed'
  | 'load'
  | 'setCookie'
  | 'write'
  | 'from'
>

export interface StepUps {
  /**
   * Fails unless a request may take a step: with 403 when its session needs the password again, with 400 when a
   * password or a code is missing or wrong, or with 429 after too many wrong ones.
   */
  readonly require: (step: StepName, call: Caller, given?: Given) => Promise<void>
  /** Fails unless the `password` of a session is right, and a code where the account has a second factor. */
  readonly confirm: (
    call: Caller,
    given: Pick<Given, 'code' | 'passkey'> & { readonly password: string },
  ) => Promise<void>
}
