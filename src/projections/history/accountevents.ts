import type { Knex } from 'knex'
import type { Recorded } from '../../events/event.ts'
import type { LogEvent } from '../../events/index.ts'
import { parseStreamId } from '../../events/streams.ts'
import { accountIndex, type AccountEntry, insertEntries } from './accountindex.ts'
import type { Projection, TableNames } from '../engine/projection.ts'

/** A claim of a name is no change of a resource, and its fence may be in the stream of another account's one. */
const isOwn = ({ stream, type }: Recorded<LogEvent>) => type !== 'ClaimFenced' && parseStreamId(stream).kind !== 'claim'

const entryOf = (event: Recorded<LogEvent>): readonly AccountEntry[] => {
  const { account } = event.metadata
  return account !== null && isOwn(event) ? [{ ...event, account }] : []
}

const write = (tx: Knex, names: TableNames, events: readonly Recorded<LogEvent>[]) =>
  insertEntries(tx, names('account_events'), events.flatMap(entryOf))

/**
 * Where the events of each account are in the log, without clicks. Those of a newer release are there too: they become
 * readable with an update.
 */
export const accountEvents: Projection = {
  name: 'accountevents',
  version: 2,
  filter: 'domain',
  indexedLast: ['account_events'],
  tables: { account_events: accountIndex },
  write,
  writeUnknown: write,
}
