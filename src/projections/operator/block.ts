import type { Recorded } from '../../events/event.ts'
import type { Event } from '../../events/index.ts'
import { parseStreamId } from '../../events/streams.ts'
import { type HandledProjection, put } from '../engine/projection.ts'

const row = ({ stream, data, metadata, at, position }: Recorded<Event<'AddressBlocked' | 'AddressUnblocked'>>) => {
  const { kind, value } = data
  const reason = 'reason' in data ? data.reason : null
  const { id } = parseStreamId(stream)
  return put('blocks', { id }, { kind, value, reason, operator: metadata.actor.name ?? '', changed: at, position })
}

/**
 * What the operator has blocked. The row of something that was unblocked stays, with no reason: processes that cached
 * it learn of the change.
 */
export const blocks: HandledProjection = {
  name: 'blocks',
  version: 1,
  filter: 'domain',
  tables: {
    blocks: (t) => `
      create table ${t} (
        id text primary key, kind text not null, value text not null, reason text, operator text not null,
        changed timestamptz not null, position bigint not null);
      create index on ${t} (position)`,
  },
  on: {
    AddressBlocked: (event) => [row(event)],
    AddressUnblocked: (event) => [row(event)],
  },
}
