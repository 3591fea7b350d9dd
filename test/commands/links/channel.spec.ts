import { type ItemCommand, channel, channelItem } from '../../../src/commands/links/channel.ts'
import { streamOf } from '../../../src/commands/decider.ts'
import type { OwnedCommand } from '../../../src/commands/owned/owned.ts'
import { type ChannelEvent, type ChannelFields, ItemKind } from '../../../src/events/links/channel.ts'
import type { Event } from '../../../src/events/index.ts'
import { expect } from 'chai'
import { spec } from '../../support/given.ts'

const [id, account] = [7, 1]
const fields: ChannelFields = { name: 'Press', description: '', color: '#3b82f6', starred: false }
const create: OwnedCommand<ChannelFields> = { type: 'Create', id, account, fields }
const update = (changes: Partial<ChannelFields>, by = account): OwnedCommand<ChannelFields> => ({
  type: 'Update',
  id,
  account: by,
  changes,
})
const remove: OwnedCommand<ChannelFields> = { type: 'Delete', id, account }

type Own = Exclude<ChannelEvent, { type: 'ItemAssignedToChannel' | 'ItemRemovedFromChannel' }>
const created: Own = { type: 'ChannelCreated', data: { id, account, ...fields } }
const updated = (changes: Partial<ChannelFields>): Own => ({ type: 'ChannelUpdated', data: { id, changes } })
const deleted: Own = { type: 'ChannelDeleted', data: { id } }

describe('a channel', () => {
  const { given } = spec(channel)

  it('is created with its fields, and claims no name', () => {
    given().when(create).thenEvents(created)
    given().when(create).thenClaims()
  })
  it('is not created under an id that is in use', () => {
    given(created)
      .when({ ...create, account: 2 })
      .thenRefused('id_in_use')
  })
  it('records only what differs in an update', () => {
    given(created)
      .when(update({ name: 'Press', starred: true }))
      .thenEvents(updated({ starred: true }))
    given(created).when(update(fields)).thenNothing()
    given(created).when(update({})).thenNothing()
  })
  it('is deleted by one event, with any content', () => {
    given(created).when(remove).thenEvents(deleted)
  })
  it('is found only by its owner, and only until it is deleted', () => {
    for (const command of [update({ name: 'x' }), remove]) {
      given().when(command).thenRefused('not_found')
      given(created, deleted).when(command).thenRefused('not_found')
      given(created)
        .when({ ...command, account: 2 })
        .thenRefused('not_found')
    }
  })
})

describe('assigning an item to a channel', () => {
  const { given } = spec(channelItem)
  const assign: ItemCommand = { type: 'AssignItem', channel: id, item: { kind: 'links', id: 42 } }
  const assigned: Event<'ItemAssignedToChannel'> = {
    type: 'ItemAssignedToChannel',
    data: { channel: id, item: { kind: 'links', id: 42 } },
  }

  it('records the membership once', () => {
    given().when(assign).thenEvents(assigned)
    given(assigned).when(assign).thenNothing()
  })
  it('is undone by removing the item, after which it can be assigned again', () => {
    const taken = { ...assign, type: 'RemoveItem' } as const
    const removed: Event<'ItemRemovedFromChannel'> = { type: 'ItemRemovedFromChannel', data: assigned.data }
    given().when(taken).thenNothing()
    given(assigned).when(taken).thenEvents(removed)
    given(assigned, removed).when(taken).thenNothing()
    given(assigned, removed).when(assign).thenEvents(assigned)
  })
  it('uses a stream of its own per channel, kind and item', () => {
    const streams = [7, 8].flatMap((channel) =>
      ItemKind.options.flatMap((kind) =>
        [42, 43].map((id) => streamOf(channelItem, { ...assign, channel, item: { kind, id } })),
      ),
    )
    expect(new Set(streams).size).to.equal(12)
    expect(streams).to.include('channelitem-7-links-42')
  })
})
