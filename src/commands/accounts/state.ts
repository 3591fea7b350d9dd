import { type AccountEvent, mainKey } from '../../events/accounts/account.ts'
import { type Exclusions, noExclusions } from '../../events/statistics/exclusions.ts'
import type { Event } from '../../events/index.ts'
import { acquire, fence, noTokens, release, type Slot, type Tokens } from '../claims/claim.ts'
import { evolveIdentities, type Identity } from './identity.ts'
import { evolveKeys, handOver, type Keys, noKeys } from './key.ts'
import { evolvePasskeys, type Passkey } from './passkey.ts'
import { evolveSecondFactor, type SecondFactor } from './secondfactor.ts'

export interface Marks {
  readonly byHand: boolean
  readonly byGroups: boolean
}

export interface Account {
  readonly status: 'none' | 'active' | 'disabled' | 'erased'
  /** whether it is a team account: it has no sign-in of its own, and its members act in it */
  readonly isTeam: boolean
  readonly email: string | null
  readonly username: string | null
  readonly password: string | null
  /** time zone of the owner; null: UTC */
  readonly timezone: string | null
  readonly keys: Keys
  /** what a sign-in needs besides the password */
  readonly secondFactor: SecondFactor | null
  /** identities that sign in to it without a password */
  readonly identities: readonly Identity[]
  /** the highest number that an identity has had */
  readonly lastIdentity: number
  /** passkeys that sign in to it */
  readonly passkeys: readonly Passkey[]
  /** the highest number that a passkey has had */
  readonly lastPasskey: number
  /** requests per minute, 0 = unlimited, null = the service's default */
  readonly rateLimit: number | null
  readonly exclusions: Exclusions
  /** whether it may do on the dashboard what an operator does */
  readonly operator: boolean
  /** where that mark comes from: an operator by hand, groups at the issuer, or both */
  readonly marks: Marks
  /** whether a directory (SCIM) has ended the access of the account's person */
  readonly deactivated: boolean
  /** when the account will be erased at its owner's request (ISO 8601) */
  readonly erases: string | null
  /** whether it is erased from all files of the database, too */
  readonly erasedOnDisk: boolean
  readonly tokens: Tokens
}

export const noAccount: Account = {
  status: 'none',
  isTeam: false,
  email: null,
  username: null,
  password: null,
  timezone: null,
  keys: noKeys,
  secondFactor: null,
  identities: [],
  lastIdentity: 0,
  passkeys: [],
  lastPasskey: 0,
  rateLimit: null,
  exclusions: noExclusions,
  operator: false,
  marks: { byHand: false, byGroups: false },
  deactivated: false,
  erases: null,
  erasedOnDisk: false,
  tokens: noTokens,
}

/** Whether signing in to an account fails: it is disabled or erased, or a directory has ended the access. */
export const isShut = ({ status, deactivated }: Pick<Account, 'status' | 'deactivated'>): boolean =>
  status !== 'active' || deactivated

const registered = (
  state: Account,
  {
    email = null,
    username,
    emailToken = null,
    usernameToken,
  }: Event<'AccountAdded'>['data'] & Partial<Event<'AccountRegisteredByIdentity'>['data']>,
): Account => {
  const tokens = emailToken === null ? state.tokens : acquire(state.tokens, 'email', emailToken)
  return { ...state, status: 'active', email, username, tokens: acquire(tokens, 'username', usernameToken) }
}

const marked = (state: Account, change: Partial<Marks>): Account => {
  const marks = { ...state.marks, ...change }
  return { ...state, marks, operator: marks.byHand || marks.byGroups }
}

/** Returns the state of an account after it has become a team account. */
const withoutSignIn = (state: Account, { member, keys }: Event<'AccountSignInEnded'>['data']): Account => ({
  ...state,
  isTeam: true,
  email: null,
  password: null,
  secondFactor: null,
  identities: [],
  passkeys: [],
  deactivated: false,
  keys: handOver(state.keys, keys, member),
  tokens: release(state.tokens, ...(Object.keys(state.tokens.held) as Slot[]).filter((slot) => slot !== 'username')),
})

const withoutClaims = (tokens: Tokens) => release(tokens, ...(Object.keys(tokens.held) as Slot[]))

/** Returns the state after an event. */
export const evolveAccount = (state: Account, event: AccountEvent | Event<'ClaimFenced'>): Account => {
  switch (event.type) {
    case 'AccountRegistered':
      return { ...registered(state, event.data), password: event.data.password }
    case 'AccountRegisteredByIdentity':
    case 'AccountAdded': {
      // number 1 stays reserved for the key of a registration, which may do more than others
      const keys = { ...noKeys, lastKey: mainKey.number }
      return { ...registered(state, event.data), keys, isTeam: event.type === 'AccountAdded' }
    }
    case 'AccountSignInEnded':
      return withoutSignIn(state, event.data)
    case 'AccountEmailChanged':
      return { ...state, email: event.data.email, tokens: acquire(state.tokens, 'email', event.data.emailToken) }
    case 'AccountPasswordChanged':
      return { ...state, password: event.data.password }
    case 'AccountTimezoneSet':
      return { ...state, timezone: event.data.timezone }
    case 'ApiKeyIssued':
    case 'ApiKeyAdded':
    case 'ApiKeyAddedByMember':
    case 'ApiKeyUpdated':
    case 'ApiKeyDeleted':
      return { ...state, keys: evolveKeys(state.keys, event) }
    case 'SecondFactorAdded':
    case 'RecoveryCodeUsed':
    case 'SecondFactorRemoved':
      return { ...state, secondFactor: evolveSecondFactor(state.secondFactor, event) }
    case 'IdentityAdded':
    case 'IdentityRemoved':
      return { ...state, ...evolveIdentities(state, event) }
    case 'PasskeyAdded':
    case 'PasskeyRenamed':
    case 'PasskeyRemoved':
      return { ...state, ...evolvePasskeys(state, event) }
    case 'AccountRateLimitSet':
      return { ...state, rateLimit: event.data.limit }
    case 'AccountExclusionsSet':
      return { ...state, exclusions: event.data.exclusions }
    case 'AccountOperatorMarked':
    case 'AccountOperatorUnmarked':
      return marked(state, { byHand: event.type === 'AccountOperatorMarked' })
    case 'AccountOperatorManaged':
      return marked(state, { byGroups: event.data.managed })
    case 'AccountDisabled':
    case 'AccountEnabled':
      return { ...state, status: event.type === 'AccountDisabled' ? 'disabled' : 'active' }
    case 'AccountDeactivated':
    case 'AccountReactivated':
      return { ...state, deactivated: event.type === 'AccountDeactivated' }
    case 'AccountErasureScheduled':
    case 'AccountErasureCancelled':
      return { ...state, erases: event.type === 'AccountErasureScheduled' ? event.data.due : null }
    case 'AccountErased':
      return { ...noAccount, status: 'erased', tokens: withoutClaims(state.tokens) }
    case 'AccountErasedOnDisk':
      return { ...state, erasedOnDisk: true }
    case 'ClaimFenced':
      return { ...state, tokens: fence(state.tokens, event.data.token) }
  }
}
