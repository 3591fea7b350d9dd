import { z } from 'zod'
import {
  type Answer,
  type AnswerOf,
  type Contract,
  count,
  done,
  listOf,
  ownedFields,
  stored,
  success,
  text,
  time,
  type Whole,
} from '../api/contract.ts'
import { fieldChange } from '../history/contract/history.ts'

export const statuses = ['open', 'approved', 'refused', 'withdrawn', 'stale'] as const
const person = z.object({
  id: z
    .int()
    .describe('the number of the member')
    .meta({ examples: [2] }),
  name: text.describe('the username; empty once their account is erased').meta({ examples: ['ann'] }),
})
const row = z.object({
  id: z
    .int()
    .describe('within the account')
    .meta({ examples: [7] }),
  resource: z
    .object({ type: text.meta({ examples: ['url'] }), id: z.int().meta({ examples: [42] }) })
    .describe('what would be changed, as in the paths of the API; `approval` are the rules of the account'),
  status: stored(z.enum(statuses)).describe(
    '`open`: it waits; `stale`: the resource, or what it would use, was changed meanwhile, so that it cannot be approved any more',
  ),
  by: person.describe('who has proposed it, or whose key has'),
  date: time,
  decided: z.union([time, z.literal('')]).describe('empty while it waits'),
  decider: person.nullable().describe('who has approved, refused or withdrawn it'),
  note: text.describe('what they have written'),
})
export type Proposal = Answer<typeof row>
export const proposals = listOf('Proposal', 'proposals', row, ['id'], {
  guarded: z.boolean().describe('whether the account has rules: some of its links need a second person'),
})
export type ProposalList = Whole<typeof proposals> & { readonly guarded: boolean }

const rules = {
  tags: z
    .array(text)
    .describe('links with one of these tags')
    .meta({ examples: [['printed']] }),
  domains: z
    .array(z.int())
    .describe('links on one of these domains, by their ids; 0 is the service’s own host')
    .meta({ examples: [[3]] }),
  live: z.boolean().describe('all links that visitors can open at that moment'),
}
const note = 'what everybody sees who sees the proposal'

export const approvalContract = {
  'GET /api/account/approval': {
    summary: 'Show which changes need a second person',
    description: 'For owners, admins and auditors.',
    answer: success({ data: z.object(rules) }),
  },
  'PUT /api/account/approval': {
    summary: 'Set which changes need a second person',
    description:
      'Changes of these links are proposed then: the answer is 202 with a `proposal`, and nothing is changed until another owner, admin or editor approves it. So are changes of domains, splash pages, overlays and pixels that such links use, and rules for fewer links. The account needs another member who could approve.',
    fields: {
      tags: 'links with one of these tags; none if not sent',
      domains: 'ids of domains, 0 for the service’s own host; none if not sent',
      live: '`true`: all links that visitors can open',
    },
    example: { tags: ['printed'], domains: [], live: false },
    answer: done,
  },
  'GET /api/proposals': {
    summary: 'List what was proposed',
    description: 'Authors see their own proposals, and members limited to domains also those of links there.',
    fields: {
      ...ownedFields,
      q: 'part of the type of the resource, or of the note',
      made_by: 'proposed by this member of the account, or by a key of theirs',
      status: 'only those with this status',
    },
    ...proposals,
  },
  'GET /api/proposal/:id': {
    summary: 'Show what was proposed',
    description:
      '`POST /api/url/:id/rehearse` with this number as `proposal` shows where the clicks of the last days would have gone by it.',
    answer: success({
      details: z.object({
        ...row.shape,
        changes: z.array(fieldChange).describe('what it would change now; empty once it does not wait any more'),
        own: z.boolean().describe('whether the caller has proposed it, and may withdraw it'),
        deletes: z.boolean().describe('whether it would delete the resource'),
        stale: z.boolean().describe('whether the resource, or what it would use, was changed meanwhile'),
        revision: count.describe('of the resource, when it was proposed').meta({ examples: [3] }),
      }),
    }),
  },
  'POST /api/proposal/:id/approve': {
    summary: 'Approve a proposal: the change is made',
    description:
      'For owners, admins and editors who are signed in to the dashboard, and have not proposed it themselves.',
    fields: { note },
    example: { note: 'Checked with print.' },
    failures: {
      409: { description: 'The resource, or what it would use, was changed meanwhile: the proposal ends as `stale`.' },
    },
    answer: done,
  },
  'POST /api/proposal/:id/refuse': {
    summary: 'Refuse a proposal, or withdraw one’s own',
    fields: { note },
    example: { note: 'Wrong landing page.' },
    failures: { 409: { description: 'It was approved, and the change is made, or the caller has proposed it.' } },
    answer: done,
  },
} satisfies Contract
export type FoundProposal = AnswerOf<typeof approvalContract, 'GET /api/proposal/:id'>
export type FoundRules = AnswerOf<typeof approvalContract, 'GET /api/account/approval'>
