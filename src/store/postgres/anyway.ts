import { asStored } from '../../events/codec.ts'
import type { Database } from '../../postgres/database.ts'
import { firstOf, type StoreAnyway } from '../copy.ts'

/**
 * Returns what stores events in PostgreSQL at their revisions, which `log.append` refuses where they do not follow on
 * what the stream has: for a copy of a log that is so. Nothing else may write meanwhile.
 */
export const storeAnyway =
  (db: Database, onStored: (place: { readonly stream: string; readonly revision: bigint }) => void): StoreAnyway =>
  async (write) => {
    const { stream, events } = write
    const first = firstOf(write)
    await db.transaction(async (tx) => {
      // the lock and the clock are those of `log.append`
      await tx.raw('select pg_advisory_xact_lock(7275463)')
      for (const [i, event] of events.entries()) {
        const { data, metadata } = await asStored.encode(event, stream)
        await tx.raw(
          `insert into log.events (position, stream, revision, id, type, data, metadata, at)
           select last.position + 1, ?, ?::bigint, ?::uuid, ?, ?::json, ?::json, greatest(last.at, ?::timestamptz)
           from (select position, at from log.events order by position desc limit 1) last`,
          [stream, String(first + BigInt(i)), event.id, event.type, data, metadata, event.metadata.at],
        )
      }
    })
    onStored({ stream, revision: first })
  }
