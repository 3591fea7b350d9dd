import { webhook } from '../../../commands/webhooks/webhook.ts'
import { completedWebhook } from '../../../events/webhooks/webhook.ts'
import { fail } from '../../api/errors.ts'
import { byId } from '../../api/fields.ts'
import { endpoint } from '../../api/route.ts'
import { webhookFieldsOf } from '../fields.ts'
import { ownedOrDeleted } from '../routes.ts'
import { missingFilters } from './missing.ts'
import { formerState, notRestored, restore, RestoreBody, type RestoreServices } from './restore.ts'
import {
  beforeMove,
  requireAllowed,
  requireSameReceiver,
  sendsMoreOfAccount,
  type WebhookServices,
} from '../../webhooks/fields.ts'
import { restoreContract } from '../contract/history.ts'

/** Sets a webhook back to what it was. Where it is in the log stays: that is what a replay changes. */
export const webhookRestoreRoute = (services: RestoreServices & WebhookServices) =>
  endpoint(restoreContract, 'POST /api/webhook/:id/restore', {
    single: true,
    scope: 'webhooks',
    params: byId,
    owner: ownedOrDeleted(webhook),
    body: RestoreBody,
    run: async (call) => {
      const { account, body, load, params } = call
      const { id } = params
      const { state: before } = await load(webhook, id)
      if (before.status === 'deleted') fail(409, 'not_restorable', { what: 'webhook' })
      const former = await formerState(webhook, id, call, services, ({ status }) => status === 'open')
      const { fields, url, secret, stopped } = former?.state ?? before
      const all = completedWebhook(fields)
      const changes = { ...all, ...(url === null ? {} : { url }) }
      // what it may have now, it may not have been allowed then, and ids that it had may be those of deleted resources
      requireSameReceiver(call, changes, before)
      await requireAllowed(call, changes, services, all)
      if (!body.dryRun) {
        if (sendsMoreOfAccount(changes, before)) await services.stepUps.require('webhooks', call)
        await beforeMove(call, before, changes.url, services)
      }
      const to = former?.revision
      const enabled = stopped === null
      return restore(call, services, {
        kind: 'webhook',
        before,
        fields: webhookFieldsOf,
        isDeleted: () => false,
        dryRun: body.dryRun ?? false,
        write: ({ write }) => write(webhook, { type: 'Update', id, account, changes, enabled, to }),
        lost: async () => [
          ...(secret === before.secret ? [] : [notRestored('secret', { what: 'secret' })]),
          ...(await missingFilters(call, all)),
        ],
      })
    },
  })
