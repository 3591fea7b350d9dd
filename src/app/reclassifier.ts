import type { Actor } from '../events/event.ts'
import { currentRules } from '../http/statistics/reclassify.ts'
import type { ReclassifyJobs } from '../http/statistics/background.ts'
import { openLocks } from '../postgres/listen.ts'
import { openReclassifyJobs } from '../postgres/reclassifyjobs.ts'
import { type ReclassifierOptions, startReclassifier } from './jobs/reclassify.ts'
import type { Ledger } from './log/ledger.ts'

/** One process carries out reclassifications at a time. */
const lock = 7275473n
/** ms of a statement: all visits of an account may be read */
const timeout = 600_000

type Needed = Pick<Ledger, 'connection' | 'db' | 'handler' | 'instance' | 'pool' | 'tables'>

/** Opens reclassifications in the background: what the API asks for, and what carries it out needs. */
export const openReclassifier = ({
  connection,
  db,
  handler,
  instance,
  pool,
  tables,
}: Needed): {
  readonly service: ReclassifyJobs
  readonly options: Omit<ReclassifierOptions, 'onProblem'>
} => {
  const jobs = openReclassifyJobs<Actor>(db)
  return {
    service: jobs,
    options: {
      jobs,
      handler,
      rules: currentRules,
      openReader: () => {
        const reading = pool(1, timeout, 'reclassify')
        return { reader: { db: reading, table: tables.name }, close: () => reading.destroy() }
      },
      alone: async (work) => {
        const locks = await openLocks(connection, `${instance}-reclassify`)
        try {
          if ((await locks.acquire([lock])).has(lock)) await work(locks.lost)
        } finally {
          await locks.close()
        }
      },
    },
  }
}

/** Starts to carry them out. */
export const startReclassifying = (ledger: Needed, problems: Pick<ReclassifierOptions, 'onProblem' | 'watching'>) => {
  const { service, options } = openReclassifier(ledger)
  return { service, close: startReclassifier({ ...options, ...problems }) }
}
