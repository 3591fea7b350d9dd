import type { Event } from '../../events/index.ts'
import { acquire, type Claim, release, type Slot, type Tokens } from '../claims/claim.ts'
import { refuseTaken } from '../claims/taken.ts'
import { refuse } from '../decider.ts'

/** Who can sign in to an account, as an issuer calls them. */
export interface Identity {
  /** its id within the account */
  readonly number: number
  /** null, as the others, once the key of the account is lost */
  readonly issuer: string | null
  readonly subject: string | null
  /** what the issuer calls the person */
  readonly name: string | null
  /** of the claim of issuer and subject */
  readonly token: string
  /** whether a verified e-mail address has led to the account, which nobody signed in to has linked */
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

/** Returns what an account has the claim of an identity as. */
export const slotOf = (number: number): Slot => `identity ${number}`

/** Returns the events of a command on the identities of an account that exists. Throws `Refused`. */
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

/** Returns what an account has of identities after an event. */
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
