import type { Asker } from '../commands/statistics/asker.ts'
import { currentRules } from '../http/statistics/reclassify.ts'
import type { Claim } from '../commands/statistics/reclassify.ts'
import type { ReclassifyJobs } from '../http/statistics/background.ts'
import { openLocks } from '../postgres/listen.ts'
import { lockOfAccount, openReclassifyJobs, type ReclassifyJobStore } from '../postgres/jobs/reclassify.ts'
import { awaitStatistics } from '../queries/statistics/reclassifications.ts'
import { reclassification } from '../commands/statistics/reclassification.ts'
import { type ReclassifierOptions, startReclassifier } from './jobs/reclassify.ts'
import type { Ledger } from './log/ledger.ts'

/** One process carries out reclassifications at a time. */
const ofJobs = 7275473n
/** ms of a statement: all visits of an account may be read */
const timeout = 600_000

type Needed = Pick<Ledger, 'connection' | 'db' | 'handler' | 'instance' | 'pool' | 'store' | 'tables'>

/** Returns what claims an account. A job that waits, or is within the account, keeps all but jobs from it. */
const openClaims = (
  { connection, db, handler, instance, store }: Pick<Needed, 'connection' | 'db' | 'handler' | 'instance' | 'store'>,
  jobs: Pick<ReclassifyJobStore<Asker>, 'unfinished'>,
) => {
  const isMeant = async (account: number, made: string | null) =>
    made !== null && (await handler.load(reclassification, made)).state.account === account
  const isTaken = async (account: number) => {
    for (const one of await jobs.unfinished(account))
      if (Number(one.account) === account || (await isMeant(account, one.made))) return true
    return false
  }
  return async (account: number, by: 'job' | 'other'): Promise<Claim | undefined> => {
    const locks = await openLocks(connection, `${instance}-reclassifying`)
    const end = async () => {
      await locks.release().catch(() => {})
      await locks.close()
    }
    const key = lockOfAccount(account)
    const claim = async () => {
      if (!(await locks.acquire([key])).has(key) || (by === 'other' && (await isTaken(account)))) return undefined
      const head = await store.head('clicks')
      return { lost: locks.lost, caughtUp: (until: number) => awaitStatistics({ db }, head, until), end }
    }
    const claimed = await claim().catch(async (error: unknown) => {
      await end()
      throw error
    })
    if (!claimed) await end()
    return claimed
  }
}

/** Opens reclassifications in the background: what the API asks for, and what carries it out needs. */
export const openReclassifier = ({
  connection,
  db,
  handler,
  instance,
  pool,
  store,
  tables,
}: Needed): {
  readonly service: ReclassifyJobs
  readonly options: Omit<ReclassifierOptions, 'onProblem'>
} => {
  const jobs = openReclassifyJobs<Asker>(db)
  const claims = openClaims({ connection, db, handler, instance, store }, jobs)
  return {
    service: { ...jobs, claim: (account) => claims(account, 'other') },
    options: {
      jobs,
      claim: (account) => claims(account, 'job'),
      handler,
      rules: currentRules,
      openReader: () => {
        const reading = pool(1, timeout, 'reclassify')
        return { reader: { db: reading, table: tables.name }, close: () => reading.destroy() }
      },
      alone: async (work) => {
        const locks = await openLocks(connection, `${instance}-reclassify`)
        try {
          if ((await locks.acquire([ofJobs])).has(ofJobs)) await work(locks.lost)
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
