import { expect } from 'chai'
import { fold } from '../../../src/commands/decider.ts'
import { webhook, type WebhookCommand } from '../../../src/commands/webhooks/webhook.ts'
import type { WebhookEvent } from '../../../src/events/webhooks/webhook.ts'
import { spec } from '../../support/given.ts'

const { given } = spec(webhook)
const [id, account] = [3, 1]
const own = { id, account }
const fields = { name: 'Shop', events: ['LinkCreated'], links: [42], classes: ['human'] }
const address = { url: 'https://example.com/hook', secret: 'whsec_1' }
const until = '2030-01-01T00:00:00.000Z'

type Command<T> = Extract<WebhookCommand, { type: T }>
const create: Command<'Create'> = { type: 'Create', ...own, fields, ...address, from: 10 }
const update = (changes: Command<'Update'>['changes'], more: Partial<Command<'Update'>> = {}): WebhookCommand => ({
  type: 'Update',
  ...own,
  changes,
  ...more,
})
const rotate = (secret: string): WebhookCommand => ({ type: 'Rotate', ...own, secret, until })
const replay = (token: string, part?: Command<'Replay'>['part']): WebhookCommand => ({
  type: 'Replay',
  ...own,
  from: 4,
  token,
  ...(part && { part }),
})
const disable: WebhookCommand = { type: 'Disable', ...own, reason: 'gone' }
const remove: WebhookCommand = { type: 'Delete', ...own }

const created: WebhookEvent = { type: 'WebhookCreated', data: { ...own, ...fields, ...address, from: 10 } }
const updated = (changes: object, more: object = {}): WebhookEvent => ({
  type: 'WebhookUpdated',
  data: { id, changes, ...more },
})
const rotated: WebhookEvent = { type: 'WebhookSecretRotated', data: { id, secret: 'whsec_2', until } }
const replayed: WebhookEvent = { type: 'WebhookReplayed', data: { id, from: 4, token: 'r1' } }
const part = { until: 7, next: 12 }
const partReplayed: WebhookEvent = { type: 'WebhookPartReplayed', data: { id, from: 4, ...part, token: 'r1' } }
const disabled = (reason: 'owner' | 'gone'): WebhookEvent => ({ type: 'WebhookDisabled', data: { id, reason } })
const enabled: WebhookEvent = { type: 'WebhookEnabled', data: { id } }
const deleted: WebhookEvent = { type: 'WebhookDeleted', data: { id } }

describe('a webhook', () => {
  it('is created with its address, its secret and the event that it begins at', () => {
    given().when(create).thenEvents(created)
  })

  it('is not created under an id that is in use', () => {
    const others: readonly Partial<typeof create>[] = [{ account: 2 }, { secret: 'whsec_other' }]
    for (const other of others)
      given(created)
        .when({ ...create, ...other })
        .thenRefused('id_in_use')
    given(created, deleted)
      .when({ ...create, account: 2 })
      .thenRefused('id_in_use')
  })

  it('records only what differs in an update, and the revision that it is set back to', () => {
    given(created)
      .when(update({ name: 'Shop', links: [42, 43] }))
      .thenEvents(updated({ links: [42, 43] }))
    given(created)
      .when(update({ name: 'Other', url: undefined }, { to: 0 }))
      .thenEvents(updated({ name: 'Other' }, { to: 0 }))
    given(created).when(update({})).thenNothing()
    given(created)
      .when(update({ name: 'Shop', campaigns: [] }, { to: 0 }))
      .thenNothing()
  })

  it('moves to another address, which is no change of its fields', () => {
    const url = 'https://example.com/moved'
    given(created).when(update({ url })).thenEvents(updated({}, { url }))
    given(created, updated({}, { url })).when(update({ url })).thenNothing()
    given(created, updated({ name: 'Other' }))
      .when(update({ url: address.url }))
      .thenNothing()
  })

  it('is switched off and on by its owner, each once', () => {
    given(created)
      .when(update({}, { enabled: false }))
      .thenEvents(disabled('owner'))
    given(created)
      .when(update({}, { enabled: true }))
      .thenNothing()
    for (const reason of ['owner', 'gone'] as const)
      given(created, disabled(reason))
        .when(update({ name: 'Other' }, { enabled: true }))
        .thenEvents(updated({ name: 'Other' }), enabled)
    given(created, disabled('owner'), enabled)
      .when(update({}, { enabled: false }))
      .thenEvents(disabled('owner'))
  })

  it('stops for the first reason only', () => {
    given(created).when(disable).thenEvents(disabled('gone'))
    given(created, disabled('owner')).when(disable).thenNothing()
    expect(fold(webhook, [created, disabled('gone')]).stopped).to.equal('gone')
  })

  it('signs with a new secret, and for some time with the old one', () => {
    given(created).when(rotate('whsec_2')).thenEvents(rotated)
    given(created, rotated).when(rotate('whsec_2')).thenNothing()
    const { secret, old } = fold(webhook, [created, rotated])
    expect({ secret, old }).to.deep.equal({ secret: 'whsec_2', old: { secret: 'whsec_1', until } })
  })

  it('begins again at an earlier event, once for each request', () => {
    given(created).when(replay('r1')).thenEvents(replayed)
    given(created, replayed).when(replay('r1')).thenNothing()
    given(created, replayed)
      .when(replay('r2'))
      .thenEvents({ type: 'WebhookReplayed', data: { id, from: 4, token: 'r2' } })
    expect(fold(webhook, [created])).to.include({ from: 10, starts: 1 })
    expect(fold(webhook, [created, replayed])).to.include({ from: 4, starts: 2, part: undefined })
  })

  it('sends a part again, and goes on where it was', () => {
    given(created).when(replay('r1', part)).thenEvents(partReplayed)
    const after = fold(webhook, [created, partReplayed])
    expect(after).to.include({ from: 4, starts: 2 })
    expect(after.part).to.deep.equal(part)
    expect(fold(webhook, [created, partReplayed, replayed]).part).to.equal(undefined)
  })

  it('is found only by its owner, and only until it is deleted', () => {
    given(created).when(remove).thenEvents(deleted)
    for (const command of [update({ name: 'x' }), rotate('s'), replay('r1'), disable, remove]) {
      given().when(command).thenRefused('not_found', 'webhook')
      given(created)
        .when({ ...command, account: 2 })
        .thenRefused('not_found', 'webhook')
      given(created, deleted).when(command).thenRefused('not_found', 'webhook')
    }
  })
})
