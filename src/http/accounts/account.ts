import { createHash } from 'node:crypto'
import { z } from 'zod'
import { account } from '../../commands/accounts/account.ts'
import type { Account } from '../../commands/accounts/state.ts'
import { hasMembers } from '../../commands/accounts/roster.ts'
import { team } from '../../commands/accounts/team.ts'
import { refuse } from '../../commands/decider.ts'
import { countRevision } from '../../commands/load.ts'
import { claimedEmail, password, Timezone } from '../../commands/accounts/register.ts'
import { owner, type Turn } from '../../security/passwords.ts'
import { streamId } from '../../events/streams.ts'
import { email, ownEmail, says, text, timestamp, verbatim } from '../../lib/fields.ts'
import { utc } from '../../lib/zone.ts'
import { type AccountRow, findAccount } from '../../queries/accounts/account.ts'
import { teamsOwnedAlone } from '../../queries/accounts/owner.ts'
import { signInMark } from '../../security/knownbrowsers.ts'
import type { OneTimeLinks } from '../../security/onetimelinks.ts'
import type { Sessions } from '../../security/sessions.ts'
import { readCurrent } from '../api/write/current.ts'
import { fail, requirePasswords } from '../api/errors.ts'
import { type Call, endpoint, type Reading, type Route } from '../api/route.ts'
import type { Mails } from './mails.ts'
import type { StepUps } from './credentials.ts'
import { PasskeyAnswer } from './passkey/ceremony.ts'
import { accountContract } from './contract/account.ts'

/** What the routes of an account need. */
export interface AccountServices {
  readonly erasure: { readonly delayDays: number }
  /** Hashes the new password of an account or a link. */
  readonly hashNewPassword: (password: string, turn: Turn) => Promise<string>
  /** links that work once */
  readonly links: Pick<OneTimeLinks, 'end'>
  /** undefined without SMTP_URL */
  readonly mails: Mails | undefined
  /** whether people may sign in with passwords */
  readonly passwordSignIn: boolean
  /** 32 bytes for keyed hashes */
  readonly pepper: Buffer
  readonly sessions: Pick<Sessions, 'keepWith'>
  readonly stepUps: StepUps
}

/**
 * https://docs.gravatar.com: SHA-256 of the lower-case e-mail; `d=identicon` generates a picture for unknown e-mails.
 */
const avatar = (address: string) =>
  `https://www.gravatar.com/avatar/${createHash('sha256').update(address).digest('hex')}?d=identicon`

const yearAfter = (date: Date) => {
  const later = new Date(date)
  later.setUTCFullYear(later.getUTCFullYear() + 1)
  return later
}

const present = ({ id, email, username, timezone, registered, erases, revision }: Omit<AccountRow, 'status'>) => ({
  id,
  email: email ?? '',
  username: username ?? '',
  avatar: avatar(email ?? ''),
  timezone: timezone ?? utc,
  status: 'pro' as const,
  expires: timestamp(yearAfter(registered)),
  registered: timestamp(registered),
  erases: erases ? timestamp(erases) : '',
  revision,
})

/** Returns the account from the tables or, while its changes are not projected yet, from its stream. */
export const readAccount = async ({ account: id, load, reader, pending }: Reading) =>
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
            team: state.isTeam,
            timezone: state.timezone,
            registered: new Date(since),
            erases: state.erases === null ? null : new Date(state.erases),
            exclusions: state.exclusions,
            revision: countRevision(revision),
          }
        : fail(404, 'not_found', { what: 'account' })
    },
  })

/** What a step needs besides the key or session. */
export const given = {
  current_password: verbatim(1024).optional(),
  code: text(64).optional(),
  passkey: PasskeyAnswer.optional(),
}

/** ms */
const day = 86_400_000

const emailSent = 'Open the link that was sent to the new e-mail address. It counts once it is confirmed.'

/** The address of the first owner is not for keys of members who may not see it in the list of members. */
const ofOwner = ({ may, member }: Pick<Call, 'may' | 'member'>, found: Parameters<typeof present>[0]) =>
  present(member && !may('account') && !may('audit') ? { ...found, email: null } : found)

const details = endpoint(accountContract, 'GET /api/account', {
  single: true,
  scope: ['read', 'account'],
  person: 'or key',
  run: async (call) => ({
    data: {
      ...ofOwner(call, await readAccount(call)),
      // the dashboard then shows the operator's view; a key never has the right
      ...(call.may('operator') && { operator: true as const }),
    },
  }),
})

const update = ({ hashNewPassword, links, mails, passwordSignIn, pepper, sessions, stepUps }: AccountServices) =>
  endpoint(accountContract, 'PUT /api/account/update', {
    single: true,
    scope: 'account',
    person: true,
    passwordInstead: true,
    body: z
      .object({ email: ownEmail.optional(), password: password.optional(), timezone: Timezone.optional(), ...given })
      .refine(
        (body) => [body.email, body.password, body.timezone].some((sent) => sent !== undefined),
        says('required_here', { what: 'email_or_password' }),
      ),
    run: async (call) => {
      const { account: id, body, inScope, lang, load, session, write } = call
      if (!inScope && session === undefined && body.current_password === undefined)
        fail(403, 'lacks_scope', { what: 'password' })
      if (body.password !== undefined) requirePasswords({ passwordSignIn })
      // the time zone opens nothing
      if ([body.email, body.password, body.current_password].some((sent) => sent !== undefined))
        await stepUps.require('account', call, body)
      const hash = body.password === undefined ? undefined : await hashNewPassword(body.password, owner(id))
      const before = (await load(account, id)).state
      const toConfirm = mails && body.email !== before.email ? body.email : undefined
      if (mails && toConfirm !== undefined) {
        await mails.count(`account ${id}`)
        const signIn = signInMark(pepper, { id, state: { ...before, password: hash ?? before.password } })
        await mails.order({ kind: 'email', lang, to: toConfirm, signIn }, id)
      }
      // before the change: it is sent once the change has happened, and lost by no crash
      if (mails && hash !== undefined) await mails.order({ kind: 'passwordChanged', lang, password: hash }, id)
      const { revision } = await write(account, {
        type: 'UpdateAccount',
        id,
        ...(body.email === undefined || toConfirm !== undefined ? {} : { email: claimedEmail(pepper, body.email) }),
        ...(hash === undefined ? {} : { password: hash }),
        ...(body.timezone === undefined ? {} : { timezone: body.timezone }),
      })
      // a link to reset the old password must not replace the new one
      if (hash !== undefined) await links.end(id)
      if (hash !== undefined) await sessions.keepWith(id, before, hash, session)
      return { message: toConfirm === undefined ? 'Account has been updated.' : emailSent, revision }
    },
  })

const reset = ({ mails, passwordSignIn }: AccountServices) =>
  endpoint(accountContract, 'POST /api/account/reset', {
    public: true,
    ownPagesOnly: true,
    body: z.object({ email }),
    run: async ({ body, from, lang }) => {
      requirePasswords({ passwordSignIn })
      if (!mails) return fail(404, 'not_found', { what: 'mail' })
      await mails.count(from)
      await mails.order({ kind: 'reset', lang, to: body.email })
      return { message: 'If this e-mail address belongs to an account, a link to set a new password was sent to it.' }
    },
  })

/** Returns when an erasure that begins now is carried out (ISO 8601). */
export const erasureDue = ({ delayDays }: AccountServices['erasure']) =>
  new Date(Date.now() + delayDays * day).toISOString()
/** Returns the answer to a request that has scheduled an erasure. */
export const scheduled = ({ erases }: Pick<Account, 'erases'>, due: string) => ({
  message: 'The account will be erased for good. Until then it works, and this can be cancelled.',
  erases: timestamp(erases ?? due),
})

const erase = ({ erasure, mails, stepUps }: AccountServices) =>
  endpoint(accountContract, 'POST /api/account/erase', {
    scope: 'account',
    person: true,
    body: z.object(given),
    run: async (call) => {
      const { account: id, body, lang, load, reader, write } = call
      if ((await teamsOwnedAlone(reader, id)).length > 0) refuse('lacks_rights', { what: 'last_owner' })
      if (hasMembers((await load(team, id)).state)) refuse('lacks_rights', { what: 'has_members' })
      await stepUps.require('erasure', call, body)
      const due = erasureDue(erasure)
      await mails?.order({ kind: 'erasure', lang, due }, id)
      const { state, revision } = await write(account, { type: 'ScheduleErasure', id, due })
      return { ...scheduled(state, due), revision }
    },
  })

const cancelErasure = endpoint(accountContract, 'DELETE /api/account/erase', {
  scope: 'account',
  person: true,
  run: async ({ account: id, write }) => {
    const { revision } = await write(account, { type: 'CancelErasure', id })
    return { message: 'The account will not be erased.', revision }
  },
})

export const accountRoutes = (services: AccountServices): readonly Route[] => [
  details,
  update(services),
  reset(services),
  erase(services),
  cancelErasure,
]
