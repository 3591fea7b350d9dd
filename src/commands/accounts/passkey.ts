import type { Event } from '../../events/index.ts'
import { acquire, type Claim, release, type Slot, type Tokens } from '../claims/claim.ts'
import { refuseTaken } from '../claims/taken.ts'
import { refuse } from '../decider.ts'

/** A key pair of a browser, a phone or a security key, whose owner can sign in to an account (WebAuthn). */
export interface Passkey {
  /** its id within the account */
  readonly number: number
  /** null, as the others, once the key of the account is lost */
  readonly name: string | null
  /** what the authenticator calls it, in base64url */
  readonly credential: string | null
  /** in COSE and base64url */
  readonly publicKey: string | null
  /** of the claim of `credential` */
  readonly token: string
  /** ISO 8601 */
  readonly added: string
}

/** A passkey and its claim: `passkeyKey` is a keyed hash of what the authenticator calls it. */
export interface ClaimedPasskey {
  readonly name: string
  readonly credential: string
  readonly publicKey: string
  readonly added: string
  readonly passkeyKey: string
  readonly passkeyToken: string
}

export const passkeyClaim = ({ passkeyKey: name, passkeyToken: token }: ClaimedPasskey): Claim => ({
  kind: 'passkey',
  name,
  token,
})

export type PasskeyCommand =
  | { readonly type: 'AddPasskey'; readonly id: number; readonly passkey: ClaimedPasskey }
  | { readonly type: 'RenamePasskey'; readonly id: number; readonly number: number; readonly name: string }
  | {
      readonly type: 'RemovePasskey'
      readonly id: number
      readonly number: number
      /** an operator may leave an account without a way to sign in */
      readonly by?: 'operator'
      /** whether the service takes no passwords, so that one is no way to sign in */
      readonly withoutPasswords?: boolean
    }

interface Having {
  readonly identities: readonly unknown[]
  readonly passkeys: readonly Passkey[]
  readonly lastPasskey: number
  readonly password: string | null
  readonly tokens: Tokens
}
type PasskeyEvent = Event<'PasskeyAdded' | 'PasskeyRenamed' | 'PasskeyRemoved'>

const most = 20

/** What an account has the claim of a passkey as. */
const slotOf = (number: number): Slot => `passkey ${number}`

const remove = (
  { id, number, by, withoutPasswords = false }: Extract<PasskeyCommand, { type: 'RemovePasskey' }>,
  { identities, passkeys, password }: Having,
): readonly PasskeyEvent[] => {
  const left = passkeys.filter((one) => one.number !== number)
  if (left.length === passkeys.length) return []
  const hasOther = left.length + identities.length > 0 || (password !== null && !withoutPasswords)
  if (!hasOther && by !== 'operator') return refuse('last_identity', { what: 'passkey' })
  return [{ type: 'PasskeyRemoved', data: { id, number } }]
}

/** Returns the events of a command on the passkeys of an account that exists. Throws `Refused`. */
export const decidePasskey = (command: PasskeyCommand, state: Having): readonly PasskeyEvent[] => {
  const { passkeys, lastPasskey, tokens } = state
  const { id } = command
  if (command.type === 'AddPasskey') {
    const { passkeyKey: _, ...passkey } = command.passkey
    if (passkeys.some(({ credential }) => credential === passkey.credential)) return []
    if (tokens.fenced.includes(passkey.passkeyToken)) return refuseTaken('passkey')
    if (passkeys.length >= most) return refuse('too_many', { what: 'passkeys', max: most })
    return [{ type: 'PasskeyAdded', data: { id, number: lastPasskey + 1, ...passkey } }]
  }
  const { number } = command
  if (number > lastPasskey) return refuse('not_found', { what: 'passkey' })
  if (command.type === 'RemovePasskey') return remove(command, state)
  const found = passkeys.find((one) => one.number === number) ?? refuse('not_found', { what: 'passkey' })
  return found.name === command.name ? [] : [{ type: 'PasskeyRenamed', data: { id, number, name: command.name } }]
}

type Evolved = Pick<Having, 'passkeys' | 'lastPasskey' | 'tokens'>

/** Returns what an account has of passkeys after an event. */
export const evolvePasskeys = ({ passkeys, lastPasskey, tokens }: Evolved, { type, data }: PasskeyEvent): Evolved => {
  const { number } = data
  switch (type) {
    case 'PasskeyAdded': {
      const { name, credential, publicKey, passkeyToken: token, added } = data
      return {
        passkeys: [...passkeys, { number, name, credential, publicKey, token, added }],
        lastPasskey: number,
        tokens: acquire(tokens, slotOf(number), token),
      }
    }
    case 'PasskeyRenamed':
      return {
        passkeys: passkeys.map((one) => (one.number === number ? { ...one, name: data.name } : one)),
        lastPasskey,
        tokens,
      }
    case 'PasskeyRemoved':
      return {
        passkeys: passkeys.filter((one) => one.number !== number),
        lastPasskey,
        tokens: release(tokens, slotOf(number)),
      }
  }
}
