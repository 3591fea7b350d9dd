import type { DomainEvent } from '../../../src/events/index.ts'
import type { WebhookEvent } from '../../../src/events/webhooks/webhook.ts'
import { webhooks } from '../../../src/projections/webhooks/webhook.ts'
import { at } from '../../support/events.ts'
import { projectionSpec } from '../../support/given.ts'

const { given } = projectionSpec(webhooks)
const [id, account] = [3, 1]
const fields = { name: 'Shop', events: ['LinkCreated'], links: [42], classes: ['human'], url: 'https://example.com/a' }
const created = (more: { id?: number; account?: number } = {}): WebhookEvent => ({
  type: 'WebhookCreated',
  data: { id, account, ...fields, secret: 'whsec_1', from: 10, ...more },
})
const disabled: WebhookEvent = { type: 'WebhookDisabled', data: { id, reason: 'gone' } }
const row = (position: bigint, changed = {}) => ({
  id,
  account,
  ...fields,
  created: at(1),
  deleted: null,
  revision: position - 1n,
  position,
  ...changed,
})

describe('the table of webhooks', () => {
  it('has all fields of a webhook, but not its secret', () => given(created()).thenRows('webhooks', row(1n)))
  it('updates changed fields and the address, and keeps the others', () => {
    const url = 'https://example.com/b'
    given(created(), { type: 'WebhookUpdated', data: { id, changes: { links: [] }, url } }).thenRows(
      'webhooks',
      row(2n, { links: [], url }),
    )
    given(created(), { type: 'WebhookUpdated', data: { id, changes: { campaigns: [7] } } }).thenRows(
      'webhooks',
      row(2n, { campaigns: [7] }),
    )
  })
  it('says why and since when a webhook sends nothing, until it sends again', () => {
    given(created(), disabled).thenRows('webhooks', row(2n, { stopped: 'gone', stopped_at: at(2) }))
    given(created(), disabled, { type: 'WebhookEnabled', data: { id } }).thenRows(
      'webhooks',
      row(3n, { stopped: null, stopped_at: null }),
    )
  })
  it('counts a new secret and a replay in the revision only', () => {
    const events: readonly WebhookEvent[] = [
      { type: 'WebhookSecretRotated', data: { id, secret: 'whsec_2', until: at(99) } },
      { type: 'WebhookReplayed', data: { id, from: 1, token: 'r1' } },
      { type: 'WebhookPartReplayed', data: { id, from: 1, until: 3, next: 5, token: 'r2' } },
    ]
    for (const event of events) given(created(), event).thenRows('webhooks', row(2n))
  })
  it('keeps the row of a deleted webhook, and counts those that are not', () => {
    const past = [created(), created({ id: 4 }), created({ id: 5, account: 2 })]
    const gone: WebhookEvent = { type: 'WebhookDeleted', data: { id } }
    given(created(), gone).thenRows('webhooks', row(2n, { deleted: at(2) }))
    given(...past, gone).thenRows('webhooks_counts', { account, n: 1 }, { account: 2, n: 1 })
  })
  it('has no webhook of an erased account', () => {
    const erased: DomainEvent = { type: 'AccountErased', data: { id: account } }
    given(created(), created({ id: 5, account: 2 }), erased).thenRows(
      'webhooks',
      row(2n, { id: 5, account: 2, created: at(2), revision: 0n }),
    )
  })
})
