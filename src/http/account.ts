import { createHash } from 'node:crypto'
import { z } from 'zod'
import { account } from '../commands/account.ts'
import { type AccountRow, findAccount } from '../queries/account.ts'
import { fail } from './api/errors.ts'
import { hashPassword } from '../security/passwords.ts'
import { claimedEmail, email, password } from './register.ts'
import { type Call, route, type Services } from './api/route.ts'
import { timestamp } from './api/fields.ts'

/** https://docs.gravatar.com: SHA-256 of the lower-case e-mail; `d=identicon` draws a picture for who has none. */
const avatar = (address: string) =>
  `https://www.gravatar.com/avatar/${createHash('sha256').update(address).digest('hex')}?d=identicon`

const yearLater = (date: Date) => {
  const later = new Date(date)
  later.setUTCFullYear(later.getUTCFullYear() + 1)
  return later
}

const present = ({ id, email, username, registered }: Omit<AccountRow, 'status'>) => ({
  id,
  email: email ?? '',
  username: username ?? '',
  avatar: avatar(email ?? ''),
  status: 'pro',
  expires: timestamp(yearLater(registered)),
  registered: timestamp(registered),
})

/** From the tables, or while they are late from the account's own stream. */
export const readAccount = async (
  { account: id }: Pick<Call<unknown>, 'account'>,
  { reader, handler, pending }: Services,
) => {
  const row = pending.has(`account-${id}`) ? undefined : await findAccount(reader, id)
  if (row) return row
  const { state, since } = await handler.load(account, id)
  return since
    ? { id, email: state.email, username: state.username, registered: new Date(since) }
    : fail(404, 'Account not found.')
}

export const accountRoutes = [
  route({
    method: 'get',
    path: '/api/account',
    run: async (call, services) => ({ data: present(await readAccount(call, services)) }),
  }),

  route({
    method: 'put',
    path: '/api/account/update',
    body: z
      .object({ email: email.optional(), password: password.optional() })
      .refine((body) => body.email !== undefined || body.password !== undefined, 'email or password is required'),
    run: async ({ account: id, body, write }, { pepper }) => {
      await write(account, {
        type: 'UpdateAccount',
        id,
        ...(body.email === undefined ? {} : { email: claimedEmail(pepper, body.email) }),
        ...(body.password === undefined ? {} : { password: await hashPassword(body.password) }),
      })
      return { message: 'Account has been updated.' }
    },
  }),
]
