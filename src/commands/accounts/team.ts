import { higherRole, type Role, mayGive, rightsOfRoles } from '../../events/accounts/role.ts'
import { ownMember, type TeamEvent } from '../../events/accounts/team.ts'
import type { Open } from '../../events/openenum.ts'
import { evolveTeam, heirOf, isInvited, isLastOwner, type Member, memberOf, roleOf, type Team } from './roster.ts'
import { type CommandOf, decideBy, type Decider, refuse } from '../decider.ts'

/** members and open invitations of an account */
export const mostMembers = 10_000

/** The member who sends a command about members, by a key or a session. A key may do less than an owner. */
export interface Sender {
  readonly member: number
  readonly key: boolean
}

/** `by` undefined: an operator. `now` is ISO 8601. Removing an invited member withdraws the invitation. */
export type TeamCommand =
  | { readonly type: 'Start'; readonly id: number; readonly person: number }
  /** The account's own sign-in ends, and a member who is an owner takes its place. */
  | { readonly type: 'HandOver'; readonly id: number; readonly member: number }
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
      readonly by: Sender | undefined
      readonly gone?: boolean
    }
  /**
   * `role`: the highest that the groups of a person give; null: none. `isLast`: no other owner of the team account can
   * act.
   */
  | {
      readonly type: 'ManageRole'
      readonly id: number
      readonly person: number
      readonly role: Role | null
      readonly isLast: boolean
    }
  | {
      readonly type: 'RemoveMember'
      readonly id: number
      readonly member: number
      readonly by: Sender | undefined
      /** the member who gets their keys and their work */
      readonly to?: number | undefined
      /** whether the issuer would not bring them back: their groups give them no role any more */
      readonly gone?: boolean
    }

type Decision<T> = (command: CommandOf<TeamCommand, T>, state: Team) => readonly TeamEvent[]

/**
 * Throws `Refused` unless a member may give or take each of the roles: the member may lose a role while a request
 * waits.
 */
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

const requireOtherOwner = (state: Team, member: number, isLast = false) => {
  if (isLast || isLastOwner(state, member)) refuse('lacks_rights', { what: 'last_owner' })
}

/** Returns the field of an event that limits a member to domains. An owner or admin is limited to none. */
const limitedTo = (role: Role, domains: readonly number[] | undefined) => {
  if (domains === undefined) return {}
  if (rightsOfRoles[role].some((right) => right === 'account'))
    refuse('lacks_rights', { what: 'unlimited', field: 'domains' })
  return { domains: [...new Set(domains)].toSorted((a, b) => a - b) }
}

const start: Decision<'Start'> = ({ id, person }, { last }) =>
  last === ownMember ? [{ type: 'TeamStarted', data: { id, member: last + 1, person } }] : []

/** The first heir stays as long as they are an owner: the keys must not go to another member. */
const handOver: Decision<'HandOver'> = ({ id, member }, state) => {
  const heir = heirOf(state, ownMember)
  if (state.isTeam && heir === ownMember) refuse('lacks_rights', { what: 'no_sign_in' })
  if (state.isTeam && heir === member) return []
  if (state.isTeam && roleOf(state, heir) === 'owner') refuse('stale', { what: 'handover', member: heir })
  const { person } = found(state, member)
  if (person === null || roleOf(state, member) !== 'owner') return refuse('lacks_rights', { what: 'no_owner' })
  return [{ type: 'TeamStarted', data: { id, member, person } }]
}

const invite: Decision<'Invite'> = ({ id, by, role, domains, addressHash, expires }, state) => {
  requireMayGive(state, by, role)
  if (Object.keys(state.members).length >= mostMembers) refuse('too_many', { what: 'members', max: mostMembers })
  const sender = by.member === ownMember ? {} : { by: by.member }
  const data = { id, member: state.last + 1, role, ...limitedTo(role, domains), addressHash, expires, ...sender }
  return [{ type: 'MemberInvited', data }]
}

const join: Decision<'Join'> = ({ id, member, person, now }, state) => {
  const invited = state.members[member]
  // the same person again: a retry of this command, or a second click
  if (invited?.person === person) return []
  if (!invited || !isInvited(state, member, now)) return refuse('not_found', { what: 'invitation' })
  if (memberOf(state, id, person)) refuse('taken', { what: 'member' })
  const { role, domains } = invited
  return [{ type: 'MemberJoined', data: { id, member, person, role, ...(domains && { domains: [...domains] }) } }]
}

const requireGiven = ({ given }: Member) => {
  if (given !== undefined) refuse('lacks_rights', { what: 'managed' })
}

const changeRole: Decision<'ChangeRole'> = ({ id, member, role, domains, by, gone }, state) => {
  const before = found(state, member)
  if (by !== undefined) {
    requireMayGive(state, by, before.role, role)
    if (!gone) requireGiven(before)
  }
  const limit = limitedTo(role, domains)
  if (role !== 'owner') requireOtherOwner(state, member)
  const isSame =
    !(gone && before.given !== undefined) && before.role === role && before.domains?.join() === limit.domains?.join()
  const sender = before.person === null && by ? { by: by.member } : {}
  return isSame ? [] : [{ type: 'MemberRoleChanged', data: { id, member, role, ...limit, ...sender } }]
}

/** The account's own sign-in stays its owner, regardless of its groups. */
const manageRole: Decision<'ManageRole'> = ({ id, person, role, isLast }, state) => {
  const known = memberOf(state, id, person)
  if (known?.number === ownMember) return []
  const before = known && state.members[known.number]
  const isManaged = before?.given !== undefined
  const given = (isManaged ? before.given : before) ?? undefined
  const next = role === null ? given?.role : higherRole(given?.role, role)
  const managed = role !== null && next !== given?.role
  if (next === before?.role && managed === isManaged) return []
  if (known && next !== 'owner') requireOtherOwner(state, known.number, isLast)
  if (next === undefined) return known ? [{ type: 'MemberRemoved', data: { id, member: known.number } }] : []
  if (!known && Object.keys(state.members).length >= mostMembers)
    refuse('too_many', { what: 'members', max: mostMembers })
  const member = known?.number ?? state.last + 1
  const limit = !managed && given?.domains ? { domains: [...given.domains] } : {}
  return [{ type: 'MemberRoleManaged', data: { id, member, person, role: next, ...limit, managed } }]
}

/** Every member may leave, except one whom the issuer would bring back. */
const remove: Decision<'RemoveMember'> = ({ id, member, by, to, gone }, state) => {
  const { role, person } = found(state, member)
  if (by !== undefined && by.member !== member) requireMayGive(state, by, role)
  if (by !== undefined && !gone) requireGiven(found(state, member))
  requireOtherOwner(state, member)
  if (person === null) return [{ type: 'InvitationWithdrawn', data: { id, member } }]
  if (to !== undefined && (to === member || roleOf(state, to) === undefined)) refuse('not_found', { what: 'member' })
  return [{ type: 'MemberRemoved', data: { id, member, ...(to !== undefined && { to }) } }]
}

/** Decides which persons may act in an account. Its own sign-in, or else one of the members, stays its owner. */
export const team: Decider<TeamCommand, Team, TeamEvent> = {
  kind: 'team',
  version: 4,
  id: ({ id }) => id,
  initialState: { members: {}, heirs: {}, former: {}, last: ownMember },
  decide: decideBy<TeamCommand, Team, TeamEvent>({
    Start: start,
    HandOver: handOver,
    Invite: invite,
    Join: join,
    ChangeRole: changeRole,
    ManageRole: manageRole,
    RemoveMember: remove,
  }),
  evolve: evolveTeam,
}
