import { isDeepStrictEqual } from 'node:util'
import type { AccountEvent } from '../../events/accounts/account.ts'
import { type Exclusions, noExclusions } from '../../events/statistics/exclusions.ts'
import type { Event } from '../../events/index.ts'
import { defined } from '../../lib/defined.ts'
import { acquire, fence, noTokens, release, type Tokens } from '../claims/claim.ts'
import { type Decider, refuse } from '../decider.ts'
import { decideErasure, type ErasureCommand } from './erasing.ts'
import { decideKey, evolveKeys, type IssuedKey, type KeyCommand, type Keys, noKeys } from './key.ts'
import { decideSecondFactor, evolveSecondFactor, type SecondFactor, type SecondFactorCommand } from './secondfactor.ts'
import { refuseTaken } from '../claims/taken.ts'

export interface Account {
  readonly status: 'none' | 'active' | 'disabled' | 'erased'
  readonly email: string | null
  readonly username: string | null
  readonly password: string | null
  readonly keys: Keys
  /** what a sign-in needs besides the password */
  readonly secondFactor: SecondFactor | null
  /** requests per minute, 0 = unlimited, null = that of the service */
  readonly rateLimit: number | null
  readonly exclusions: Exclusions
  /** whether it may do what an operator does on the dashboard */
  readonly operator: boolean
  /** when the account is erased, as its owner wants it (ISO 8601) */
  readonly erases: string | null
  readonly tokens: Tokens
}

/** An e-mail address and its claim: `emailKey` is a keyed hash, because stream names must not contain personal data. */
interface ClaimedEmail {
  readonly email: string
  readonly emailKey: string
  readonly emailToken: string
}

type SentExclusions = { readonly [K in keyof Exclusions]?: Exclusions[K] | undefined }

/** Commands on an account; `password` is an scrypt hash. */
export type AccountCommand =
  | (ClaimedEmail & {
      readonly type: 'RegisterAccount'
      readonly id: number
      readonly username: string
      readonly usernameKey: string
      readonly usernameToken: string
      readonly password: string
      readonly apiKey: IssuedKey
    })
  | {
      readonly type: 'UpdateAccount'
      readonly id: number
      readonly email?: ClaimedEmail
      readonly password?: string
      readonly exclusions?: Exclusions
      /** the revision that had these values, if the account is set back to it */
      readonly to?: number
    }
  | { readonly type: 'IssueKey'; readonly id: number; readonly apiKey: IssuedKey }
  | { readonly type: 'SetRateLimit'; readonly id: number; readonly limit: number | null }
  | { readonly type: 'SetExclusions'; readonly id: number; readonly changes: SentExclusions }
  | KeyCommand
  | SecondFactorCommand
  | ErasureCommand
  | { readonly type: 'MarkOperator' | 'UnmarkOperator'; readonly id: number }
  | { readonly type: 'DisableAccount' | 'EnableAccount' | 'EraseAccount'; readonly id: number }

const alive = (state: Account) =>
  state.status === 'none' || state.status === 'erased' ? refuse('not_found', { what: 'account' }) : state
const enabled = (state: Account) =>
  alive(state).status === 'disabled' ? refuse('account_disabled', { what: 'given' }) : state

export const account: Decider<AccountCommand, Account, AccountEvent | Event<'ClaimFenced'>> = {
  kind: 'account',
  version: 8,
  id: ({ id }) => id,
  initialState: {
    status: 'none',
    email: null,
    username: null,
    password: null,
    keys: noKeys,
    secondFactor: null,
    rateLimit: null,
    exclusions: noExclusions,
    operator: false,
    erases: null,
    tokens: noTokens,
  },
  decide: (command, state) => {
    const { id } = command
    switch (command.type) {
      case 'RegisterAccount': {
        const { type: _, emailKey: _e, usernameKey: _u, apiKey, ...data } = command
        if (state.tokens.held.email === command.emailToken) return []
        if (state.status !== 'none' || state.tokens.fenced.length > 0) return refuse('id_in_use', { what: 'account' })
        return [
          { type: 'AccountRegistered', data },
          { type: 'ApiKeyIssued', data: { id, ...apiKey } },
        ]
      }
      case 'UpdateAccount': {
        const { email, password, tokens } = enabled(state)
        const to = command.to === undefined ? {} : { to: command.to }
        const events: AccountEvent[] = []
        if (command.email && command.email.email !== email) {
          const { emailKey: _, ...data } = command.email
          if (tokens.fenced.includes(data.emailToken)) return refuseTaken('email')
          events.push({ type: 'AccountEmailChanged', data: { id, ...data, ...to } })
        }
        if (command.password !== undefined && command.password !== password)
          events.push({ type: 'AccountPasswordChanged', data: { id, password: command.password, ...to } })
        const { exclusions = state.exclusions } = command
        if (!isDeepStrictEqual(exclusions, state.exclusions))
          events.push({ type: 'AccountExclusionsSet', data: { id, exclusions, ...to } })
        return events
      }
      case 'IssueKey':
        return alive(state).keys.keys.some(({ key }) => key === command.apiKey.key)
          ? []
          : [{ type: 'ApiKeyIssued', data: { id, ...command.apiKey } }]
      case 'AddKey':
      case 'UpdateKey':
      case 'RotateKey':
      case 'DeleteKey':
        return decideKey(command, alive(state).keys)
      case 'AddSecondFactor':
      case 'UseRecoveryCode':
      case 'RemoveSecondFactor':
        return decideSecondFactor(command, alive(state).secondFactor)
      case 'SetRateLimit': {
        const { limit } = command
        return alive(state).rateLimit === limit ? [] : [{ type: 'AccountRateLimitSet', data: { id, limit } }]
      }
      case 'SetExclusions': {
        const { exclusions: before } = enabled(state)
        const exclusions = { ...before, ...defined(command.changes) }
        return isDeepStrictEqual(exclusions, before) ? [] : [{ type: 'AccountExclusionsSet', data: { id, exclusions } }]
      }
      case 'MarkOperator':
        return enabled(state).operator ? [] : [{ type: 'AccountOperatorMarked', data: { id } }]
      case 'UnmarkOperator':
        return alive(state).operator ? [{ type: 'AccountOperatorUnmarked', data: { id } }] : []
      case 'DisableAccount':
        return alive(state).status === 'disabled' ? [] : [{ type: 'AccountDisabled', data: { id } }]
      case 'EnableAccount':
        return alive(state).status === 'active' ? [] : [{ type: 'AccountEnabled', data: { id } }]
      case 'ScheduleErasure':
      case 'CancelErasure':
        return decideErasure(command, alive(state).erases)
      case 'CarryOutErasure':
        return decideErasure(command, state.erases)
      case 'EraseAccount':
        return alive(state) && [{ type: 'AccountErased', data: { id } }]
    }
  },
  evolve: (state, event) => {
    switch (event.type) {
      case 'AccountRegistered': {
        const { email, username, password, emailToken, usernameToken } = event.data
        const tokens = acquire(acquire(state.tokens, 'email', emailToken), 'username', usernameToken)
        return { ...state, status: 'active', email, username, password, tokens }
      }
      case 'AccountEmailChanged':
        return { ...state, email: event.data.email, tokens: acquire(state.tokens, 'email', event.data.emailToken) }
      case 'AccountPasswordChanged':
        return { ...state, password: event.data.password }
      case 'ApiKeyIssued':
      case 'ApiKeyAdded':
      case 'ApiKeyUpdated':
      case 'ApiKeyDeleted':
        return { ...state, keys: evolveKeys(state.keys, event) }
      case 'SecondFactorAdded':
      case 'RecoveryCodeUsed':
      case 'SecondFactorRemoved':
        return { ...state, secondFactor: evolveSecondFactor(state.secondFactor, event) }
      case 'AccountRateLimitSet':
        return { ...state, rateLimit: event.data.limit }
      case 'AccountExclusionsSet':
        return { ...state, exclusions: event.data.exclusions }
      case 'AccountOperatorMarked':
        return { ...state, operator: true }
      case 'AccountOperatorUnmarked':
        return { ...state, operator: false }
      case 'AccountDisabled':
        return { ...state, status: 'disabled' }
      case 'AccountEnabled':
        return { ...state, status: 'active' }
      case 'AccountErasureScheduled':
        return { ...state, erases: event.data.due }
      case 'AccountErasureCancelled':
        return { ...state, erases: null }
      case 'AccountErased':
        return {
          ...account.initialState,
          status: 'erased',
          tokens: release(state.tokens, 'email', 'username'),
        }
      case 'ClaimFenced':
        return { ...state, tokens: fence(state.tokens, event.data.token) }
    }
  },
  claims: (command, events) => {
    const email = ({ emailKey: name, emailToken: token }: ClaimedEmail) => ({ kind: 'email', name, token }) as const
    switch (command.type) {
      case 'RegisterAccount':
        return events.length === 0
          ? []
          : [email(command), { kind: 'username', name: command.usernameKey, token: command.usernameToken }]
      case 'UpdateAccount':
        return command.email && events.some(({ type }) => type === 'AccountEmailChanged') ? [email(command.email)] : []
      default:
        return []
    }
  },
}
