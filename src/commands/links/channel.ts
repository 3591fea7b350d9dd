import type { ChannelFields, ItemRef } from '../../events/links/channel.ts'
import type { Event } from '../../events/index.ts'
import type { Decider } from '../decider.ts'
import { owned } from '../owned/owned.ts'

const initial: ChannelFields = { name: '', description: '', color: '#3b82f6', starred: false }

export const channel = owned(
  { created: 'ChannelCreated', updated: 'ChannelUpdated', deleted: 'ChannelDeleted', restored: 'ChannelRestored' },
  { kind: 'channel', version: 3, initial },
)

/** The caller has checked that channel and item exist and belong to the same account. */
export interface ItemCommand {
  readonly type: 'AssignItem' | 'RemoveItem'
  readonly channel: number
  readonly item: ItemRef
}

/** Returns the id of the stream of an item's membership in a channel. */
export const membershipId = (channel: number, { kind, id }: ItemRef) => `${channel}-${kind}-${id}`

/**
 * The membership of an item in a channel. It has a stream of its own, so that assigning to a channel with 10,000 items
 * costs no more than to an empty one. It ends without an event when the channel or the item is deleted.
 */
export const channelItem: Decider<
  ItemCommand,
  'out' | 'in',
  Event<'ItemAssignedToChannel' | 'ItemRemovedFromChannel'>
> = {
  kind: 'channelitem',
  version: 1,
  id: ({ channel, item }) => membershipId(channel, item),
  initialState: 'out',
  decide: ({ type, channel, item }, state) => {
    if (type === 'AssignItem') return state === 'in' ? [] : [{ type: 'ItemAssignedToChannel', data: { channel, item } }]
    return state === 'out' ? [] : [{ type: 'ItemRemovedFromChannel', data: { channel, item } }]
  },
  evolve: (_, { type }) => (type === 'ItemAssignedToChannel' ? 'in' : 'out'),
}
