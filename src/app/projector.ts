import type { Filter } from '../events/store.ts'
import type { Database } from '../postgres/database.ts'
import { openLocks } from '../postgres/listen.ts'
import { projections } from '../projections/index.ts'
import { startProjector } from '../projections/run.ts'
import { type Checkpoint, checkpoints } from '../projections/tables.ts'
import type { Ledger } from './ledger.ts'

/** Projects the log into the read tables, unless another process does, and notifies the others. */
export const project = (
  { db, store, connection, instance, log, metrics, tables }: Ledger,
  onSeen: (filter: Filter, position: bigint) => Promise<void>,
) =>
  startProjector({
    db,
    store,
    projections,
    openLocks: () => openLocks(connection, instance),
    instance,
    log,
    onSeen,
    onLive: tables.refresh,
    onRestart: metrics.restarted,
  })

/** Returns the position up to which every table is projected, or 0n while one of them is being filled for the first time. */
export const projectedPosition = async (db: Database): Promise<bigint> => {
  const live = await db<Checkpoint>(checkpoints).where({ live: true })
  const positions = projections
    .filter(({ filter }) => filter === 'domain')
    .map(({ name, version }) => {
      const mine = live.filter((row) => row.projection === name && row.version === version)
      return mine.length === 0 ? 0n : least(mine.map(({ position }) => BigInt(position)))
    })
  return least(positions)
}
const least = (positions: readonly bigint[]) => positions.reduce((a, b) => (a < b ? a : b))
