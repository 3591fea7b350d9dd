import type { Knex } from 'knex'
import { loadLive } from '../engine/members.ts'
import { dropOldFacts, horizonOf, type Locked } from './retention.ts'
import { stats } from './stats.ts'
import { checkpoints, tableNames } from '../engine/tables.ts'

/**
 * Drops the facts of clicks from before the last `months` months; returns the names of the partitions that had them.
 */
export const dropOldClicks = async (db: Knex, months: number, now = new Date()): Promise<readonly string[]> => {
  const [live] = await loadLive(db, [stats])
  if (!live) return []
  const locked: Locked = (work) =>
    db.transaction(async (tx) => {
      // a long question about clicks must not hold up those that come after this
      await tx.raw(`set local lock_timeout = '2s'`)
      await tx.raw(`lock table ${checkpoints} in exclusive mode`)
      return work(tx)
    })
  const names = tableNames(stats, live.checkpoint.generation)
  return dropOldFacts({ locked, names, horizon: horizonOf(months, now), subjectsAtOnce: 500, pagesAtOnce: 1000 })
}
