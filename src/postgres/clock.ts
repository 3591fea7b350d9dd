import { type ClockTrail, followClock } from '../lib/sureclock.ts'
import { latestSigning } from './checkpoints.ts'
import type { Database } from './database.ts'

const table = 'state.clock'

/**
 * Looks at the clock of the database, and stores what follows for whether it is trusted. The first look compares it
 * with the latest signing of a checkpoint. Of processes that look at once, each sees what the one before has stored.
 */
export const lookAtClock = (db: Database): Promise<ClockTrail> =>
  db.transaction(async (tx) => {
    const first = (await latestSigning(tx)) ?? tx.raw('clock_timestamp()')
    await tx(table).insert({ seen_at: first, sure_from: first }).onConflict('single').ignore()
    const [row] = await tx<{ seen_at: Date; sure_from: Date }>(table).forUpdate()
    const { rows } = await tx.raw<{ rows: readonly { now: Date }[] }>('select clock_timestamp() as now')
    const trail = followClock({ seen: row!.seen_at, sureFrom: row!.sure_from }, rows[0]!.now)
    await tx(table).update({ seen_at: trail.seen, sure_from: trail.sureFrom })
    return trail
  })
