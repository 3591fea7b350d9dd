import { z } from 'zod'
import type { EventOf } from '../event.ts'
import { openEnum } from '../openenum.ts'
import { Role } from './role.ts'

const id = z.int()
/** The number of a member within the account, which is never used again. The account's own sign-in is number 1. */
const member = z.int().min(1)
const role = openEnum(Role)
/** Ids of domains, 0 for the service's own host: all that the member may use. Missing: all of the account. */
const domains = z.array(z.int().min(0)).optional()

/** Who may act in an account besides its own sign-in. `id` is that of the account. */
export const teamEvents = {
  /** A team account was added: `person` is its first owner. */
  TeamStarted: z.object({ id, member, person: id }),
  /**
   * `addressHash`: the keyed hash of the e-mail address that the invitation was sent to; null: it was sent nowhere.
   * `by`: the member who invites; missing: the account's own sign-in.
   */
  MemberInvited: z.object({
    id,
    member,
    role,
    domains,
    addressHash: z.string().nullable(),
    expires: z.iso.datetime(),
    by: member.optional(),
  }),
  InvitationWithdrawn: z.object({ id, member }),
  /** `person`: the account that the member signs in to. */
  MemberJoined: z.object({ id, member, person: id, role, domains }),
  /** Both are as they are from then on. `by`: of an invitation, the member who has changed it, and now gives it. */
  MemberRoleChanged: z.object({ id, member, role, domains, by: member.optional() }),
  /**
   * What the groups of a person at the issuer give them. `managed`: `role` is that of a group, for all domains; else
   * none gives more than the role that they were given by hand, which they have again.
   */
  MemberRoleManaged: z.object({ id, member, person: id, role, domains, managed: z.boolean() }),
  /** `to`: the member whose their keys, and what they made, are from then on. */
  MemberRemoved: z.object({ id, member, to: member.optional() }),
}
export type TeamEvent = EventOf<typeof teamEvents>

/** The number of the account's own sign-in among its members. */
export const ownMember = 1
