import { defined } from '../../lib/defined.ts'
import { ownedHandlers, ownedTables } from '../owned.ts'
import { type HandledProjection, patch } from '../engine/projection.ts'

const { created, deleted, erased } = ownedHandlers('webhooks')

/** Webhooks as their owners see them. Their secrets are sealed, and in the log only: the sender reads the stream. */
export const webhooks: HandledProjection = {
  name: 'webhooks',
  version: 4,
  filter: 'domain',
  tables: ownedTables(
    'webhooks',
    `name text not null, url text, events json not null, links json not null, classes json not null,
     campaigns json, channels json, domains json, tags json,
     stopped text, stopped_at timestamptz`,
  ),
  on: {
    WebhookCreated: (event) => {
      const { secret: _, from: _from, ...data } = event.data
      return created({ ...event, data })
    },
    WebhookUpdated: ({ data: { id, changes, url }, revision, position }) => [
      patch('webhooks', { id }, { ...defined({ ...changes, url }), revision, position }),
    ],
    WebhookSecretRotated: ({ data: { id }, revision, position }) => [patch('webhooks', { id }, { revision, position })],
    WebhookReplayed: ({ data: { id }, revision, position }) => [patch('webhooks', { id }, { revision, position })],
    WebhookPartReplayed: ({ data: { id }, revision, position }) => [patch('webhooks', { id }, { revision, position })],
    WebhookDisabled: ({ data: { id, reason }, at, revision, position }) => [
      patch('webhooks', { id }, { stopped: reason, stopped_at: at, revision, position }),
    ],
    WebhookEnabled: ({ data: { id }, revision, position }) => [
      patch('webhooks', { id }, { stopped: null, stopped_at: null, revision, position }),
    ],
    WebhookDeleted: deleted,
    AccountErased: erased,
  },
}
