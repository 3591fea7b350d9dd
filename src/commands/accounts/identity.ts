import type { Event } from '../../events/index.ts'
import { acquire, type Claim, release, type Slot, type Tokens } from '../claims/claim.ts'
import { refuseTaken } from '../claims/taken.ts'
import { refuse } from '../decider.ts'

/** A person who can sign in to an account, as the issuer identifies them. */
export interface Identity {
  /** its id within the account */
  readonly number: number
  /** null once the key of the account is lost; so are the other fields */
  readonly issuer: string | null
  readonly subject: string | null
  /** the issuer's name for the person */
  readonly name: string | null
  /** token of the claim on issuer and subject */
  readonly token: string
  /** whether a verified e-mail address led to the account, without a link from a signed-in session */
  readonly byEmail?: true | undefined
}

/** An identity and its claim: `identityKey` is a keyed hash of issuer and subject. */
export interface ClaimedIdentity {
  readonly issuer: string
  readonly subject: string
  readonly name: string | null
  readonly identityKey: string
  readonly identityToken: string
}

export const identityClaim = ({ identityKey: name, identityToken: token }: ClaimedIdentity): Claim => ({
  kind: 'identity',
  name,
  token,
})

export type IdentityCommand =
  | {
      readonly type: 'AddIdentity'
      readonly id: number
      readonly identity: ClaimedIdentity
      readonly byEmail?: true | undefined
    }
  /** `by` an operator, who may leave an account without a way to sign in */
  | { readonly type: 'RemoveIdentity'; readonly id: number; readonly number: number; readonly by?: 'operator' }

interface Having {
  readonly identities: readonly Identity[]
  readonly lastIdentity: number
  readonly password: string | null
  readonly passkeys: readonly unknown[]
  readonly tokens: Tokens
}
type IdentityEvent = Event<'IdentityAdded' | 'IdentityRemoved'>

const most = 10

/** Returns the slot in which an account holds the claim of an identity. */
export const slotOf = (number: number): Slot => `identity ${number}`

/** Returns the events of a command on the identities of an existing account. Throws `Refused`. */
export const decideIdentity = (
  command: IdentityCommand,
  { identities, lastIdentity, passkeys, password, tokens }: Having,
): readonly IdentityEvent[] => {
  const { id } = command
  if (command.type === 'AddIdentity') {
    const { identityKey: _, ...identity } = command.identity
    const { byEmail } = command
    if (identities.some((one) => one.issuer === identity.issuer && one.subject === identity.subject)) return []
    if (tokens.fenced.includes(identity.identityToken)) return refuseTaken('identity')
    if (identities.length >= most) return refuse('too_many', { what: 'identities', max: most })
    return [{ type: 'IdentityAdded', data: { id, number: lastIdentity + 1, ...identity, ...(byEmail && { byEmail }) } }]
  }
  const { number, by } = command
  if (number > lastIdentity) return refuse('not_found', { what: 'identity' })
  const left = identities.filter((one) => one.number !== number)
  if (left.length === identities.length) return []
  if (left.length + passkeys.length === 0 && password === null && by !== 'operator') return refuse('last_identity')
  return [{ type: 'IdentityRemoved', data: { id, number } }]
}

/** Returns the identities of an account after an event. */
export const evolveIdentities = (
  { identities, lastIdentity, tokens }: Omit<Having, 'password' | 'passkeys'>,
  { type, data }: IdentityEvent,
): Omit<Having, 'password' | 'passkeys'> => {
  const { number } = data
  if (type === 'IdentityRemoved')
    return {
      identities: identities.filter((one) => one.number !== number),
      lastIdentity,
      tokens: release(tokens, slotOf(number)),
    }
  const { byEmail, issuer, subject, name, identityToken: token } = data
  return {
    identities: [...identities, { number, issuer, subject, name, token, ...(byEmail && { byEmail }) }],
    lastIdentity: number,
    tokens: acquire(tokens, slotOf(number), token),
  }
}
