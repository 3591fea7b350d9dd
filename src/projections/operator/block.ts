import type { Recorded } from '../../events/event.ts'
import type { Event } from '../../events/index.ts'
import { parseStreamId } from '../../events/streams.ts'
import { type HandledProjection, put } from '../engine/projection.ts'

const row = ({ stream, data, metadata, at, position }: Recorded<Event<'AddressBlocked' | 'AddressUnblocked'>>) => {
  const { kind, value } = data
  const { reason = null, addresses = [] } = 'reason' in data ? data : {}
  const { id } = parseStreamId(stream)
  return put(
    'blocks',
    { id },
    {
      kind,
      value,
      reason,
      addresses,
      operator: metadata.actor.name ?? '',
      changed: at,
      position,
    },
  )
}

/**
 * What the operator has blocked. The row of something that was unblocked stays, with no reason: processes that cached
 * it learn of the change.
 */
export const blocks: HandledProjection = {
  name: 'blocks',
  version: 2,
  filter: 'domain',
  tables: {
    blocks: (t) => `
      create table ${t} (
        id text primary key, kind text not null, value text not null, reason text, addresses text[] not null,
        operator text not null, changed timestamptz not null, position bigint not null);
      create index on ${t} (position)`,
  },
  on: {
    AddressBlocked: (event) => [row(event)],
    AddressUnblocked: (event) => [row(event)],
  },
}
