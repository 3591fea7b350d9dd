import { createHash } from 'node:crypto'
import { z } from 'zod'
import { account } from '../../commands/accounts/account.ts'
import type { Caller } from '../../commands/caller.ts'
import { countRevision } from '../../commands/load.ts'
import { claimedEmail, password } from '../../commands/accounts/register.ts'
import { streamId } from '../../events/streams.ts'
import { email, text, timestamp } from '../../lib/fields.ts'
import { type AccountRow, findAccount } from '../../queries/accounts/account.ts'
import { readCurrent } from '../api/write/current.ts'
import { fail, failField } from '../api/errors.ts'
import { route, type Services } from '../api/route.ts'

/** https://docs.gravatar.com: SHA-256 of the lower-case e-mail; `d=identicon` generates a picture for unknown e-mails. */
const avatar = (address: string) =>
  `https://www.gravatar.com/avatar/${createHash('sha256').update(address).digest('hex')}?d=identicon`

const yearAfter = (date: Date) => {
  const later = new Date(date)
  later.setUTCFullYear(later.getUTCFullYear() + 1)
  return later
}

const present = ({ id, email, username, registered, erases, revision }: Omit<AccountRow, 'status'>) => ({
  id,
  email: email ?? '',
  username: username ?? '',
  avatar: avatar(email ?? ''),
  status: 'pro',
  expires: timestamp(yearAfter(registered)),
  registered: timestamp(registered),
  erases: erases ? timestamp(erases) : '',
  revision,
})

/** Returns the account from the tables or, while its changes are not projected yet, from its stream. */
export const readAccount = async (
  { account: id, load }: Pick<Caller, 'account' | 'load'>,
  { reader, pending }: Pick<Services, 'reader' | 'pending'>,
) =>
  readCurrent({
    pending: pending.has(streamId('account', id)),
    inTables: () => findAccount(reader, id),
    inStream: async () => {
      const { state, since, revision } = await load(account, id)
      return since
        ? {
            id,
            email: state.email,
            username: state.username,
            registered: new Date(since),
            erases: state.erases === null ? null : new Date(state.erases),
            exclusions: state.exclusions,
            revision: countRevision(revision),
          }
        : fail(404, 'Account not found.')
    },
  })

/** ms */
const day = 86_400_000

const emailSent = 'Open the link that was sent to the new e-mail address. It counts once it is confirmed.'

export const accountRoutes = [
  route({
    method: 'get',
    path: '/api/account',
    single: true,
    scope: ['read', 'account'],
    run: async (call, services) => ({
      data: {
        ...present(await readAccount(call, services)),
        // the dashboard then shows the operator's view; a key never has the right
        ...(call.may('operator') && { operator: true }),
      },
    }),
  }),

  route({
    method: 'put',
    path: '/api/account/update',
    single: true,
    scope: 'account',
    passwordInstead: true,
    body: z
      .object({ email: email.optional(), password: password.optional(), current_password: text(1024).optional() })
      .refine(
        (body) => body.email !== undefined || body.password !== undefined,
        'At least one of `email` and `password` is required',
      ),
    run: async (
      { account: id, body, from, inScope, lang, load, session, write },
      { hashNewPassword, links, mails, passwords, pepper, sessions },
    ) => {
      if (session !== undefined && body.current_password === undefined) failField('current_password', 'is required')
      if (!inScope && body.current_password === undefined)
        fail(403, 'This API key needs the scope `account`, or `current_password`.')
      if (body.current_password !== undefined) await passwords.require(id, body.current_password, from)
      const hash = body.password === undefined ? undefined : await hashNewPassword(body.password)
      const before = (await load(account, id)).state
      const toConfirm = mails && body.email !== before.email ? body.email : undefined
      if (mails && toConfirm !== undefined) {
        await mails.count(`account ${id}`)
        await mails.order({ kind: 'email', lang, to: toConfirm }, id)
      }
      // before the change: it is sent once the change has happened, and lost by no crash
      if (mails && hash !== undefined) await mails.order({ kind: 'passwordChanged', lang, password: hash }, id)
      const { revision } = await write(account, {
        type: 'UpdateAccount',
        id,
        ...(body.email === undefined || toConfirm !== undefined ? {} : { email: claimedEmail(pepper, body.email) }),
        ...(hash === undefined ? {} : { password: hash }),
      })
      // a link to reset the old password must not replace the new one
      if (hash !== undefined) await links.end(id)
      if (hash !== undefined) await sessions.keepWith(id, hash, session)
      return { message: toConfirm === undefined ? 'Account has been updated.' : emailSent, revision }
    },
  }),

  route({
    method: 'post',
    path: '/api/account/reset',
    public: true,
    body: z.object({ email }),
    run: async ({ body, from, lang }, { mails }) => {
      if (!mails) return fail(404, 'This service sends no mail. Ask its operator for a new password.')
      await mails.count(from)
      await mails.order({ kind: 'reset', lang, to: body.email })
      return { message: 'If this e-mail address belongs to an account, a link to set a new password was sent to it.' }
    },
  }),

  route({
    method: 'post',
    path: '/api/account/erase',
    scope: 'account',
    body: z.object({ current_password: text(1024) }),
    run: async ({ account: id, body, from, lang, write }, { erasure, mails, passwords }) => {
      await passwords.require(id, body.current_password, from)
      const due = new Date(Date.now() + erasure.delayDays * day).toISOString()
      await mails?.order({ kind: 'erasure', lang, due }, id)
      const { state, revision } = await write(account, { type: 'ScheduleErasure', id, due })
      return {
        message: 'The account will be erased for good. Until then it works, and this can be cancelled.',
        erases: timestamp(state.erases ?? due),
        revision,
      }
    },
  }),

  route({
    method: 'delete',
    path: '/api/account/erase',
    scope: 'account',
    run: async ({ account: id, write }) => {
      const { revision } = await write(account, { type: 'CancelErasure', id })
      return { message: 'The account will not be erased.', revision }
    },
  }),
]
