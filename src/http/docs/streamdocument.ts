import { z } from 'zod'
import { ClickLine, EventLine } from '../streams/contract.ts'

/** New fields may appear: readers ignore those that they do not know. */
const schemaOf = (schema: z.ZodType) => {
  const { $schema: _, ...own } = z.toJSONSchema(schema, { io: 'input', target: 'draft-7', unrepresentable: 'any' })
  return own
}

const timestamp = z.iso.datetime()
const unreadable = z.literal(true).optional().describe('the event could not be read when it was sent')
const truncated = z.literal(true).optional().describe('the event is too large for a message: its data is left out')

const schemas = () => ({
  EventLine: schemaOf(EventLine),
  ClickLine: schemaOf(ClickLine),
  WebhookEvent: schemaOf(z.object({ type: z.string(), timestamp, data: EventLine.extend({ truncated, unreadable }) })),
  WebhookClicks: schemaOf(
    z.object({
      type: z.literal('clicks'),
      timestamp,
      data: z.object({ event: z.int(), clicks: z.array(ClickLine).max(50), unreadable }),
    }),
  ),
  WebhookTest: schemaOf(z.object({ type: z.literal('test'), timestamp, data: z.object({ webhook: z.int() }) })),
  WebhookHeaders: schemaOf(
    z.object({
      'content-type': z.literal('application/json'),
      'webhook-id': z.string().describe('names the message: the same when it is sent again'),
      'webhook-timestamp': z.string().regex(/^\d+$/).describe('seconds since 1970, of this attempt'),
      'webhook-signature': z.string().describe('`v1,` and a signature in base64; two while the secret is replaced'),
    }),
  ),
})
type Schema = keyof ReturnType<typeof schemas>

const message = (name: string, title: string, payload: Schema, headers?: Schema) => ({
  name,
  title,
  contentType: 'application/json',
  ...(headers && { headers: { $ref: `#/components/schemas/${headers}` } }),
  payload: { $ref: `#/components/schemas/${payload}` },
})

const messages = {
  eventLine: message('eventLine', 'A change of the account or one of its resources', 'EventLine'),
  clickLine: message('clickLine', 'A visit', 'ClickLine'),
  webhookEvent: message('webhookEvent', 'A change, by webhook', 'WebhookEvent', 'WebhookHeaders'),
  webhookClicks: message('webhookClicks', 'Up to 50 visits, by webhook', 'WebhookClicks', 'WebhookHeaders'),
  webhookTest: message('webhookTest', 'A test of a webhook', 'WebhookTest', 'WebhookHeaders'),
}
type Name = keyof typeof messages

const channel = (address: string | null, description: string, names: readonly Name[]) => ({
  address,
  description,
  messages: Object.fromEntries(names.map((name) => [name, { $ref: `#/components/messages/${name}` }])),
})
const operation = (name: string, summary: string, names: readonly Name[], method: string) => ({
  action: 'send',
  summary,
  channel: { $ref: `#/channels/${name}` },
  messages: names.map((one) => ({ $ref: `#/channels/${name}/messages/${one}` })),
  bindings: { http: { method, bindingVersion: '0.3.0' } },
})
const ofWebhooks = ['webhookEvent', 'webhookClicks', 'webhookTest'] as const
const lines = 'One JSON object on each line, or `data` of a server-sent event. `/openapi.json` has the parameters.'

/** Returns what the AsyncAPI document has of streams and webhooks. */
export const streamDocument = () => ({
  channels: {
    eventStream: channel('/api/events', lines, ['eventLine']),
    clickStream: channel('/api/clicks', lines, ['clickLine']),
    webhooks: channel(null, 'The address of a webhook, which its owner chooses.', ofWebhooks),
  },
  operations: {
    streamEvents: operation('eventStream', 'A client reads changes, oldest first', ['eventLine'], 'GET'),
    streamClicks: operation('clickStream', 'A client reads visits, oldest first', ['clickLine'], 'GET'),
    sendWebhook: operation(
      'webhooks',
      'Linkledger sends changes and visits to a webhook, in log order and at least once',
      ofWebhooks,
      'POST',
    ),
  },
  messages,
  schemas: schemas(),
})
