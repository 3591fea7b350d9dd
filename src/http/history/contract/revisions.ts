import { z } from 'zod'
import { actingMembers } from './history.ts'
import {
  type Answer,
  type Whole,
  address,
  count,
  id,
  listOf,
  pageFields,
  type Contract,
  revision,
  text,
  time,
} from '../../api/contract.ts'

const targets = z.record(z.string(), address).meta({ examples: [{ canada: 'https://example.com/ca' }] })
const timeOrNone = z.union([time, z.literal('')])
const urlOrNone = z.union([address, z.literal('')])
const clicks = count.describe('people, as in the total of the link')
const visits = count.describe('including bots, link previewers, assistants and prefetching browsers')

const row = z.object({
  revision,
  event: z.int().nullable().describe('the number of the event in the log; `null` while it has none'),
  from: timeOrNone,
  until: timeOrNone.describe('exclusive; empty: still in force'),
  actor: z
    .object({ kind: text.meta({ examples: ['key'] }), key: id.optional(), name: text.optional(), ...actingMembers })
    .describe('who made it: `key` with id and name while the key exists, `operator`, `service` or `visitor`'),
  request: text.describe('id of the request'),
  type: text.meta({ examples: ['LinkUpdated'] }),
  deleted: z.boolean().describe('whether the link was deleted: it led nowhere'),
  longurl: urlOrNone,
  location: targets,
  device: targets,
  browser: targets,
  language: targets,
  variants: z.array(z.object({ id, url: address, weight: count })),
  parameters: z.array(z.object({ name: text, value: text })),
  starts: timeOrNone,
  expiry: timeOrNone,
  expired_url: urlOrNone,
  max_clicks: count.nullable(),
  clicks,
  visits,
  sent: z
    .array(
      z.object({
        rule: text.describe('`link`, or what chose the destination').meta({ examples: ['location:canada'] }),
        destination: address,
        clicks,
        visits,
      }),
    )
    .describe('most clicks first'),
})

export const revisions = listOf('Revision', 'revisions', row, ['revision'])
export type Revision = Answer<typeof row>
export type RevisionList = Whole<typeof revisions>

export const revisionsContract = {
  'GET /api/url/:id/revisions': {
    summary: 'List the revisions of a link, and whom each sent where',
    description:
      'For each revision: when it was in force, who made it, what it said, and how many clicks it sent to which destination by which rule. The `clicks` of all revisions add up to the clicks of the link, however visitors came to it: by its address, a QR code, a campaign or a bio page. Deleted links have theirs, too.',
    fields: pageFields,
    ...revisions,
  },
} satisfies Contract
