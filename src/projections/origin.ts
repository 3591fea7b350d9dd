import type { Knex } from 'knex'
import type { EventStore } from '../events/store.ts'
import { type Checkpoint, checkpoints, origin as table } from './tables.ts'

/** What the tables are filled from. A copy of a log has the id of its source, but each engine counts positions in its own way. */
export type Engine = 'postgres' | 'eventstoredb'

interface Origin {
  readonly engine: Engine
  readonly log_id: string
}

/** Returns whether the event that a checkpoint names is at another position in this log, or nowhere. */
const isMoved = async (store: Pick<EventStore, 'idAt'>, live: readonly Checkpoint[]) => {
  const last = new Map(live.flatMap(({ position, event_id: id }) => (id === null ? [] : [[position, id] as const])))
  for (const [position, id] of last) if ((await store.idAt(BigInt(position))) !== id) return true
  return false
}

/**
 * Lets the projector fill new tables when the live ones were filled from another log or on another engine: nothing is read from a position
 * of theirs. Tables that are ahead of a restored PostgreSQL halt instead, because the log may have lost events. Returns whether new tables
 * are needed.
 */
export const leaveForeignTables = async (
  db: Knex,
  store: Pick<EventStore, 'idAt' | 'logId'>,
  engine: Engine,
): Promise<boolean> => {
  const { logId } = store
  const [origin] = await db<Origin>(table).select()
  const live = await db<Checkpoint>(checkpoints).where({ live: true })
  const isForeign =
    (origin !== undefined && (origin.engine !== engine || origin.log_id !== logId)) ||
    live.some(({ log_id }) => log_id !== logId) ||
    (engine === 'eventstoredb' && (await isMoved(store, live)))
  if (!isForeign && origin) return false
  await db.transaction(async (tx) => {
    await tx.raw(`lock table ${checkpoints} in exclusive mode`)
    const own = { engine, log_id: logId }
    // of several processes that start, the first has done it
    const [now] = await tx<Origin>(table).select()
    if (isForeign && JSON.stringify(now) === JSON.stringify(origin))
      for (const { projection, version, generation } of live)
        await tx<Checkpoint>(checkpoints).where({ projection, version, generation }).update({ live: false })
    await tx(table).insert(own).onConflict('only_row').merge()
  })
  return isForeign && live.length > 0
}
