import { randomUUID } from 'node:crypto'
import { requireOwn } from '../../commands/caller.ts'
import { webhook, webhookLabel } from '../../commands/webhooks/webhook.ts'
import { streamId } from '../../events/streams.ts'
import { completedWebhook } from '../../events/webhooks/webhook.ts'
import { timestamp } from '../../lib/fields.ts'
import { findWebhook, listWebhooks, type WebhookRow } from '../../queries/webhooks/webhook.ts'
import { newWebhookSecret } from '../../security/webhooks.ts'
import { readCurrent } from '../api/write/current.ts'
import { byId } from '../api/fields.ts'
import { endpoint, type Call, type Reading, type Route } from '../api/route.ts'
import { deletedForGood, listOwned, ownedBy } from '../api/owned.ts'
import { type WebhookDetails, webhookContract, webhookList } from './contract.ts'
import { deliveryRoutes } from './deliveries.ts'
import {
  beforeMove,
  endOf,
  newWebhook,
  ordinalOf,
  replay,
  requireAllowed,
  requireMayRead,
  requireSameReceiver,
  rotation,
  sendsMoreOfAccount,
  sendsOfAccount,
  webhookChanges,
  type WebhookServices,
} from './fields.ts'

const timeOf = (moment: Date | null) => (moment ? timestamp(moment) : '')

const statusOf = ({
  stopped,
  failing_since: failing,
}: Pick<WebhookRow, 'stopped' | 'failing_since'>): WebhookDetails['status'] => {
  if (stopped !== null) return 'disabled'
  return failing ? 'failing' : 'active'
}

const present = (row: WebhookRow): WebhookDetails => ({
  id: row.id,
  name: row.name,
  url: row.url ?? '',
  events: row.events,
  links: row.links,
  campaigns: row.campaigns,
  channels: row.channels,
  domains: row.domains,
  tags: row.tags,
  classes: row.classes,
  status: statusOf(row),
  reason: row.stopped ?? '',
  disabled: timeOf(row.stopped_at),
  failing: row.stopped === null ? timeOf(row.failing_since) : '',
  tries: row.tries ?? 0,
  retry: row.stopped === null ? timeOf(row.due_at) : '',
  next: row.next,
  until: row.until === null ? null : row.until - 1,
  date: timestamp(row.created),
  revision: row.revision,
})

const readWebhook = (reading: Reading, id: number) =>
  readCurrent<WebhookRow>({
    pending: reading.pending.has(streamId('webhook', id)),
    inTables: () => findWebhook(reading.reader, reading.account, id),
    inStream: async () => {
      const own = await requireOwn(reading, webhook, id)
      const { fields, url: address, stopped, from: next, created, revision } = own
      const unknown = {
        starts: null,
        until: null,
        back: null,
        stopped_at: null,
        failing_since: null,
        tries: null,
        due_at: null,
      }
      return { ...completedWebhook(fields), ...unknown, id, url: address, stopped, next, created, revision }
    },
  })

/** Returns the ordinal at which a webhook would go on now, or an earlier one. */
const placeOf = async (call: Reading & { readonly params: { readonly id: number } }) => {
  const { starts, from, part } = await requireOwn(call, webhook, call.params.id)
  const row = await findWebhook(call.reader, call.account, call.params.id)
  // what is stored may be of an earlier beginning
  const stored = row?.starts === starts ? (row.back ?? row.next) : null
  return stored ?? part?.next ?? from
}

const owner = ownedBy(webhook)
const onlyTime = 'This is the only time that the secret is shown.'

/** A repeated request has the same token. */
const tokenOf = async (call: Pick<Call, 'seed'>) => (await call.seed())?.toString('base64url') ?? randomUUID()

const add = (services: WebhookServices) =>
  endpoint(webhookContract, 'POST /api/webhook/add', {
    scope: 'webhooks',
    secret: true,
    body: newWebhook,
    run: async (call) => {
      const { url: address, from: begin, ...fields } = call.body
      await requireAllowed(call, call.body, services)
      if (sendsMoreOfAccount(call.body)) await services.stepUps.require('webhooks', call)
      const { account } = call
      const secret = newWebhookSecret(await call.seed())
      const start = await ordinalOf(begin, services.ordinals)
      const created = { account, fields, url: address, secret, from: start }
      const { id, revision, state } = await call.create('webhook', webhook, (id) => ({
        type: 'Create' as const,
        id,
        ...created,
      }))
      await services.mails?.order({ kind: 'webhookAdded', lang: call.lang, webhook: id }, account)
      return { id, secret, from: state.from, revision, message: onlyTime }
    },
  })

const update = (services: WebhookServices) =>
  endpoint(webhookContract, 'PUT /api/webhook/:id/update', {
    scope: 'webhooks',
    params: byId,
    single: true,
    owner,
    body: webhookChanges,
    run: async (call) => {
      const { account, params, write } = call
      const { enabled, ...changed } = call.body
      const own = await requireOwn(call, webhook, params.id)
      requireSameReceiver(call, changed, own)
      await requireAllowed(call, changed, services, completedWebhook(own.fields))
      // with other events, what was asked for them has been asked
      const isSwitchedOn = enabled === true && own.stopped !== null
      if (isSwitchedOn && changed.events === undefined) requireMayRead(call, own, 'enabled')
      if (sendsMoreOfAccount(changed, own)) await services.stepUps.require('webhooks', call)
      await beforeMove(call, own, changed.url, services)
      const command = { type: 'Update', id: params.id, account, changes: changed, enabled } as const
      const { revision } = await write(webhook, command)
      return { message: 'Webhook has been updated.', revision }
    },
  })

const remove = endpoint(webhookContract, 'DELETE /api/webhook/:id/delete', {
  scope: 'webhooks',
  params: byId,
  single: true,
  run: async ({ account, params: { id }, write }) => {
    await write(webhook, { type: 'Delete', id, account })
    return deletedForGood(webhookLabel, 'create a new one, which gets a new secret')
  },
})

const rotate = ({ stepUps }: WebhookServices) =>
  endpoint(webhookContract, 'POST /api/webhook/:id/rotate', {
    scope: 'webhooks',
    secret: true,
    params: byId,
    single: true,
    owner,
    body: rotation,
    run: async (call) => {
      const { account, params, write } = call
      const own = await requireOwn(call, webhook, params.id)
      requireMayRead(call, own, 'secret')
      // the secret makes messages that the receiver believes
      if (sendsOfAccount(own)) await stepUps.require('webhooks', call)
      const secret = newWebhookSecret(await call.seed())
      const until = new Date(Date.now() + call.body.overlap * 1000).toISOString()
      const { state, revision } = await write(webhook, { type: 'Rotate', id: params.id, account, secret, until })
      return { secret, old: { expires: timestamp(state.old?.until ?? until) }, revision, message: onlyTime }
    },
  })

const replayed = ({ ordinals }: WebhookServices) =>
  endpoint(webhookContract, 'POST /api/webhook/:id/replay', {
    scope: 'webhooks',
    params: byId,
    single: true,
    owner,
    body: replay,
    run: async (call) => {
      const { account, params, write } = call
      const { id } = params
      requireMayRead(call, await requireOwn(call, webhook, id), 'from')
      const start = await ordinalOf(call.body.from, ordinals)
      const until = await endOf(call.body.until, start, ordinals)
      const part = until === undefined ? undefined : { until, next: await placeOf(call) }
      const command = { type: 'Replay', id, account, from: start, part, token: await tokenOf(call) } as const
      const { state, revision } = await write(webhook, command)
      const { from } = state
      if (!state.part) return { message: `Webhook continues at event ${from}.`, from, revision }
      const last = state.part.until - 1
      return { message: `Webhook sends events ${from} to ${last} again, then it goes on.`, from, until: last, revision }
    },
  })

const details = endpoint(webhookContract, 'GET /api/webhook/:id', {
  scope: ['webhooks', 'audit'],
  params: byId,
  single: true,
  run: async (call) => ({ details: present(await readWebhook(call, call.params.id)) }),
})

export const webhookRoutes = (services: WebhookServices): readonly Route[] => [
  endpoint(webhookContract, 'GET /api/webhooks', {
    scope: ['webhooks', 'audit'],
    ...listOwned(webhookList, listWebhooks, present),
  }),
  details,
  add(services),
  update(services),
  remove,
  rotate(services),
  replayed(services),
  ...deliveryRoutes(services),
]
