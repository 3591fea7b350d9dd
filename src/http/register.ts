import { createHmac, randomInt, randomUUID } from 'node:crypto'
import { z } from 'zod'
import { account, type AccountCommand } from '../commands/account.ts'
import { Refused } from '../commands/decider.ts'
import { newKey } from '../cache/auth.ts'
import { hashPassword } from '../security/passwords.ts'
import { route } from './api/route.ts'
import { must, text } from './api/fields.ts'

const emailShape = /^[^\s@<>()[\]\\,;:"]+@[^\s@.]+(\.[^\s@.]+)+$/
/** Kept and compared in lower case. */
export const email = text(254)
  .transform((address) => address.trim().toLowerCase())
  .refine((address) => emailShape.test(address), 'must be an e-mail address like ann@example.com')
export const password = text(1024).refine((word) => word.length >= 8, 'must have at least 8 characters')
export const username = z
  .string(must('a text'))
  .regex(/^[a-z0-9_-]{3,32}$/, 'must be 3 to 32 small letters, digits, hyphens or underscores')

/** What a unique personal name is claimed by: neither an e-mail nor a username stands in the name of a stream. */
const personalKey = (pepper: Buffer, kind: 'email' | 'username', value: string) =>
  createHmac('sha256', pepper).update(`${kind} ${value}`).digest('base64url')

const fromEmail = (address: string) => {
  const local = address
    .split('@')[0]!
    .replaceAll(/[^a-z0-9_-]/g, '-')
    .replaceAll(/^-+|-+$/g, '')
  return (local.length < 3 ? `user-${local || 'x'}` : local).slice(0, 24)
}

export const Registration = z.object({ email, password, username: username.optional() })
export type Registration = z.output<typeof Registration>

export const claimedEmail = (pepper: Buffer, address: string) => ({
  email: address,
  emailKey: personalKey(pepper, 'email', address),
  emailToken: randomUUID(),
})

/** Registers under the wished username, or one made from the e-mail, with a number behind it until it is free. */
const withUsername = async <R>(wish: Registration, attempt: (username: string) => Promise<R>): Promise<R> => {
  if (wish.username !== undefined) return attempt(wish.username)
  const name = fromEmail(wish.email)
  for (let digits = 0; ; digits++) {
    try {
      return await attempt(digits === 0 ? name : `${name}-${randomInt(10 ** digits, 10 ** (digits + 1))}`)
    } catch (error) {
      if (!(error instanceof Refused && error.what === 'username') || digits === 6) throw error
    }
  }
}

/** Makes an account and its key, for a visitor or an operator. The key is shown this once. */
export const register = async (
  pepper: Buffer,
  wish: Registration,
  create: (
    make: (id: number) => Extract<AccountCommand, { type: 'RegisterAccount' }>,
  ) => Promise<{ readonly id: number }>,
) => {
  const { key, hash, id: keyId } = newKey(pepper)
  const common = {
    type: 'RegisterAccount' as const,
    ...claimedEmail(pepper, wish.email),
    password: await hashPassword(wish.password),
    apiKey: { key: keyId, hash, expires: null },
  }
  return withUsername(wish, async (name) => {
    const named = { username: name, usernameKey: personalKey(pepper, 'username', name), usernameToken: randomUUID() }
    const { id } = await create((id) => ({ ...common, ...named, id }))
    return { id, username: name, api_key: key }
  })
}

export const registerRoutes = [
  route({
    method: 'post',
    path: '/register',
    public: true,
    body: Registration,
    run: ({ body, create }, { pepper }) => register(pepper, body, (make) => create('account', account, make)),
  }),
]
