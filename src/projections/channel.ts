import { ownedHandlers, ownedTables } from './owned.ts'
import { type Projection, put } from './projection.ts'

const { created, updated, deleted } = ownedHandlers('channels')

/**
 * Channels and what was assigned to them. A membership's row outlives both of its sides; the queries show it while both live,
 * so that ten thousand things leave a deleted channel as fast as one.
 */
export const channels: Projection = {
  name: 'channels',
  version: 1,
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
      create index on ${t} (channel, position)`,
  },
  on: {
    ChannelCreated: created,
    ChannelUpdated: updated,
    ChannelDeleted: deleted,
    ItemAssignedToChannel: ({ data: { channel, item }, at, position }) => [
      put('channel_items', { channel, kind: item.kind, item: item.id }, { assigned: at, position }),
    ],
  },
}
