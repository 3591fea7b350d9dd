import { z } from 'zod'
import {
  type Answer,
  type AnswerOf,
  type Whole,
  address,
  count,
  created,
  deletedForGood,
  id,
  listOf,
  ownedFields,
  pageFields,
  type Contract,
  revision,
  success,
  text,
  time,
  updated,
} from '../api/contract.ts'

const timeOrNone = z.union([time, z.literal('')])
const secret = text
  .describe('signs messages; shown only once')
  .meta({ examples: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'] })
const ordinal = count.describe('number of an event in the log').meta({ examples: [123_456] })

const row = z
  .object({
    id,
    name: text.meta({ examples: ['Warehouse'] }),
    url: address,
    events: z.array(text).meta({ examples: [['LinkCreated', 'clicks']] }),
    links: z.array(id).describe('empty: any'),
    campaigns: z.array(id).describe('empty: any'),
    channels: z.array(id).describe('empty: any'),
    domains: z.array(id).describe('empty: any'),
    tags: z
      .array(text)
      .describe('empty: any')
      .meta({ examples: [['spring']] }),
    classes: z
      .array(text)
      .describe('empty: any')
      .meta({ examples: [['human']] }),
    status: z.enum(['active', 'failing', 'disabled']),
    reason: text.describe(
      'why it is disabled: `owner`, `gone` (the receiver answered 410) or `failing` (for three days)',
    ),
    disabled: timeOrNone.describe('since when it is disabled'),
    failing: timeOrNone.describe('since when deliveries fail'),
    tries: count.describe('failed attempts in a row'),
    retry: timeOrNone.describe('when the next attempt is due, while deliveries fail'),
    next: ordinal
      .nullable()
      .describe(
        'number of the first event that is not delivered, to about a second; null: not begun, or at an earlier moment',
      ),
    until: ordinal
      .nullable()
      .describe('while a part of the log is sent again: its last event; then it goes on where it was'),
    date: time,
    revision,
  })
  .meta({ id: 'WebhookDetails' })
export type WebhookDetails = Answer<typeof row>

const delivery = z.object({
  id,
  message: text.describe('the `webhook-id`').meta({ examples: ['evt_123456'] }),
  type: text.meta({ examples: ['LinkCreated'] }),
  event: ordinal.nullable().describe('null for a test'),
  date: time,
  try: count.describe('1 for the first attempt'),
  delivered: z.boolean(),
  status: count.describe('of the answer; 0: there was none').meta({ examples: [200] }),
  ms: count.describe('how long it took'),
  problem: text.describe('empty when it was delivered'),
  answer: text.describe('the first characters of what the receiver answered'),
})
export type Delivery = Answer<typeof delivery>

const fields = {
  name: 'what it is for',
  url: 'the address that messages are sent to, on port 80 or 443 of the public internet; use https',
  events:
    'types of events: `*` for all changes except those of the account and its webhooks, `clicks` for clicks, or names such as `LinkCreated`; `["*"]` if not sent. Names of those need the scope `account`',
  links: 'ids of links: only what is about them is sent; empty for everything',
  campaigns:
    'ids of campaigns: only clicks on their links, changes of their links, and changes of themselves; empty for everything',
  channels: 'ids of channels: the same for what is in them',
  domains: 'ids of branded domains: the same for their links',
  tags: 'tags: the same for links that have one of them',
  classes:
    'classes of visitors whose clicks are sent: `human`, `bot`, `preview`, `prefetch`, `assistant`; empty for all; `["human"]` if not sent',
}
const from = '`now`, the number of an event, or a time or day from which on events are sent'

const sent = (example: string) =>
  success({
    message: text,
    id: text.describe('the `webhook-id`').meta({ examples: [example] }),
    delivered: z.boolean(),
    status: delivery.shape.status,
    ms: delivery.shape.ms,
    problem: delivery.shape.problem,
    answer: delivery.shape.answer,
  })

export const webhookList = listOf('Webhook', 'webhooks', row)
export type WebhookList = Whole<typeof webhookList>
export const deliveries = listOf('Delivery', 'deliveries', delivery)
export type DeliveryList = Whole<typeof deliveries>

export const webhookContract = {
  'GET /api/webhooks': { summary: 'List webhooks', fields: ownedFields, ...webhookList },
  'GET /api/webhook/:id': { summary: 'Get a webhook', answer: success({ details: row }) },
  'POST /api/webhook/add': {
    summary: 'Create a webhook',
    description:
      'It sends events and clicks of the account, in log order, signed as [Standard Webhooks](https://www.standardwebhooks.com) describes. docs/webhooks.md has the messages.',
    fields: { ...fields, from: `${from}; \`now\` if not sent` },
    example: {
      name: 'Warehouse',
      url: 'https://example.com/hooks/links',
      events: ['LinkCreated', 'LinkUpdated', 'clicks'],
    },
    answer: created.extend({ secret, from: ordinal, message: text }),
  },
  'PUT /api/webhook/:id/update': {
    summary: 'Change, enable or disable a webhook',
    description: 'Fields that are not sent stay. A webhook that is enabled again continues where it was.',
    fields: { ...fields, enabled: 'whether it sends' },
    example: { name: 'Warehouse', enabled: true },
    answer: updated,
  },
  'DELETE /api/webhook/:id/delete': { summary: 'Delete a webhook and its log of deliveries', answer: deletedForGood },
  'POST /api/webhook/:id/rotate': {
    summary: 'Replace the secret of a webhook',
    description: 'Messages have two signatures, of both secrets, until the old one ends.',
    fields: { overlap: 'seconds until the old secret ends: 86,400 (a day) if not sent, at most 2,592,000 (30 days)' },
    example: { overlap: 3600 },
    answer: success({ secret, old: z.object({ expires: time }), revision, message: text }),
  },
  'POST /api/webhook/:id/replay': {
    summary: 'Send events again, or skip some',
    description:
      'The webhook continues at the given place; with `until`, only until there, and then where it was. What it sends again has the same ids.',
    fields: {
      from,
      until:
        'the last event that is sent again, by its number; or a time before which, or a day up to whose end, events are sent again; or `now`. Not sent: the webhook continues from `from` on',
    },
    example: { from: 0, until: 1 },
    answer: updated.extend({ from: ordinal, until: ordinal.optional() }),
  },
  'POST /api/webhook/:id/test': {
    summary: 'Send a test message',
    description: 'The answer says what the receiver has answered. It is 200 also when the receiver has failed.',
    answer: sent('test_0197b0c2-6a3e-7c1d-9a55-0f2f6c0d1e11'),
  },
  'POST /api/webhook/:id/resend': {
    summary: 'Send one message again',
    description:
      'At once, out of order, and also while the webhook is disabled. The message has its former id, and the webhook stays where it is. The answer is 200 also when the receiver has failed.',
    fields: { message: 'the `webhook-id` of the message, as in the list of deliveries' },
    example: { message: 'evt_123456' },
    answer: sent('evt_123456'),
  },
  'GET /api/webhook/:id/deliveries': {
    summary: 'List attempts to deliver messages',
    description: 'The newest 1,000 of the last 30 days.',
    fields: {
      ...pageFields,
      q: 'part of the type, of the id of the message, or of the problem',
      delivered: '`true` or `false`: only attempts that were successful, or that failed',
    },
    ...deliveries,
  },
} satisfies Contract

export type FoundWebhook = AnswerOf<typeof webhookContract, 'GET /api/webhook/:id'>
export type WebhookCreated = AnswerOf<typeof webhookContract, 'POST /api/webhook/add'>
export type WebhookRotated = AnswerOf<typeof webhookContract, 'POST /api/webhook/:id/rotate'>
export type WebhookReplayed = AnswerOf<typeof webhookContract, 'POST /api/webhook/:id/replay'>
export type WebhookTested = AnswerOf<typeof webhookContract, 'POST /api/webhook/:id/test'>
