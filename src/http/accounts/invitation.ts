import { createHmac } from 'node:crypto'
import { z } from 'zod'
import { account } from '../../commands/accounts/account.ts'
import { inviterOf, isInvited, personOf } from '../../commands/accounts/roster.ts'
import { type Sender, team } from '../../commands/accounts/team.ts'
import { isShut } from '../../commands/accounts/state.ts'
import { requireOwn } from '../../commands/caller.ts'
import { domain } from '../../commands/domains/domain.ts'
import { refuse } from '../../commands/decider.ts'
import type { Load } from '../../commands/load.ts'
import { Role } from '../../events/accounts/role.ts'
import { ownMember } from '../../events/accounts/team.ts'
import { must, orStop, says, text, ownEmail, timestamp } from '../../lib/fields.ts'
import type { OneTimeLinks } from '../../security/onetimelinks.ts'
import { fail, failField } from '../api/errors.ts'
import { endpoint, type Call, type Route } from '../api/route.ts'
import { requireOwnSignIn } from './joiner.ts'
import { oneTimeAddress } from './onetimeaddress.ts'
import { memberContract } from './contract/member.ts'
import type { StepUps } from './credentials.ts'
import type { IdentityServices } from './identity.ts'
import type { Mails } from './mails.ts'

/** Dependencies of the routes of invitations and members. */
export interface InvitationServices extends Pick<IdentityServices, 'groupRoles'> {
  readonly baseUrl: () => string
  readonly links: OneTimeLinks
  /** undefined without SMTP_URL */
  readonly mails: Mails | undefined
  /** 32 bytes for keyed hashes */
  readonly pepper: Buffer
  readonly stepUps: Pick<StepUps, 'require'>
}

/** seconds for which an invitation works */
export const invitationSeconds = 7 * 86_400

/** maximum number of domains of a member */
const mostDomains = 1000
const list = z.array(z.unknown().meta({ type: 'integer' }), must('wrong_type', { what: 'domain_ids' }))
const isId = (given: unknown): given is number => Number.isSafeInteger(given)
/** Ids of domains, 0 for the service's own host. A problem with one of them is reported on the list. */
export const domainIds = (most: number, of = list) =>
  of
    .max(most, orStop(says('too_many', { max: most })))
    .refine((given) => given.every(isId), says('wrong_type', { what: 'domain_ids' }))
    .transform((given): readonly number[] => given.filter(isId))
/** The same; null or not sent: all. */
export const domains = domainIds(mostDomains, list.min(1, orStop(says('too_few', { what: 'one' })))).nullish()

/** Returns the domains that a member is limited to. Throws `Refused` for a domain of another account. */
export const ownDomains = async (call: Pick<Call, 'account' | 'load'>, given: readonly number[] | null | undefined) => {
  for (const id of given ?? []) if (id !== 0) await requireOwn(call, domain, id)
  return given ?? undefined
}

export const role = z.enum(Role.options, says('not_one_of', { values: Role.options.join(', ') }))

/** Returns the member who sends a request. */
export const senderOf = ({ member, key }: Pick<Call, 'member' | 'key'>): Sender => ({
  member: member?.number ?? ownMember,
  key: key !== undefined,
})

/** Returns the invitation of a link while it can be accepted. */
export const findInvitation = async (
  { links, load }: { readonly links: OneTimeLinks; readonly load: Load },
  token: string,
) => {
  const link = await links.find('invitation', token)
  if (!link || link.account === null) return undefined
  const [{ state }, { state: owner }] = await Promise.all([load(team, link.account), load(account, link.account)])
  const invited = state.members[link.content.member]
  if (!invited || !isInvited(state, link.content.member, new Date().toISOString())) return undefined
  // an account with a pending erasure gets no new members: their work would be erased with it
  if (owner.status !== 'active' || owner.erases !== null) return undefined
  // a sender who may not sign in to their own account grants no roles, as in the requests of members
  const inviter = personOf(state, link.account, inviterOf(state, invited))
  if (inviter === undefined || isShut((await load(account, inviter)).state)) return undefined
  return {
    ...link.content,
    account: link.account,
    name: owner.username ?? '',
    role: invited.role,
    expires: invited.expires ?? '',
  }
}

const tokenOf = z.object({ token: text(64) })
const gone = () => refuse('not_found', { what: 'invitation' })

const invite = ({ baseUrl, links, mails, pepper, stepUps }: InvitationServices) =>
  endpoint(memberContract, 'POST /api/member/invite', {
    scope: 'account',
    secret: true,
    body: z.object({ email: ownEmail.optional(), role, domains }),
    run: async (call) => {
      const { account: id, body, lang, write } = call
      const { email } = body
      if (mails && email === undefined) return failField('email', 'required', {})
      await stepUps.require('members', call)
      await mails?.count(`account ${id}`)
      const expires = new Date(Date.now() + invitationSeconds * 1000).toISOString()
      const addressHash =
        email === undefined ? null : createHmac('sha256', pepper).update(`invitation ${email}`).digest('base64url')
      const limit = await ownDomains(call, body.domains)
      const made = { role: body.role, domains: limit, addressHash, expires }
      const command = { type: 'Invite', id, by: senderOf(call), ...made } as const
      const { state } = await write(team, command)
      const invited = { id: state.last, expires: timestamp(expires) }
      if (mails && email !== undefined) {
        await mails.order({ kind: 'invitation', lang, to: email, member: state.last }, id)
        return { ...invited, link: '' }
      }
      const content = { member: state.last, ...(email !== undefined && { email }) }
      const token = await links.issue('invitation', { account: id, content }, invitationSeconds)
      return { ...invited, link: oneTimeAddress(baseUrl(), 'invitation', token) }
    },
  })

const find = ({ links }: InvitationServices) =>
  endpoint(memberContract, 'POST /api/invitation', {
    scope: [],
    person: true,
    body: tokenOf,
    run: async ({ body, load, session }) => {
      if (session === undefined) return fail(400, 'not_dashboard', { what: 'session' })
      const { account: id, name, role: given, expires } = (await findInvitation({ links, load }, body.token)) ?? gone()
      return { data: { account: id, name, role: given, expires: timestamp(expires) } }
    },
  })

const accept = ({ links }: InvitationServices) =>
  endpoint(memberContract, 'POST /api/invitation/accept', {
    scope: [],
    person: true,
    body: tokenOf,
    run: async ({ account: person, body, load, onBehalfOf, session }) => {
      if (session === undefined) return fail(400, 'not_dashboard', { what: 'session' })
      const used = await links.use('invitation', body.token, async () => {
        const { account: id, member, role: given } = (await findInvitation({ links, load }, body.token)) ?? gone()
        await requireOwnSignIn(load, person)
        const joining = onBehalfOf({ account: id, session, person, member: { number: member, role: given } })
        await joining.write(team, { type: 'Join', id, member, person, now: new Date().toISOString() })
        const leave = { type: 'RemoveMember', id, member, by: undefined } as const
        await requireOwnSignIn(load, person, () => joining.write(team, leave))
        return { account: id, role: given }
      })
      return (used ?? gone()).result
    },
  })

export const invitationRoutes = (services: InvitationServices): readonly Route[] => [
  invite(services),
  find(services),
  accept(services),
]
