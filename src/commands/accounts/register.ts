import { createHmac, randomInt, randomUUID } from 'node:crypto'
import { z } from 'zod'
import { must, orStop, ownEmail, says, text } from '../../lib/fields.ts'
import { newKey } from '../../security/apikeys.ts'
import { hashPassword } from '../../security/passwords.ts'
import type { AccountCommand } from './account.ts'
import type { ClaimedIdentity } from './identity.ts'
import { isZone } from '../../lib/zone.ts'
import { isTaken } from '../claims/taken.ts'

export const password = text(1024).refine((word) => word.length >= 8, says('too_short', { min: 8 }))
export const username = z
  .string(must('wrong_type', { what: 'string' }))
  .regex(/^[a-z0-9_-]{3,32}$/, orStop(says('wrong_form', { what: 'username' })))
  // logs of 0.1.0 have usernames of digits only, which look like ids to an operator
  .regex(/[a-z]/, says('wrong_form', { what: 'letter' }))

const timezone = text(64)
/** The time zone of an account. */
export const Timezone = timezone.refine(isZone, says('wrong_form', { what: 'zone' }))
/** An unknown time zone does not prevent signing up: browsers may know newer ones. */
const ofBrowser = timezone.transform((name) => (isZone(name) ? name : undefined))

export const Registration = z.object({
  email: ownEmail,
  password,
  username: username.optional(),
  timezone: ofBrowser.optional(),
})
export type Registration = z.output<typeof Registration>

/** Returns the name of a claim on personal data: a keyed hash, because stream names must not contain personal data. */
const personalKey = (pepper: Buffer, kind: 'email' | 'username' | 'identity' | 'passkey', value: string) =>
  createHmac('sha256', pepper).update(`${kind} ${value}`).digest('base64url')

export const claimedEmail = (pepper: Buffer, address: string) => ({
  email: address,
  emailKey: personalKey(pepper, 'email', address),
  emailToken: randomUUID(),
})
const claimedUsername = (pepper: Buffer, name: string) => ({
  username: name,
  usernameKey: personalKey(pepper, 'username', name),
  usernameToken: randomUUID(),
})

/** Returns the name of the claim on an identity. */
export const identityKey = (pepper: Buffer, { issuer, subject }: Pick<ClaimedIdentity, 'issuer' | 'subject'>) =>
  personalKey(pepper, 'identity', JSON.stringify([issuer, subject]))

export const claimedIdentity = (
  pepper: Buffer,
  { issuer, subject, name }: Pick<ClaimedIdentity, 'issuer' | 'subject' | 'name'>,
): ClaimedIdentity => ({
  issuer,
  subject,
  name,
  identityKey: identityKey(pepper, { issuer, subject }),
  identityToken: randomUUID(),
})

/** Returns the name of the claim on a passkey, by its credential id. */
export const passkeyKey = (pepper: Buffer, credential: string) => personalKey(pepper, 'passkey', credential)

/** Returns eight unambiguous letters and digits: a name that discloses nothing about its owner. */
const randomUsername = () => {
  const [letters, all] = ['abcdefghjkmnpqrstuvwxyz', 'abcdefghjkmnpqrstuvwxyz23456789']
  const draw = (from: string) => from.charAt(randomInt(from.length))
  return draw(letters) + Array.from({ length: 7 }, () => draw(all)).join('')
}

/**
 * Tries the requested username, or random ones while they are taken. The username appears in the addresses of public
 * lists.
 */
const withUsername = async <R>(
  { username }: Pick<Registration, 'username'>,
  attempt: (username: string) => Promise<R>,
): Promise<R> => {
  if (username !== undefined) return attempt(username)
  for (let tries = 1; ; tries++) {
    try {
      return await attempt(randomUsername())
    } catch (error) {
      if (!isTaken(error, 'username') || tries === 6) throw error
    }
  }
}

type RegisterAccount = Extract<AccountCommand, { type: 'RegisterAccount' }>

/** Registers a person whom an issuer has authenticated, without a password and without a key. */
export const registerByIdentity = async (
  pepper: Buffer,
  { email, ...who }: Pick<ClaimedIdentity, 'issuer' | 'subject' | 'name'> & { readonly email: string | undefined },
  create: (make: (id: number) => AccountCommand) => Promise<{ readonly id: number }>,
) => {
  const identity = claimedIdentity(pepper, who)
  const claimed = email === undefined ? {} : { email: claimedEmail(pepper, email) }
  return withUsername({}, async (username) => {
    const named = claimedUsername(pepper, username)
    const { id } = await create((id) => ({ type: 'RegisterByIdentity', id, ...claimed, ...named, identity }))
    return { id, username, token: identity.identityToken }
  })
}

/** Adds a team account, which itself has no sign-in. */
export const addTeamAccount = async (
  pepper: Buffer,
  name: string | undefined,
  create: (make: (id: number) => AccountCommand) => Promise<{ readonly id: number }>,
) =>
  withUsername({ username: name }, async (username) => {
    const named = claimedUsername(pepper, username)
    const { id } = await create((id) => ({ type: 'AddAccount', id, ...named }))
    return { id, username }
  })

type Create = (make: (id: number) => RegisterAccount) => Promise<{ readonly id: number }>

/**
 * Registers an account with its first API key, for a visitor or an operator. Only the result has the key itself: the
 * log has its hash.
 */
export const register = async (
  pepper: Buffer,
  registration: Registration,
  create: Create,
  hash: (password: string) => Promise<string> = hashPassword,
) => registerHashed(pepper, { ...registration, password: await hash(registration.password) }, create)

/** Like `register`, with the scrypt hash of the password. */
export const registerHashed = async (pepper: Buffer, registration: Registration, create: Create) => {
  const { key, hash, id: keyId } = newKey(pepper)
  const common = {
    type: 'RegisterAccount' as const,
    ...claimedEmail(pepper, registration.email),
    password: registration.password,
    ...(registration.timezone !== undefined && { timezone: registration.timezone }),
    apiKey: { key: keyId, hash, expires: null },
  }
  return withUsername(registration, async (username) => {
    const claimed = claimedUsername(pepper, username)
    const { id } = await create((id) => ({ ...common, ...claimed, id }))
    return { id, username, api_key: key }
  })
}
