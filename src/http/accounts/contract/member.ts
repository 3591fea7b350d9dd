import { z } from 'zod'
import { Role } from '../../../events/accounts/role.ts'
import {
  type Answer,
  type AnswerOf,
  type Whole,
  deletedForGood,
  done,
  id,
  listOf,
  pageFields,
  stored,
  type Contract,
  success,
  text,
  time,
} from '../../api/contract.ts'

const timeOrNone = z.union([time, z.literal('')])
const role = stored(Role).describe('what they may do: see the table of roles in docs/members.md')
const row = z.object({
  id: z
    .int()
    .describe('within the account; the one whose sign-in the account has is 1')
    .meta({ examples: [2] }),
  name: text.describe('the username; empty while invited').meta({ examples: ['ann'] }),
  email: text.describe('empty for an invitation that was not mailed').meta({ examples: ['ann@example.com'] }),
  role,
  domains: z
    .array(z.int())
    .nullable()
    .describe('ids of the domains that they may use, 0 for the service’s own host; null: all')
    .meta({ examples: [[3]] }),
  status: z.enum(['active', 'invited', 'expired']),
  date: time.describe('since when'),
  expires: timeOrNone.describe('when the invitation ends; empty for a member'),
  lastactive: timeOrNone.describe(
    'when they last used the dashboard, to about a minute; empty: not since their sessions ended',
  ),
  managed: z
    .boolean()
    .describe('whether the issuer manages the role by their groups (`OIDC_ROLES`): it is changed there alone'),
  current: z.boolean().describe('whether they have sent this request'),
})
export type Member = Answer<typeof row>

export const members = listOf('Member', 'members', row)
export type MemberList = Whole<typeof members>

const membership = z.object({
  account: id,
  name: text.describe('the username of the account').meta({ examples: ['acme'] }),
  role,
  own: z.boolean().describe('whether it is the account that they sign in to'),
  team: z.boolean().describe('whether it is a team account, which has no sign-in of its own'),
  erases: timeOrNone.describe('when it is erased; empty: it is not'),
})
export type Membership = Answer<typeof membership>

const roles = `one of ${Role.options.map((one) => `\`${one}\``).join(', ')}`

const limitField =
  'ids of the domains that are all they may use, 0 for the service’s own host; null or not sent: all. Owners and admins have all'

export const memberContract = {
  'GET /api/members': {
    summary: 'List the members of the account, and who is invited',
    description: 'For owners, admins and auditors.',
    fields: { ...pageFields, q: 'part of the name or the e-mail address, in any letter case' },
    ...members,
  },
  'GET /api/member/:id': {
    summary: 'Show a member of the account',
    description:
      'Also one who has left. `made_by` of lists and statistics, and `member` of histories, take the same id.',
    answer: success({
      details: z.object({
        id: row.shape.id,
        name: text.describe('the username; empty once their own account is erased').meta({ examples: ['ann'] }),
        role: role.describe('what they may do; of a former member, what they might'),
        status: z.enum(['active', 'former']),
        date: row.shape.date,
      }),
    }),
  },
  'POST /api/member/invite': {
    summary: 'Invite a person to the account',
    description:
      'They become a member once they accept, with the account that they have or one that they create by the link, also where registration is closed. The link works once, and for seven days. Where the service sends mail, it goes to `email`, which is required then; otherwise it is in the answer, once.',
    fields: {
      email: 'where the invitation is sent to',
      role: `what they may do: ${roles}. Only an owner who is signed in gives \`owner\``,
      domains: limitField,
    },
    example: { email: 'ben@example.com', role: 'editor' },
    answer: success({
      id: z.int().meta({ examples: [2] }),
      link: text
        .describe('shown only once; empty when it was sent by mail')
        .meta({ examples: ['https://go.example.com/account/invitation?t=…'] }),
      expires: time,
    }),
  },
  'PUT /api/member/:id/update': {
    summary: 'Change the role of a member',
    description: 'It counts at once, also for their API keys. That of the sign-in of the account stays `owner`.',
    fields: { role: roles, domains: limitField },
    example: { role: 'analyst' },
    answer: done,
  },
  'DELETE /api/member/:id/delete': {
    summary: 'Remove a member, or take an invitation back',
    description:
      'They may do nothing in the account from then on, and neither may their API keys, unless another member gets these. What they made stays.',
    fields: {
      to: 'the id of the member who gets their keys, and what they made. A session then needs its password again',
    },
    answer: deletedForGood,
  },
  'DELETE /api/membership/:id/delete': {
    summary: 'Leave an account',
    description: 'For sessions of the dashboard. `id` is the account.',
    answer: deletedForGood,
  },
  'POST /api/account/add': {
    summary: 'Add a team account',
    description:
      'For sessions of the dashboard. A team account has no sign-in of its own. The person who adds it is its first owner, others become members, and one member stays owner.',
    fields: { name: '3 to 32 lower-case letters, digits, hyphens and underscores, with at least one letter' },
    example: { name: 'acme-print' },
    answer: success({ id, message: text }),
  },
  'POST /api/account/handover': {
    summary: 'Make the account a team account',
    description:
      'For sessions of the dashboard. The own sign-in of the account ends: its e-mail address, password, second factor, identities and passkeys are free for another account. A member who is an owner takes its place, and gets the API keys that it had made. Everything else stays.',
    fields: { member: 'the id of the member' },
    example: { member: 2, current_password: 'correct horse battery staple' },
    failures: { 409: { description: 'An earlier request has named another member, which this one has to name, too.' } },
    answer: done,
  },
  'POST /api/membership/:id/erase': {
    summary: 'Erase a team account',
    description:
      'For an owner who is signed in, after the other members are removed. It is erased for good after the days that the operator has set (`ERASURE_DELAY_DAYS`).',
    example: { current_password: 'correct horse battery staple' },
    answer: success({ message: text, erases: time }),
  },
  'DELETE /api/membership/:id/erase': {
    summary: 'Cancel the erasure of a team account',
    description: 'For an owner who is signed in, until the account is erased.',
    answer: done,
  },
  'GET /api/memberships': {
    summary: 'List the accounts in which the caller may act',
    description:
      'A session acts in the account that the header `Linkledger-Account` names, or the query `account` of a GET; without either, in its own. A key acts in the account that it was made in.',
    answer: success({ data: z.object({ memberships: z.array(membership) }) }),
  },
  'POST /api/invitation': {
    summary: 'Say what an invitation is to',
    description: 'For sessions of the dashboard. It stays usable.',
    fields: { token: 'that of the link' },
    example: { token: 'V1StGXR8Z5jdHi6BmyT9sVbP0cZbUOyl4mWnRqXk2aE' },
    failures: { 404: { description: 'It was used or taken back, or has ended.' } },
    answer: success({ data: z.object({ account: id, name: text, role, expires: time }) }),
  },
  'POST /api/invitation/accept': {
    summary: 'Accept an invitation',
    description: 'For sessions of the dashboard: the signed-in person becomes a member.',
    fields: { token: 'that of the link' },
    example: { token: 'V1StGXR8Z5jdHi6BmyT9sVbP0cZbUOyl4mWnRqXk2aE' },
    failures: { 404: { description: 'It was used or taken back, or has ended.' } },
    answer: success({ account: id, role }),
  },
} satisfies Contract

export type FoundMember = AnswerOf<typeof memberContract, 'GET /api/member/:id'>
export type Invited = AnswerOf<typeof memberContract, 'POST /api/member/invite'>
export type MembershipList = AnswerOf<typeof memberContract, 'GET /api/memberships'>
export type InvitationFound = AnswerOf<typeof memberContract, 'POST /api/invitation'>
export type InvitationAccepted = AnswerOf<typeof memberContract, 'POST /api/invitation/accept'>
