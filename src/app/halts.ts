import type { Database } from '../postgres/database.ts'
import { haltsOf, loadHalts } from '../projections/halts.ts'
import { projections } from '../projections/index.ts'
import type { HaltedProjection } from '../projections/work.ts'

/** The halted projections, as the process that projects has recorded them. */
export interface HaltWatch {
  /** Returns at once, from what was read last. */
  readonly halted: () => readonly HaltedProjection[]
  readonly stop: () => void
}

/** Reads the halted projections once a second. While PostgreSQL does not answer, they stay as they were. */
export const watchHalts = (db: Database, interval = 1000): HaltWatch => {
  let halted: readonly HaltedProjection[] = []
  const read = async () => {
    const halts = haltsOf(await loadHalts(db), projections)
    halted = halts.map(({ projection, position, reason }) => ({ projection, position: BigInt(position), reason }))
  }
  const look = () => void read().catch(() => {})
  const timer = setInterval(look, interval).unref()
  look()
  return { halted: () => halted, stop: () => clearInterval(timer) }
}
