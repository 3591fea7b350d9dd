import { ownedHandlers, ownedTables } from '../owned.ts'
import { type Projection, put, remove } from '../engine/projection.ts'

const { created, updated, deleted, restored, erased } = ownedHandlers('channels')

/**
 * Channels and their items. The row of a membership stays when the channel or the item is deleted; queries show it only
 * while both exist, so that deleting a channel with 10,000 items is as fast as deleting an empty one.
 */
export const channels: Projection = {
  name: 'channels',
  version: 5,
  filter: 'domain',
  tables: {
    ...ownedTables(
      'channels',
      'name text not null, description text not null, color text not null, starred boolean not null',
    ),
    channel_items: (t) => `
      create table ${t} (
        channel bigint, kind text, item bigint, assigned timestamptz not null, position bigint not null,
        primary key (channel, kind, item));
      create index on ${t} (channel, position);
      create index on ${t} (item, kind)`,
  },
  on: {
    ChannelCreated: created,
    ChannelUpdated: updated,
    ChannelDeleted: deleted,
    ChannelRestored: restored,
    AccountErased: erased,
    ItemAssignedToChannel: ({ data: { channel, item }, at, position }) => [
      put('channel_items', { channel, kind: item.kind, item: item.id }, { assigned: at, position }),
    ],
    ItemRemovedFromChannel: ({ data: { channel, item } }) => [
      remove('channel_items', { channel, kind: item.kind, item: item.id }),
    ],
  },
}
