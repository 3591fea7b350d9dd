import type { AccountEvent } from '../../events/accounts/account.ts'
import type { Claim } from '../claims/claim.ts'
import { type CommandOf, refuse } from '../decider.ts'
import { type ClaimedIdentity, decideIdentity, identityClaim } from './identity.ts'
import type { IssuedKey } from './key.ts'
import type { Account } from './state.ts'

/** An e-mail address and its claim: `emailKey` is a keyed hash, because stream names must not contain personal data. */
export interface ClaimedEmail {
  readonly email: string
  readonly emailKey: string
  readonly emailToken: string
}

export interface ClaimedUsername {
  readonly username: string
  readonly usernameKey: string
  readonly usernameToken: string
}

/** Commands that make an account; `password` is an scrypt hash. */
export type OpeningCommand =
  | (ClaimedEmail &
      ClaimedUsername & {
        readonly type: 'RegisterAccount'
        readonly id: number
        readonly password: string
        readonly timezone?: string
        readonly apiKey: IssuedKey
      })
  | (ClaimedUsername & {
      readonly type: 'RegisterByIdentity'
      readonly id: number
      /** undefined: an account without an address */
      readonly email?: ClaimedEmail | undefined
      readonly identity: ClaimedIdentity
    })
  /** a team account, which itself has no sign-in */
  | (ClaimedUsername & { readonly type: 'AddAccount'; readonly id: number })

type Decision<T> = (command: CommandOf<OpeningCommand, T>, state: Account) => readonly AccountEvent[]

const requireUnused = ({ status, tokens }: Account) => {
  if (status !== 'none' || tokens.fenced.length > 0) refuse('id_in_use', { what: 'account' })
}

export const zoneSet = (
  id: number,
  timezone: string | undefined,
  to: { readonly to?: number } = {},
): readonly AccountEvent[] =>
  timezone === undefined ? [] : [{ type: 'AccountTimezoneSet', data: { id, timezone, ...to } }]

const register: Decision<'RegisterAccount'> = (command, state) => {
  const { type: _, emailKey: _e, usernameKey: _u, apiKey, timezone, ...data } = command
  if (state.tokens.held.email === command.emailToken) return []
  requireUnused(state)
  return [
    { type: 'AccountRegistered', data },
    { type: 'ApiKeyIssued', data: { id: command.id, ...apiKey } },
    ...zoneSet(command.id, timezone),
  ]
}

const registerByIdentity: Decision<'RegisterByIdentity'> = (command, state) => {
  const { id, email, username, usernameToken, identity } = command
  if (state.tokens.held.username === usernameToken) return []
  requireUnused(state)
  const address = { email: email?.email ?? null, emailToken: email?.emailToken ?? null }
  return [
    { type: 'AccountRegisteredByIdentity', data: { id, ...address, username, usernameToken } },
    ...decideIdentity({ type: 'AddIdentity', id, identity }, state),
  ]
}

const add: Decision<'AddAccount'> = ({ id, username, usernameToken }, state) => {
  if (state.tokens.held.username === usernameToken) return []
  requireUnused(state)
  return [{ type: 'AccountAdded', data: { id, username, usernameToken } }]
}

export const openings = { RegisterAccount: register, RegisterByIdentity: registerByIdentity, AddAccount: add }

export const emailClaim = ({ emailKey: name, emailToken: token }: ClaimedEmail): Claim => ({
  kind: 'email',
  name,
  token,
})
const usernameClaim = ({ usernameKey: name, usernameToken: token }: ClaimedUsername): Claim => ({
  kind: 'username',
  name,
  token,
})
/** Returns the names that a new account claims. */
export const openingClaims = (command: OpeningCommand): readonly Claim[] => {
  const username = usernameClaim(command)
  switch (command.type) {
    case 'RegisterAccount':
      return [emailClaim(command), username]
    case 'RegisterByIdentity':
      // claims the identity first, so that two sign-ins at once create one account
      return [identityClaim(command.identity), ...(command.email ? [emailClaim(command.email)] : []), username]
    case 'AddAccount':
      return [username]
  }
}
