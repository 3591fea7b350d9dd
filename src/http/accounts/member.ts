import { z } from 'zod'
import { account } from '../../commands/accounts/account.ts'
import { isShut } from '../../commands/accounts/state.ts'
import { memberOf } from '../../commands/accounts/roster.ts'
import { team } from '../../commands/accounts/team.ts'
import type { Caller } from '../../commands/caller.ts'
import { refuse } from '../../commands/decider.ts'
import { ownMember } from '../../events/accounts/team.ts'
import { timestamp } from '../../lib/fields.ts'
import { findAccount } from '../../queries/accounts/account.ts'
import { findMember, type ListedMember, listMemberships, listMembers } from '../../queries/accounts/member.ts'
import { teamsOwnedAlone } from '../../queries/accounts/owner.ts'
import { fail } from '../api/errors.ts'
import { byId, filterId } from '../api/fields.ts'
import { list, listQuery } from '../api/list/list.ts'
import { deletedForGood } from '../api/owned.ts'
import { endpoint, type Reading, type Route } from '../api/route.ts'
import { memberContract, members } from './contract/member.ts'
import { domains, type InvitationServices, ownDomains, role, senderOf } from './invitation.ts'

const present = (
  { number, name, email, role: held, domains: limit, status, joined, expires, used, managed }: ListedMember,
  invited: ReadonlyMap<number, string>,
  current: number | undefined,
) => ({
  id: number,
  name: name ?? '',
  email: email ?? invited.get(number) ?? '',
  role: held,
  domains: limit === null ? null : [...limit],
  status: status === 'invited' && expires !== null && expires <= new Date() ? ('expired' as const) : status,
  date: timestamp(joined),
  expires: expires ? timestamp(expires) : '',
  lastactive: used ? timestamp(used) : '',
  managed,
  current: number === current,
})

const ownList = ({ links }: InvitationServices) =>
  endpoint(memberContract, 'GET /api/members', {
    scope: ['account', 'audit'],
    query: listQuery(members),
    run: async (call) => {
      const invitations = await links.invitations(call.account)
      const invited = new Map(
        invitations.flatMap(({ member, email }) => (email === undefined ? [] : [[member, email]])),
      )
      const current = call.session === undefined ? undefined : (call.member?.number ?? ownMember)
      return list(
        members,
        call,
        (request) => listMembers(call.reader, call.account, request),
        (row) => present(row, invited, current),
      )
    },
  })

const single = endpoint(memberContract, 'GET /api/member/:id', {
  scope: 'read',
  params: byId,
  run: async ({ account: id, params, reader }) => {
    const {
      number,
      name,
      role: held,
      status,
      joined,
    } = (await findMember(reader, id, params.id)) ?? refuse('not_found', { what: 'member' })
    const state = status === 'active' ? ('active' as const) : ('former' as const)
    return { details: { id: number, name: name ?? '', role: held, status: state, date: timestamp(joined) } }
  },
})

/** The `owner` check of a route whose path has the number of a member or of an invited person. */
const knownMember = async ({
  account,
  load,
  params,
}: Pick<Caller, 'account' | 'load'> & { readonly params: { id: number } }) => {
  const { members: all } = (await load(team, account)).state
  if (params.id !== ownMember && all[params.id] === undefined) refuse('not_found', { what: 'member' })
}

/** Fails when a team account would have no owner left who can act. */
const requireOwnerLeft = async ({ load, reader }: Pick<Reading, 'load' | 'reader'>, id: number, member: number) => {
  const { isTeam, members: all } = (await load(team, id)).state
  const { role: held, person = null } = all[member] ?? {}
  if (!isTeam || held !== 'owner' || person === null) return
  if ((await teamsOwnedAlone(reader, person)).includes(id)) refuse('lacks_rights', { what: 'last_owner' })
}

/** Whether the issuer no longer grants a person a role in an account, so that it would not bring them back. */
const isGone = async (
  { groupRoles }: Pick<InvitationServices, 'groupRoles'>,
  { load }: Pick<Reading, 'load'>,
  person: number | null,
  id: number,
) => {
  if (person === null) return false
  if ((await load(account, person)).state.identities.length === 0) return true
  return groupRoles !== undefined && !(await groupRoles.gives(person, id))
}

const update = ({ groupRoles, stepUps }: InvitationServices) =>
  endpoint(memberContract, 'PUT /api/member/:id/update', {
    scope: 'account',
    params: byId,
    owner: knownMember,
    body: z.object({ role, domains }),
    run: async (call) => {
      const { account: id, body, params, write } = call
      await stepUps.require('members', call)
      if (params.id === ownMember) refuse('lacks_rights', { what: 'first_owner' })
      const limit = await ownDomains(call, body.domains)
      const given = { role: body.role, domains: limit }
      if (body.role !== 'owner') await requireOwnerLeft(call, id, params.id)
      const { person = null } = (await call.load(team, id)).state.members[params.id] ?? {}
      const gone = await isGone({ groupRoles }, call, person, id)
      await write(team, { type: 'ChangeRole', id, member: params.id, ...given, by: senderOf(call), gone })
      return { message: 'The role has been changed.' }
    },
  })

const keysWorkAgain =
  'Their access had ended: their API keys work again, with the rights of the member who has them now. Replace each of them.'

const remove = ({ groupRoles, links, stepUps }: InvitationServices) =>
  endpoint(memberContract, 'DELETE /api/member/:id/delete', {
    scope: 'account',
    params: byId,
    query: z.object({ to: filterId }),
    run: async (call) => {
      const { account: id, load, params, query, write } = call
      if (params.id === ownMember) refuse('lacks_rights', { what: 'first_owner' })
      const { person = null } = (await load(team, id)).state.members[params.id] ?? {}
      const own = person === null ? undefined : (await load(account, person)).state
      const gone = await isGone({ groupRoles }, call, person, id)
      // the new holder of the keys may have more rights than their creator had
      if (query.to !== undefined) await stepUps.require('members', call)
      await requireOwnerLeft(call, id, params.id)
      await write(team, { type: 'RemoveMember', id, member: params.id, by: senderOf(call), to: query.to, gone })
      await links.endInvitation(id, params.id)
      const deleted = deletedForGood('Member', 'invite them again')
      // a removed member who may not sign in to their own account may still know the keys, which work again
      const isWarned = query.to !== undefined && own !== undefined && isShut(own)
      return isWarned ? { ...deleted, message: `${deleted.message} ${keysWorkAgain}` } : deleted
    },
  })

const leave = ({ groupRoles }: InvitationServices) =>
  endpoint(memberContract, 'DELETE /api/membership/:id/delete', {
    scope: [],
    person: true,
    params: byId,
    run: async ({ account: person, load, onBehalfOf, params: { id }, reader, session }) => {
      if (session === undefined) return fail(400, 'not_dashboard', { what: 'session' })
      const { number, role: held } =
        memberOf((await load(team, id)).state, id, person) ?? refuse('not_found', { what: 'account' })
      if (number === ownMember) refuse('lacks_rights', { what: 'first_owner' })
      await requireOwnerLeft({ load, reader }, id, number)
      const leaving = onBehalfOf({ account: id, session, person, member: { number, role: held } })
      await leaving.write(team, {
        type: 'RemoveMember',
        id,
        member: number,
        by: { member: number, key: false },
        gone: await isGone({ groupRoles }, { load }, person, id),
      })
      return deletedForGood('Membership', 'ask for a new invitation')
    },
  })

const until = (one: { readonly erases: Date | null } | undefined) => (one?.erases ? timestamp(one.erases) : '')

const memberships = endpoint(memberContract, 'GET /api/memberships', {
  scope: [],
  person: true,
  nowOnly: 'sessions',
  run: async ({ account: id, reader, session }) => {
    const others = session === undefined ? [] : await listMemberships(reader, id)
    const own = await findAccount(reader, id)
    return {
      data: {
        memberships: [
          {
            account: id,
            name: own?.username ?? '',
            role: 'owner' as const,
            own: true,
            team: false,
            erases: until(own),
          },
          ...others.map((one) => ({ ...one, own: false, erases: until(one) })),
        ],
      },
    }
  },
})

export const memberRoutes = (services: InvitationServices): readonly Route[] => [
  ownList(services),
  single,
  update(services),
  remove(services),
  leave(services),
  memberships,
]
