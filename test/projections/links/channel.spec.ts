import type { ChannelEvent, ItemKind } from '../../../src/events/links/channel.ts'
import { channels } from '../../../src/projections/links/channel.ts'
import { at } from '../../support/events.ts'
import { projectionSpec } from '../../support/given.ts'

const { given } = projectionSpec(channels)
const fields = { name: 'Press', description: '', color: '#3b82f6', starred: false }
const created = (id = 5, account = 1): ChannelEvent => ({ type: 'ChannelCreated', data: { id, account, ...fields } })
const updated: ChannelEvent = { type: 'ChannelUpdated', data: { id: 5, changes: { starred: true } } }
const deleted: ChannelEvent = { type: 'ChannelDeleted', data: { id: 5 } }
const assigned = (channel: number, kind: ItemKind, id: number): ChannelEvent => ({
  type: 'ItemAssignedToChannel',
  data: { channel, item: { kind, id } },
})
const removed = (channel: number, kind: ItemKind, id: number): ChannelEvent => ({
  type: 'ItemRemovedFromChannel',
  data: { channel, item: { kind, id } },
})
const row = { id: 5, account: 1, ...fields, created: at(1), deleted: null, position: 1n, revision: 0n }
const item = (channel: number, kind: ItemKind, id: number, n: number) => ({
  channel,
  kind,
  item: id,
  assigned: at(n),
  position: BigInt(n),
})

describe('the table of channels', () => {
  it('has all fields of a channel', () => given(created()).thenRows('channels', row))
  it('updates changed fields and keeps the others', () =>
    given(created(), updated).thenRows('channels', { ...row, starred: true, position: 2n, revision: 1n }))
  it('keeps the row of a deleted channel', () =>
    given(created(), deleted).thenRows('channels', { ...row, deleted: at(2), position: 2n, revision: 1n }))
  it('counts each account’s channels that are not deleted', () =>
    given(created(), created(6), created(7, 2), deleted).thenRows(
      'channels_counts',
      { account: 1, n: 1 },
      { account: 2, n: 1 },
    ))
})

describe('the table of channel items', () => {
  it('has a row per membership, with the time of the assignment', () =>
    given(assigned(5, 'links', 1), assigned(5, 'qr', 1), assigned(6, 'links', 1)).thenRows(
      'channel_items',
      item(5, 'links', 1, 1),
      item(5, 'qr', 1, 2),
      item(6, 'links', 1, 3),
    ))
  it('has no row once the item is taken out, and a new one when it is assigned again', () => {
    given(assigned(5, 'links', 1), removed(5, 'links', 1)).thenRows('channel_items')
    given(assigned(5, 'links', 1), removed(5, 'links', 1), assigned(5, 'links', 1)).thenRows(
      'channel_items',
      item(5, 'links', 1, 3),
    )
  })
  it('keeps the row when the channel or the item is deleted', () =>
    given(created(), assigned(5, 'bio', 1), deleted).thenRows('channel_items', item(5, 'bio', 1, 2)))
})
