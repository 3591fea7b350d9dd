import { mayGive, type Role } from '../../events/accounts/role.ts'
import { ownMember, type TeamEvent } from '../../events/accounts/team.ts'
import type { Open } from '../../events/openenum.ts'

/** A role, and the domains that it is limited to; undefined: all. */
type Given = Pick<Member, 'role' | 'domains'>

/** A member of an account, or an invitation to become one: `expires` is when the invitation ends (ISO 8601). */
export interface Member {
  readonly role: Open<Role>
  /** the account that signs in; null: invited */
  readonly person: number | null
  readonly expires: string | null
  /** ids of the domains that they may use, 0 for the service's own host; undefined: all */
  readonly domains?: readonly number[] | undefined
  /** the member who sent the invitation, while it is open; undefined: the account's own sign-in */
  readonly by?: number | undefined
  /** of a member whose role the issuer manages: the role that they were given by hand; null: none */
  readonly given?: Given | null
}
/** The members of an account besides its own sign-in, by their numbers. */
export interface Team {
  readonly members: Readonly<Record<string, Member>>
  /** the members who took over the keys of removed ones, and of the account's own sign-in when it ended */
  readonly heirs: Readonly<Record<string, number>>
  /** the persons of former members, by their numbers */
  readonly former: Readonly<Record<string, number>>
  readonly last: number
  /** whether the account has no sign-in of its own: one of the members stays its owner */
  readonly isTeam?: true
}

/** Returns the role of a member, or undefined when there is no such member. */
export const roleOf = ({ members, isTeam }: Team, member: number): Open<Role> | undefined => {
  if (member === ownMember) return isTeam ? undefined : 'owner'
  const found = members[member]
  return found?.person === null ? undefined : found?.role
}
/** Returns the member who now has the keys that a member created. */
export const heirOf = ({ heirs }: Pick<Team, 'heirs'>, member: number): number => {
  let heir = member
  // an heir is a member at that moment, so the chain ends
  for (let next = heirs[heir]; next !== undefined; next = heirs[heir]) heir = next
  return heir
}

/**
 * Returns the person of a current or former member, by the number of their own account. A person who leaves and joins
 * again has another number.
 */
export const personOf = (state: Team, id: number, member: number): number | undefined => {
  const { members, former, heirs, isTeam } = state
  if (member !== ownMember) return members[member]?.person ?? former[member]
  if (!isTeam) return id
  return heirs[ownMember] === undefined ? undefined : personOf(state, id, heirs[ownMember])
}

/** Whether an account has members. An invitation does not count. */
export const hasMembers = ({ members }: Pick<Team, 'members'>): boolean =>
  Object.values(members).some(({ person }) => person !== null)

/** Returns the member that a person is in an account, by the number of the person's own account. */
export const memberOf = ({ members }: Team, id: number, person: number) => {
  if (person === id) return { number: ownMember, role: 'owner' as Open<Role>, domains: undefined }
  const found = Object.entries(members).find(([, one]) => one.person === person)
  return found && { number: Number(found[0]), role: found[1].role, domains: found[1].domains }
}

/** Whether a member is the only owner of a team account. */
export const isLastOwner = (state: Team, member: number): boolean =>
  state.isTeam === true &&
  roleOf(state, member) === 'owner' &&
  !Object.keys(state.members).some((other) => Number(other) !== member && roleOf(state, Number(other)) === 'owner')
const withMember = ({ members, last, ...others }: Team, number: number, member: Member): Team => ({
  ...others,
  members: { ...members, [number]: member },
  last: Math.max(last, number),
})

const limit = ({ domains }: Pick<Member, 'domains'>) => (domains === undefined ? {} : { domains })

/** Returns the member who gives an invitation. Invitations of the account's own sign-in pass to its heir. */
export const inviterOf = ({ heirs }: Pick<Team, 'heirs'>, { by }: Pick<Member, 'by'>): number =>
  by ?? heirs[ownMember] ?? ownMember

/** Whether an invitation can be accepted: its sender may still give its role. `now` is ISO 8601. */
export const isInvited = (state: Team, member: number, now: string): boolean => {
  const found = state.members[member]
  if (found?.person !== null || (found.expires ?? '') <= now) return false
  const inviter = roleOf(state, inviterOf(state, found))
  return inviter !== undefined && mayGive(inviter, found.role)
}

/** Returns the state after an event. */
export const evolveTeam = (state: Team, { type, data }: TeamEvent): Team => {
  const { member } = data
  switch (type) {
    case 'TeamStarted': {
      const heirs = state.members[member] ? { ...state.heirs, [ownMember]: member } : state.heirs
      const owner = { role: 'owner', person: data.person, expires: null } as const
      return withMember({ ...state, heirs, isTeam: true }, member, owner)
    }
    case 'MemberInvited':
      return withMember(state, member, {
        ...limit(data),
        role: data.role,
        person: null,
        expires: data.expires,
        ...(data.by !== undefined && { by: data.by }),
      })
    case 'MemberJoined':
      return withMember(state, member, { ...limit(data), role: data.role, person: data.person, expires: null })
    case 'MemberRoleChanged': {
      const before = state.members[member]
      if (!before) return state
      const { person, expires } = before
      const by = data.by ?? before.by
      const sender = person === null && by !== undefined && by !== ownMember ? { by } : {}
      return withMember(state, member, { ...limit(data), role: data.role, person, expires, ...sender })
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
      const { [member]: before, ...members } = state.members
      const to = type === 'MemberRemoved' ? data.to : undefined
      const former = before?.person == null ? state.former : { ...state.former, [member]: before.person }
      return { ...state, members, former, heirs: to === undefined ? state.heirs : { ...state.heirs, [member]: to } }
    }
  }
}
