import type { ChannelFields, ItemRef } from '../events/channel.ts'
import type { Event } from '../events/index.ts'
import type { Decider } from './decider.ts'
import { owned } from './owned.ts'

const initial: ChannelFields = { name: '', description: '', color: '#3b82f6', starred: false }

export const channel = owned(
  { created: 'ChannelCreated', updated: 'ChannelUpdated', deleted: 'ChannelDeleted' },
  { kind: 'channel', label: 'Channel', initial },
)

/** Channel and item are the caller's own, and live. */
export interface AssignItem {
  readonly type: 'AssignItem'
  readonly channel: number
  readonly item: ItemRef
}

/**
 * One thing's membership of one channel. It has a stream of its own, so that a channel of ten thousand things costs nothing to assign to;
 * it ends with either side, and needs no event for that.
 */
export const channelItem: Decider<AssignItem, 'out' | 'in', Event<'ItemAssignedToChannel'>> = {
  kind: 'channelitem',
  id: ({ channel, item }) => `${channel}-${item.kind}-${item.id}`,
  initialState: 'out',
  decide: ({ channel, item }, state) =>
    state === 'in' ? [] : [{ type: 'ItemAssignedToChannel', data: { channel, item } }],
  evolve: () => 'in',
}
