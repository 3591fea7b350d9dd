import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { requireOwn } from '../../commands/caller.ts'
import { refuse } from '../../commands/decider.ts'
import { webhook } from '../../commands/webhooks/webhook.ts'
import { says, text, timestamp } from '../../lib/fields.ts'
import { type DeliveryRow, listDeliveries } from '../../queries/webhooks/webhook.ts'
import { byId } from '../api/fields.ts'
import { list, listQuery } from '../api/list/list.ts'
import { endpoint, type Route } from '../api/route.ts'
import { ownedBy } from '../api/owned.ts'
import { deliveries, webhookContract } from './contract.ts'
import { requireMayRead, type WebhookServices } from './fields.ts'
import type { Tested } from './test.ts'

const owner = ownedBy(webhook)

const presentDelivery = ({ id, message, type, ordinal, at, try: n, status, ms, ...row }: DeliveryRow) => ({
  id,
  message,
  type,
  event: ordinal,
  date: timestamp(at),
  try: n,
  delivered: row.delivered,
  status: status ?? 0,
  ms,
  problem: row.problem,
  answer: row.excerpt,
})

const presentTested = ({ message: id, excerpt, status, ...tested }: Tested, what: string) => {
  const message = tested.delivered ? `The ${what} was delivered.` : `The ${what} was not delivered.`
  return { message, id, ...tested, status: status ?? 0, answer: excerpt }
}

/** The id of a message, which is its place in the log. */
const messageId = text(64).transform((given, context) => {
  const [, ordinal, part] = /^evt_(\d{1,15})(?:_(\d{1,4}|unreadable))?$/.exec(given) ?? []
  if (ordinal !== undefined) return { id: given, ordinal: Number(ordinal), part: Number(part) || 0 }
  context.addIssue(says('wrong_form', { what: 'message_id' }))
  return z.NEVER
})

const deliveryQuery = listQuery(deliveries).extend({
  delivered: z.enum(['true', 'false'], says('wrong_type', { what: 'boolean' })).optional(),
})

export const deliveryRoutes = ({ webhooks }: WebhookServices): readonly Route[] => [
  endpoint(webhookContract, 'POST /api/webhook/:id/test', {
    scope: 'webhooks',
    params: byId,
    owner,
    run: async (call) => {
      const { account, params } = call
      const { url: address, secret, old } = await requireOwn(call, webhook, params.id)
      const target = { account, webhook: params.id, id: randomUUID(), url: address ?? '', secret: secret ?? '', old }
      return presentTested(await webhooks.test(target), 'test message')
    },
  }),

  endpoint(webhookContract, 'POST /api/webhook/:id/resend', {
    scope: 'webhooks',
    params: byId,
    owner,
    body: z.object({ message: messageId }),
    run: async (call) => {
      const own = await requireOwn(call, webhook, call.params.id)
      requireMayRead(call, own, 'message')
      const sent = await webhooks.resend({ webhook: call.params.id, own, message: call.body.message })
      return sent ? presentTested(sent, 'message') : refuse('not_found', { what: 'message' })
    },
  }),

  endpoint(webhookContract, 'GET /api/webhook/:id/deliveries', {
    nowOnly: 'deliveries',
    scope: ['webhooks', 'audit'],
    params: byId,
    query: deliveryQuery,
    owner,
    run: (call) => {
      const { delivered } = call.query
      const of = { webhook: call.params.id, delivered: delivered === undefined ? undefined : delivered === 'true' }
      const read = (request: Parameters<typeof listDeliveries>[2]) => listDeliveries(call.reader, of, request)
      return list(deliveries, call, read, presentDelivery)
    },
  }),
]
