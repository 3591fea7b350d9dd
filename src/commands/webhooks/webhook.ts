import type { Open } from '../../events/openenum.ts'
import {
  completedWebhook,
  type StoredWebhookFields,
  type WebhookEvent,
  type WebhookFields,
  type WebhookStop,
} from '../../events/webhooks/webhook.ts'
import { defined } from '../../lib/defined.ts'
import { type Decider, refuse } from '../decider.ts'
import { differing, requireOwned } from '../owned/owned.ts'

/** A secret that was replaced, and until when it still signs messages (ISO 8601). */
interface OldSecret {
  readonly secret: string | null
  readonly until: string
}

export interface Webhook {
  readonly status: 'none' | 'open' | 'deleted'
  readonly account: number
  readonly fields: StoredWebhookFields
  /** null once the account is erased */
  readonly url: string | null
  readonly secret: string | null
  readonly old: OldSecret | null
  /** why it is stopped; null: it sends */
  readonly stopped: Open<WebhookStop> | null
  /** ordinal of the event that it last started from, and the number of starts */
  readonly from: number
  readonly starts: number
  /** a replay: the event that it ends with, and the earliest event to continue with afterwards */
  readonly part?: { readonly until: number; readonly next: number } | undefined
  /** token of the last replay */
  readonly token: string
}

type Changes = { readonly [K in keyof WebhookFields]?: WebhookFields[K] | undefined } & {
  readonly url?: string | undefined
}

export type WebhookCommand =
  | {
      readonly type: 'Create'
      readonly id: number
      readonly account: number
      readonly fields: StoredWebhookFields
      readonly url: string
      readonly secret: string
      readonly from: number
    }
  | {
      readonly type: 'Update'
      readonly id: number
      readonly account: number
      readonly changes: Changes
      readonly enabled?: boolean | undefined
      /** the revision that had these values, when the webhook is reset to it */
      readonly to?: number | undefined
    }
  | {
      readonly type: 'Rotate'
      readonly id: number
      readonly account: number
      readonly secret: string
      readonly until: string
    }
  | {
      readonly type: 'Replay'
      readonly id: number
      readonly account: number
      readonly from: number
      readonly part?: Webhook['part']
      readonly token: string
    }
  | { readonly type: 'Disable'; readonly id: number; readonly account: number; readonly reason: WebhookStop }
  | { readonly type: 'Delete'; readonly id: number; readonly account: number }

export const webhookLabel = 'Webhook'

/** Returns the events that enable or stop a webhook; none when nothing changes. */
const switched = (id: number, stopped: Webhook['stopped'], enabled: boolean | undefined): readonly WebhookEvent[] => {
  if (enabled === undefined || enabled === (stopped === null)) return []
  return enabled
    ? [{ type: 'WebhookEnabled', data: { id } }]
    : [{ type: 'WebhookDisabled', data: { id, reason: 'owner' } }]
}

export const webhook: Decider<WebhookCommand, Webhook, WebhookEvent> = {
  kind: 'webhook',
  version: 4,
  id: ({ id }) => id,
  initialState: {
    status: 'none',
    account: 0,
    fields: { name: '', events: [], links: [], classes: [] },
    url: null,
    secret: null,
    old: null,
    stopped: null,
    from: 0,
    starts: 0,
    token: '',
  },
  decide: (command, state) => {
    const { id, account } = command
    if (command.type === 'Create') {
      const { fields, url, secret, from } = command
      if (state.status === 'none')
        return [{ type: 'WebhookCreated', data: { id, account, ...fields, url, secret, from } }]
      return state.account === account && state.secret === secret ? [] : refuse('id_in_use')
    }
    const own = requireOwned(state, account, 'webhook')
    switch (command.type) {
      case 'Update': {
        const { url, ...changes } = command.changes
        const differs = differing<WebhookFields>(defined(changes), completedWebhook(own.fields))
        const moved = url !== undefined && url !== own.url
        const to = command.to === undefined ? {} : { to: command.to }
        const isChanged = moved || Object.keys(differs).length > 0
        return [
          ...(isChanged
            ? [{ type: 'WebhookUpdated' as const, data: { id, changes: differs, ...(moved ? { url } : {}), ...to } }]
            : []),
          ...switched(id, own.stopped, command.enabled),
        ]
      }
      case 'Rotate': {
        const { secret, until } = command
        return secret === own.secret ? [] : [{ type: 'WebhookSecretRotated', data: { id, secret, until } }]
      }
      case 'Replay': {
        const { from, part, token } = command
        if (token === own.token) return []
        return part
          ? [{ type: 'WebhookPartReplayed', data: { id, from, ...part, token } }]
          : [{ type: 'WebhookReplayed', data: { id, from, token } }]
      }
      case 'Disable':
        return own.stopped === null ? [{ type: 'WebhookDisabled', data: { id, reason: command.reason } }] : []
      case 'Delete':
        return [{ type: 'WebhookDeleted', data: { id } }]
    }
  },
  evolve: (state, event) => {
    switch (event.type) {
      case 'WebhookCreated': {
        const { id: _, account, url, secret, from, ...fields } = event.data
        return { ...state, status: 'open', account, fields, url, secret, from, starts: 1 }
      }
      case 'WebhookUpdated': {
        const { changes, url } = event.data
        const fields = { ...state.fields, ...defined(changes) }
        return { ...state, fields, url: url === undefined ? state.url : url }
      }
      case 'WebhookSecretRotated': {
        const { secret, until } = event.data
        return { ...state, secret, old: { secret: state.secret, until } }
      }
      case 'WebhookReplayed': {
        const { from, token } = event.data
        return { ...state, from, token, part: undefined, starts: state.starts + 1 }
      }
      case 'WebhookPartReplayed': {
        const { from, until, next, token } = event.data
        return { ...state, from, token, part: { until, next }, starts: state.starts + 1 }
      }
      case 'WebhookDisabled':
        return { ...state, stopped: event.data.reason }
      case 'WebhookEnabled':
        return { ...state, stopped: null }
      case 'WebhookDeleted':
        return { ...state, status: 'deleted' }
    }
  },
}
