import type { Logger } from 'pino'
import type { Ordinals } from '../../events/ordinals.ts'
import { createIncident } from '../../lib/incident.ts'
import type { Standstill } from './standstill.ts'

/** What is not done meanwhile, as `/readyz` says it. */
export const late = 'new events do not have the time at which they are stored'
const lines = {
  begins: 'the newest event lies in the future: a clock was ahead, and each new event has its time until then',
  goesOn: 'the newest event lies in the future: each new event has its time until then',
  ends: 'new events have the time at which they are stored again',
}
/** ms that clocks of machines may differ */
const tolerance = 60_000

/**
 * Returns a look at the clock of the log, which never goes back: an event that a clock ahead has given its time keeps
 * it there until that time has come, and nothing else can end that. Takes the time of PostgreSQL.
 */
export const watchLogClock = (
  { head, timeOf }: Pick<Ordinals, 'head' | 'timeOf'>,
  job: Pick<Standstill, 'failed' | 'worked'>,
  log: Pick<Logger, 'warn' | 'error'>,
) => {
  const incident = createIncident({ log, level: 'error', lines, every: 3_600_000 })
  return async (now: Date): Promise<void> => {
    const newest = await timeOf((await head()) - 1)
    const ahead = newest === undefined ? 0 : Date.parse(newest) - now.getTime()
    if (!(ahead > tolerance)) {
      job.worked()
      return incident.ends()
    }
    const details = { newest, aheadSeconds: Math.round(ahead / 1000) }
    job.failed(
      new Error(
        `the newest event has ${newest}, which was ${details.aheadSeconds} s ahead at the last look, and each new event has its time until then`,
      ),
    )
    incident.begins(details)
    incident.goesOn(details)
  }
}
