import type { Knex } from 'knex'
import type { EventStore } from '../../events/store.ts'
import { type Checkpoint, checkpoints, origin as table } from './tables.ts'

/**
 * The engine of the log that fills the tables. A copy of a log has the id of its source, but each engine counts
 * positions in its own way.
 */
export type Engine = 'postgres' | 'eventstoredb'

interface Origin {
  readonly engine: Engine
  readonly log_id: string
}

/** Returns whether the event of a checkpoint has another position in this log, or none. */
const isMoved = async (store: Pick<EventStore, 'idAt'>, live: readonly Checkpoint[]) => {
  const last = new Map(live.flatMap(({ position, event_id: id }) => (id === null ? [] : [[position, id] as const])))
  for (const [position, id] of last) if ((await store.idAt(BigInt(position))) !== id) return true
  return false
}

const findOrigin = async (db: Knex) => (await db<Origin>(table).select())[0]
const loadLive = (db: Knex) => db<Checkpoint>(checkpoints).where({ live: true })

/**
 * Returns the id of the log that filled all tables on this engine; undefined when their origin differs, or there are
 * none.
 */
export const logOfTables = async (db: Knex, engine: Engine): Promise<string | undefined> => {
  const [origin, live] = [await findOrigin(db), await loadLive(db)]
  if (origin?.engine !== engine || live.length === 0) return undefined
  return live.every(({ log_id }) => log_id === origin.log_id) ? origin.log_id : undefined
}

/** Returns whether tables were ever filled from a log, on any engine. */
export const wereFilled = async (db: Knex): Promise<boolean> => (await findOrigin(db)) !== undefined

type Log = Pick<EventStore, 'idAt' | 'logId'>

const isFilledFromOther = async (store: Log, engine: Engine, origin: Origin | undefined, live: readonly Checkpoint[]) =>
  (origin !== undefined && (origin.engine !== engine || origin.log_id !== store.logId)) ||
  live.some(({ log_id }) => log_id !== store.logId) ||
  (engine === 'eventstoredb' && (await isMoved(store, live)))

/** Returns whether the tables were filled from another log, or on another engine. Changes nothing. */
export const haveForeignTables = async (db: Knex, store: Log, engine: Engine): Promise<boolean> =>
  isFilledFromOther(store, engine, await findOrigin(db), await loadLive(db))

/**
 * Lets the projector fill new tables when the live ones were filled from another log or on another engine: their
 * positions have no meaning here. Tables that are ahead of a restored PostgreSQL halt instead, because the log may have
 * lost events. Returns whether new tables are needed.
 */
export const leaveForeignTables = async (db: Knex, store: Log, engine: Engine): Promise<boolean> => {
  const { logId } = store
  const [origin, live] = [await findOrigin(db), await loadLive(db)]
  const isForeign = await isFilledFromOther(store, engine, origin, live)
  if (!isForeign && origin) return false
  await db.transaction(async (tx) => {
    await tx.raw(`lock table ${checkpoints} in exclusive mode`)
    const own = { engine, log_id: logId }
    // another process that starts at the same time may have done it
    const now = await findOrigin(tx)
    if (isForeign && JSON.stringify(now) === JSON.stringify(origin))
      for (const { projection, version, generation } of live)
        await tx<Checkpoint>(checkpoints).where({ projection, version, generation }).update({ live: false })
    await tx(table).insert(own).onConflict('only_row').merge()
  })
  return isForeign && live.length > 0
}
