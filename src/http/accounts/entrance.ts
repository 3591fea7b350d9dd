import type { Progress } from '../../cache/progress.ts'
import { account } from '../../commands/accounts/account.ts'
import type { Account } from '../../commands/accounts/state.ts'
import { claimedEmail, claimedIdentity, identityKey, registerByIdentity } from '../../commands/accounts/register.ts'
import type { Claim } from '../../commands/claims/claim.ts'
import { isTaken } from '../../commands/claims/taken.ts'
import type { Handler, NextId } from '../../commands/handle.ts'
import { ownEmail } from '../../lib/fields.ts'
import { spellingsOf } from '../../lib/issuers.ts'
import type { Credential } from '../../security/credential.ts'
import type { Person } from '../../security/issuer.ts'
import { NotSignedIn } from '../../security/notsignedin.ts'
import { contextOf, timeoutMs } from '../public/account/writes.ts'
import type { RegisterServices } from './register.ts'

/** An account, and the identity that signs in to it. */
export interface Entered {
  readonly account: number
  readonly credential: Credential & { readonly kind: 'identity' }
}

/** Checks and updates the directories of organizations (SCIM) at a sign-in. */
export interface DirectoryGate {
  /** Throws `NotSignedIn` when a directory has ended the access of a person without an account. */
  readonly requireActive: (person: Person) => Promise<void>
  /** Records the account that a person signs in to. Throws `NotSignedIn` when their access has ended meanwhile. */
  readonly join: (person: Person, account: number) => Promise<void>
}

export interface EntranceOptions extends Pick<RegisterServices, 'countRegistration' | 'pepper'> {
  readonly directory: DirectoryGate
  readonly handler: Handler
  readonly nextId: NextId
  readonly progress: Pick<Progress, 'wait'>
  /** Returns the account that has a name, and the token of its claim. */
  readonly holderOf: (
    name: Pick<Claim, 'kind' | 'name'>,
  ) => Promise<{ readonly account: number; readonly token: string } | undefined>
  /** whether the first sign-in creates an account */
  readonly registers: boolean
  /** whether a verified address is enough to sign in to its account */
  readonly linksByEmail: boolean
}

export interface Entrance {
  /** Returns the account that a person signs in to, which may be new. Throws `NotSignedIn`. */
  readonly enter: (person: Person, from: string) => Promise<Entered>
  /** Returns the account that the identity of a person is linked to. */
  readonly find: (person: Pick<Person, 'issuer' | 'subject'>) => Promise<Entered | undefined>
  /** Links a person to an account, as long as it still has the credential of the request. */
  readonly link: (person: Person, id: number, requires: (state: unknown) => void) => Promise<void>
}

/** Returns a function that creates an account for a person from an issuer. */
const registering =
  ({ countRegistration, handler, nextId, pepper, progress, registers }: EntranceOptions) =>
  async (person: Person, email: string | undefined, from: string) => {
    if (!registers) throw new NotSignedIn('unknown', 'no account has this identity, and the first sign-in makes none')
    await countRegistration(from)
    const { issuer, subject, name } = person
    await registerByIdentity(pepper, { issuer, subject, name, email }, async (make) => {
      const created = await handler.create(account, nextId, make, contextOf)
      await progress.wait(created.position, timeoutMs)
      return created
    }).catch((error: unknown) => {
      if (isTaken(error, 'identity')) return
      if (isTaken(error, 'email')) throw new NotSignedIn('taken', 'the address was taken meanwhile', error)
      throw error
    })
  }

/** Throws `NotSignedIn` unless the issuer confirms that an address belongs to the person. */
const requireVerified = ({ verified }: Person) => {
  if (!verified)
    throw new NotSignedIn(
      'unverified',
      'the issuer does not say that the address is verified; OIDC_EMAIL_VERIFIED_CLAIM names the claim that does',
    )
}

/** Opens the decision which account a person from an issuer signs in to. */
export const openEntrance = (options: EntranceOptions): Entrance => {
  const { directory, handler, holderOf, linksByEmail, pepper, progress, registers } = options
  const entered = (id: number, token: string): Entered => ({ account: id, credential: { kind: 'identity', token } })

  const find = async (person: Pick<Person, 'issuer' | 'subject'>) => {
    // an operator may have linked it with the issuer's spelling in the settings
    for (const issuer of spellingsOf(person.issuer)) {
      const holder = await holderOf({ kind: 'identity', name: identityKey(pepper, { ...person, issuer }) })
      if (holder) return entered(holder.account, holder.token)
    }
    return undefined
  }
  const add = async (person: Person, id: number, how: { byEmail?: true; requires?: (state: unknown) => void }) => {
    const { byEmail, requires } = how
    const command = { type: 'AddIdentity', id, identity: claimedIdentity(pepper, person), byEmail } as const
    const { position } = await handler.handle(account, command, contextOf(id), { requires })
    await progress.wait(position, timeoutMs)
  }

  /** Links the account that has a verified address, unless its sign-in needs more than the address. */
  const enterByEmail = async (person: Person, id: number) => {
    const requires = ({ operator, secondFactor, status }: Pick<Account, 'operator' | 'secondFactor' | 'status'>) => {
      if (!linksByEmail || operator || secondFactor)
        throw new NotSignedIn('taken', 'there is an account with this address, which the identity is not linked to')
      if (status === 'disabled') throw new NotSignedIn('disabled', `account ${id} is disabled`)
    }
    requires((await handler.load(account, id)).state)
    // groups make no operator of such an account
    await add(person, id, { byEmail: true, requires: (state) => requires(state as Account) })
  }
  const register = registering(options)

  const enterFirst = async (person: Person, from: string): Promise<Entered> => {
    const address = ownEmail.safeParse(person.email)
    const email = address.success ? address.data : undefined
    if (email !== undefined && (registers || linksByEmail)) {
      requireVerified(person)
      const holder = await holderOf({ kind: 'email', name: claimedEmail(pepper, email).emailKey })
      if (holder) await enterByEmail(person, holder.account)
      else await register(person, email, from)
    } else await register(person, email, from)
    return (await find(person)) ?? (await Promise.reject(new Error('the identity was removed at once')))
  }

  return {
    find,
    link: async (person, id, requires) => {
      const holder = await find(person)
      if (holder && holder.account !== id)
        throw new NotSignedIn('linked', `the identity signs in to account ${holder.account}, not ${id}`)
      if (!holder) await add(person, id, { requires })
      await directory.join(person, id)
    },
    enter: async (person, from) => {
      await directory.requireActive(person)
      const entered =
        (await find(person)) ??
        (await enterFirst(person, from).catch(async (error: unknown) => {
          // of two concurrent sign-ins of a person, the other one now has the address and the identity
          const other = await find(person)
          if (other) return other
          throw error
        }))
      await directory.join(person, entered.account)
      return entered
    },
  }
}
