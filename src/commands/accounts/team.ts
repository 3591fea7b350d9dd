import { higherRole, type Role, mayGive, rightsOfRoles } from '../../events/accounts/role.ts'
import { ownMember, type TeamEvent } from '../../events/accounts/team.ts'
import type { Open } from '../../events/openenum.ts'
import { type CommandOf, decideBy, type Decider, refuse } from '../decider.ts'

/** A role, and the domains that it is for; undefined: all. */
type Given = Pick<Member, 'role' | 'domains'>

/** A member of an account, or somebody who is invited: `expires` is when an invitation ends (ISO 8601). */
export interface Member {
  readonly role: Open<Role>
  /** the account that signs in; null: invited */
  readonly person: number | null
  readonly expires: string | null
  /** ids of the domains that they may use, 0 for the service's own host; undefined: all */
  readonly domains?: readonly number[] | undefined
  /** of a member whose role the issuer manages: what they were given by hand; null: nothing */
  readonly given?: Given | null
}
/** The members of an account besides its own sign-in, by their numbers. */
export interface Team {
  readonly members: Readonly<Record<string, Member>>
  /** to whom the keys of members went when they were removed, by their numbers */
  readonly heirs: Readonly<Record<string, number>>
  readonly last: number
}

/** members and open invitations of an account */
export const mostMembers = 10_000

/** Who sends a command about members: one of them, by a key or not. What a key gives is less than an owner's. */
export interface Sender {
  readonly member: number
  readonly key: boolean
}

/** `by` undefined: an operator. `now` is ISO 8601. To remove somebody who is invited takes the invitation back. */
export type TeamCommand =
  | {
      readonly type: 'Invite'
      readonly id: number
      readonly by: Sender
      readonly role: Role
      readonly domains?: readonly number[] | undefined
      readonly addressHash: string | null
      readonly expires: string
    }
  | {
      readonly type: 'Join'
      readonly id: number
      readonly member: number
      readonly person: number
      readonly now: string
    }
  | {
      readonly type: 'ChangeRole'
      readonly id: number
      readonly member: number
      readonly role: Role
      readonly domains?: readonly number[] | undefined
      readonly by: Sender
    }
  /** `role`: the highest that the groups of a person give; null: none */
  | { readonly type: 'ManageRole'; readonly id: number; readonly person: number; readonly role: Role | null }
  | {
      readonly type: 'RemoveMember'
      readonly id: number
      readonly member: number
      readonly by: Sender | undefined
      /** who gets their keys, and what they made */
      readonly to?: number | undefined
    }

type Decision<T> = (command: CommandOf<TeamCommand, T>, state: Team) => readonly TeamEvent[]

/** Returns the role of a member, undefined for one that is none. */
export const roleOf = ({ members }: Team, member: number): Open<Role> | undefined => {
  if (member === ownMember) return 'owner'
  const found = members[member]
  return found?.person === null ? undefined : found?.role
}
/** Returns the member whose a key is that a member has made. */
export const heirOf = ({ heirs }: Pick<Team, 'heirs'>, member: number): number => {
  let heir = member
  // an heir is a member when they become one, so that the chain ends
  for (let next = heirs[heir]; next !== undefined; next = heirs[heir]) heir = next
  return heir
}

/** Whether an account has members: an invitation is none yet. */
export const hasMembers = ({ members }: Pick<Team, 'members'>): boolean =>
  Object.values(members).some(({ person }) => person !== null)

/** Returns the member of an account that a person is, by the number of that person's own account. */
export const memberOf = ({ members }: Team, id: number, person: number) => {
  if (person === id) return { number: ownMember, role: 'owner' as Open<Role>, domains: undefined }
  const found = Object.entries(members).find(([, one]) => one.person === person)
  return found && { number: Number(found[0]), role: found[1].role, domains: found[1].domains }
}

/** Throws `Refused` unless a member may give or take each of some roles: a role may be lost while a request waits. */
const requireMayGive = (state: Team, by: Sender, ...roles: readonly Open<Role>[]) => {
  const held = roleOf(state, by.member)
  const own = held === 'owner' && by.key ? 'admin' : held
  if (own === undefined || !roles.every((role) => mayGive(own, role)))
    refuse('lacks_rights', { what: own === 'admin' ? 'owners' : 'role', role: own ?? '-' })
}

const found = ({ members }: Team, member: number): Member => {
  const one = members[member]
  return one ?? refuse('not_found', { what: 'member' })
}

/** Returns the field of an event that limits a member to domains. An owner or admin is limited to none. */
const limitedTo = (role: Role, domains: readonly number[] | undefined) => {
  if (domains === undefined) return {}
  if (rightsOfRoles[role].some((right) => right === 'account'))
    refuse('lacks_rights', { what: 'unlimited', field: 'domains' })
  return { domains: [...new Set(domains)].toSorted((a, b) => a - b) }
}

const invite: Decision<'Invite'> = ({ id, by, role, domains, addressHash, expires }, state) => {
  requireMayGive(state, by, role)
  if (Object.keys(state.members).length >= mostMembers) refuse('too_many', { what: 'members', max: mostMembers })
  return [
    {
      type: 'MemberInvited',
      data: { id, member: state.last + 1, role, ...limitedTo(role, domains), addressHash, expires },
    },
  ]
}

const join: Decision<'Join'> = ({ id, member, person, now }, state) => {
  const invited = state.members[member]
  // the same person again: an earlier attempt of this command, or a second click
  if (invited?.person === person) return []
  if (!invited || invited.person !== null || (invited.expires ?? '') <= now)
    return refuse('not_found', { what: 'invitation' })
  if (memberOf(state, id, person)) refuse('taken', { what: 'member' })
  const { role, domains } = invited
  return [{ type: 'MemberJoined', data: { id, member, person, role, ...(domains && { domains: [...domains] }) } }]
}

const requireGiven = ({ given }: Member) => {
  if (given !== undefined) refuse('lacks_rights', { what: 'managed' })
}

const changeRole: Decision<'ChangeRole'> = ({ id, member, role, domains, by }, state) => {
  const before = found(state, member)
  requireMayGive(state, by, before.role, role)
  requireGiven(before)
  const limit = limitedTo(role, domains)
  const isSame = before.role === role && before.domains?.join() === limit.domains?.join()
  return isSame ? [] : [{ type: 'MemberRoleChanged', data: { id, member, role, ...limit } }]
}

/** The account's own sign-in stays its owner, whatever its groups are. */
const manageRole: Decision<'ManageRole'> = ({ id, person, role }, state) => {
  const known = memberOf(state, id, person)
  if (known?.number === ownMember) return []
  const before = known && state.members[known.number]
  const isManaged = before?.given !== undefined
  const given = (isManaged ? before.given : before) ?? undefined
  const next = role === null ? given?.role : higherRole(given?.role, role)
  const managed = role !== null && next !== given?.role
  if (next === before?.role && managed === isManaged) return []
  if (next === undefined) return known ? [{ type: 'MemberRemoved', data: { id, member: known.number } }] : []
  if (!known && Object.keys(state.members).length >= mostMembers)
    refuse('too_many', { what: 'members', max: mostMembers })
  const member = known?.number ?? state.last + 1
  const limit = !managed && given?.domains ? { domains: [...given.domains] } : {}
  return [{ type: 'MemberRoleManaged', data: { id, member, person, role: next, ...limit, managed } }]
}

/** Everybody may leave, but whom the issuer would bring back. */
const remove: Decision<'RemoveMember'> = ({ id, member, by, to }, state) => {
  const { role, person } = found(state, member)
  if (by !== undefined && by.member !== member) requireMayGive(state, by, role)
  if (by !== undefined) requireGiven(found(state, member))
  if (person === null) return [{ type: 'InvitationWithdrawn', data: { id, member } }]
  if (to !== undefined && (to === member || roleOf(state, to) === undefined)) refuse('not_found', { what: 'member' })
  return [{ type: 'MemberRemoved', data: { id, member, ...(to !== undefined && { to }) } }]
}

const withMember = ({ members, last, heirs }: Team, number: number, member: Member): Team => ({
  heirs,
  members: { ...members, [number]: member },
  last: Math.max(last, number),
})

const limit = ({ domains }: Pick<Member, 'domains'>) => (domains === undefined ? {} : { domains })

/** Decides on who may act in an account. Its own sign-in stays its owner, so that there is always one. */
export const team: Decider<TeamCommand, Team, TeamEvent> = {
  kind: 'team',
  version: 2,
  id: ({ id }) => id,
  initialState: { members: {}, heirs: {}, last: ownMember },
  decide: decideBy<TeamCommand, Team, TeamEvent>({
    Invite: invite,
    Join: join,
    ChangeRole: changeRole,
    ManageRole: manageRole,
    RemoveMember: remove,
  }),
  evolve: (state, { type, data }) => {
    const { member } = data
    switch (type) {
      case 'MemberInvited':
        return withMember(state, member, { ...limit(data), role: data.role, person: null, expires: data.expires })
      case 'MemberJoined':
        return withMember(state, member, { ...limit(data), role: data.role, person: data.person, expires: null })
      case 'MemberRoleChanged': {
        const before = state.members[member]
        if (!before) return state
        const { person, expires } = before
        return withMember(state, member, { ...limit(data), role: data.role, person, expires })
      }
      case 'MemberRoleManaged': {
        const { person, role, managed } = data
        const before = state.members[member]
        const own = before && { ...limit(before), role: before.role }
        const given = before?.given === undefined ? (own ?? null) : before.given
        return withMember(state, member, { ...limit(data), role, person, expires: null, ...(managed && { given }) })
      }
      case 'InvitationWithdrawn':
      case 'MemberRemoved': {
        const { [member]: _, ...members } = state.members
        const to = type === 'MemberRemoved' ? data.to : undefined
        return { ...state, members, heirs: to === undefined ? state.heirs : { ...state.heirs, [member]: to } }
      }
    }
  },
}
