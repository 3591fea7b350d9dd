import { isDeepStrictEqual } from 'node:util'
import type { AccountEvent } from '../../events/accounts/account.ts'
import type { Exclusions } from '../../events/statistics/exclusions.ts'
import type { Event } from '../../events/index.ts'
import { defined } from '../../lib/defined.ts'
import { utc } from '../../lib/zone.ts'
import { type CommandOf, decideBy, type Decider, refuse } from '../decider.ts'
import { decideErasure, type DiskErasure, type ErasureCommand } from './erasing.ts'
import { decideIdentity, identityClaim, type IdentityCommand } from './identity.ts'
import { decideKey, type IssuedKey, type KeyCommand } from './key.ts'
import { type ClaimedEmail, emailClaim, type OpeningCommand, openingClaims, openings, zoneSet } from './opening.ts'
import { decidePasskey, passkeyClaim, type PasskeyCommand } from './passkey.ts'
import { decideSecondFactor, type SecondFactorCommand } from './secondfactor.ts'
import { type Account, evolveAccount, noAccount } from './state.ts'
import { refuseTaken } from '../claims/taken.ts'

type SentExclusions = { readonly [K in keyof Exclusions]?: Exclusions[K] | undefined }

/** Commands on an account; `password` is an scrypt hash. */
export type AccountCommand =
  | OpeningCommand
  | {
      readonly type: 'UpdateAccount'
      readonly id: number
      readonly email?: ClaimedEmail
      readonly password?: string
      readonly timezone?: string
      readonly exclusions?: Exclusions
      /** the revision that had these values, when the account is reset to it */
      readonly to?: number
    }
  | { readonly type: 'IssueKey'; readonly id: number; readonly apiKey: IssuedKey }
  | { readonly type: 'SetRateLimit'; readonly id: number; readonly limit: number | null }
  | { readonly type: 'SetExclusions'; readonly id: number; readonly changes: SentExclusions }
  | KeyCommand
  | SecondFactorCommand
  | IdentityCommand
  | PasskeyCommand
  | ErasureCommand
  | DiskErasure
  /** Makes it a team account: nothing signs in to it any more, and a member takes over the keys of its own sign-in. */
  | { readonly type: 'EndSignIn'; readonly id: number; readonly member: number }
  | { readonly type: 'MarkOperator' | 'UnmarkOperator'; readonly id: number }
  /** `managed`: the groups of the account's person make it an operator */
  | { readonly type: 'ManageOperator'; readonly id: number; readonly managed: boolean }
  /** `from`: an operator on the dashboard may not disable another operator */
  | { readonly type: 'DisableAccount'; readonly id: number; readonly from?: 'dashboard' }
  | { readonly type: 'EnableAccount' | 'EraseAccount'; readonly id: number }
  | { readonly type: 'DeactivateAccount' | 'ReactivateAccount'; readonly id: number }

type Decision<T> = (command: CommandOf<AccountCommand, T>, state: Account) => readonly AccountEvent[]

const alive = (state: Account) =>
  state.status === 'none' || state.status === 'erased' ? refuse('not_found', { what: 'account' }) : state
const enabled = (state: Account) =>
  alive(state).status === 'disabled' ? refuse('account_disabled', { what: 'given' }) : state

/** Cancels a pending erasure: it was requested with credentials that have changed since. */
const withoutErasure = (id: number, { erases }: Account): readonly Event<'AccountErasureCancelled'>[] =>
  erases === null ? [] : [{ type: 'AccountErasureCancelled', data: { id } }]

/** Returns the state of an account that has a sign-in. Throws `Refused` for a team account. */
const withSignIn = (state: Account) => (state.isTeam ? refuse('lacks_rights', { what: 'no_sign_in' }) : state)

const update: Decision<'UpdateAccount'> = (command, state) => {
  const { id } = command
  const opens = command.email !== undefined || command.password !== undefined
  const { email, password, tokens } = opens ? withSignIn(enabled(state)) : enabled(state)
  const to = command.to === undefined ? {} : { to: command.to }
  const events: AccountEvent[] = []
  if (command.email && command.email.email !== email) {
    const { emailKey: _, ...data } = command.email
    if (tokens.fenced.includes(data.emailToken)) return refuseTaken('email')
    events.push({ type: 'AccountEmailChanged', data: { id, ...data, ...to } })
  }
  if (command.password !== undefined && command.password !== password)
    events.push(
      { type: 'AccountPasswordChanged', data: { id, password: command.password, ...to } },
      ...withoutErasure(id, state),
    )
  if (command.timezone !== (state.timezone ?? utc)) events.push(...zoneSet(id, command.timezone, to))
  const { exclusions = state.exclusions } = command
  if (!isDeepStrictEqual(exclusions, state.exclusions))
    events.push({ type: 'AccountExclusionsSet', data: { id, exclusions, ...to } })
  return events
}

const issueKey: Decision<'IssueKey'> = ({ id, apiKey }, state) =>
  withSignIn(alive(state)).keys.keys.some(({ key }) => key === apiKey.key)
    ? []
    : [{ type: 'ApiKeyIssued', data: { id, ...apiKey } }]

const changeKeys = (command: KeyCommand, state: Account) => {
  // in a team account, every key belongs to a member
  if (command.type === 'AddKey' && command.member === undefined) withSignIn(alive(state))
  return decideKey(command, alive(state).keys)
}

const endSignIn: Decision<'EndSignIn'> = ({ id, member }, state) => {
  if (enabled(state).isTeam) return []
  if (state.operator) refuse('lacks_rights', { what: 'operator_account' })
  const keys = state.keys.keys.filter((key) => key.member === undefined).map(({ number }) => number)
  const { username: usernameToken = '' } = state.tokens.held
  return [...withoutErasure(id, state), { type: 'AccountSignInEnded', data: { id, member, keys, usernameToken } }]
}

const changeSecondFactor = (command: SecondFactorCommand, state: Account): readonly AccountEvent[] => {
  if (command.type === 'AddSecondFactor') withSignIn(state)
  const events = decideSecondFactor(command, alive(state).secondFactor)
  const isNew = events.some(({ type }) => type === 'SecondFactorAdded')
  return isNew ? [...events, ...withoutErasure(command.id, state)] : events
}

const changeIdentities = (command: IdentityCommand, state: Account) =>
  decideIdentity(command, command.type === 'AddIdentity' ? withSignIn(enabled(state)) : enabled(state))

const changePasskeys = (command: PasskeyCommand, state: Account) =>
  decidePasskey(command, command.type === 'AddPasskey' ? withSignIn(enabled(state)) : enabled(state))

const setRateLimit: Decision<'SetRateLimit'> = ({ id, limit }, state) =>
  alive(state).rateLimit === limit ? [] : [{ type: 'AccountRateLimitSet', data: { id, limit } }]

const setExclusions: Decision<'SetExclusions'> = ({ id, changes }, state) => {
  const { exclusions: before } = enabled(state)
  const exclusions = { ...before, ...defined(changes) }
  return isDeepStrictEqual(exclusions, before) ? [] : [{ type: 'AccountExclusionsSet', data: { id, exclusions } }]
}

const manageOperator: Decision<'ManageOperator'> = ({ id, managed }, state) => {
  // with a link by address only, another person may still have a password for the account
  const isGiven = managed && !state.identities.some(({ byEmail }) => byEmail)
  if (isGiven === state.marks.byGroups) return []
  if (isGiven) enabled(state)
  return [{ type: 'AccountOperatorManaged', data: { id, managed: isGiven } }]
}

const changeErasure = (command: ErasureCommand, state: Account) => decideErasure(command, alive(state).erases)

export const account: Decider<AccountCommand, Account, AccountEvent | Event<'ClaimFenced'>> = {
  kind: 'account',
  version: 17,
  id: ({ id }) => id,
  initialState: noAccount,
  decide: decideBy<AccountCommand, Account, AccountEvent>({
    ...openings,
    UpdateAccount: update,
    IssueKey: issueKey,
    AddKey: changeKeys,
    UpdateKey: changeKeys,
    RotateKey: changeKeys,
    DeleteKey: changeKeys,
    AddSecondFactor: changeSecondFactor,
    UseRecoveryCode: changeSecondFactor,
    RemoveSecondFactor: changeSecondFactor,
    AddIdentity: changeIdentities,
    RemoveIdentity: changeIdentities,
    AddPasskey: changePasskeys,
    RenamePasskey: changePasskeys,
    RemovePasskey: changePasskeys,
    SetRateLimit: setRateLimit,
    SetExclusions: setExclusions,
    EndSignIn: endSignIn,
    MarkOperator: ({ id }, state) =>
      enabled(state).marks.byHand ? [] : [{ type: 'AccountOperatorMarked', data: { id } }],
    UnmarkOperator: ({ id }, state) =>
      alive(state).marks.byHand ? [{ type: 'AccountOperatorUnmarked', data: { id } }] : [],
    ManageOperator: manageOperator,
    DisableAccount: ({ id, from }, state) => {
      if (alive(state).status === 'disabled') return []
      return from === 'dashboard' && state.operator
        ? refuse('account_disabled', { what: 'operator' })
        : [{ type: 'AccountDisabled', data: { id } }]
    },
    EnableAccount: ({ id }, state) =>
      alive(state).status === 'active' ? [] : [{ type: 'AccountEnabled', data: { id } }],
    DeactivateAccount: ({ id }, state) =>
      // a team account has no sign-in, and its members are not the person that the directory means
      alive(state).deactivated || state.isTeam ? [] : [{ type: 'AccountDeactivated', data: { id } }],
    ReactivateAccount: ({ id }, state) =>
      alive(state).deactivated ? [{ type: 'AccountReactivated', data: { id } }] : [],
    ScheduleErasure: changeErasure,
    CancelErasure: changeErasure,
    CarryOutErasure: (command, state) => decideErasure(command, state.erases),
    NoteErasedOnDisk: ({ id, wal }, { status, erasedOnDisk }) =>
      status === 'erased' && !erasedOnDisk ? [{ type: 'AccountErasedOnDisk', data: { id, wal } }] : [],
    EraseAccount: ({ id }, state) => alive(state) && [{ type: 'AccountErased', data: { id } }],
  }),
  evolve: evolveAccount,
  claims: (command, events) => {
    if (events.length === 0) return []
    switch (command.type) {
      case 'RegisterAccount':
      case 'RegisterByIdentity':
      case 'AddAccount':
        return openingClaims(command)
      case 'AddIdentity':
        return [identityClaim(command.identity)]
      case 'AddPasskey':
        return [passkeyClaim(command.passkey)]
      case 'UpdateAccount':
        return command.email && events.some(({ type }) => type === 'AccountEmailChanged')
          ? [emailClaim(command.email)]
          : []
      default:
        return []
    }
  },
}
