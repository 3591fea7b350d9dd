import type { Logger } from 'pino'
import type { Filter } from '../../events/store.ts'
import { createIncident, type IncidentLines } from '../../lib/incident.ts'
import type { LagWatch } from './lag.ts'

const linesOf: Readonly<Partial<Record<Filter, IncidentLines>>> = {
  domain: {
    begins: 'the read tables are behind the log: changes are stored, and cannot be read yet',
    goesOn: 'the read tables are still behind the log',
    ends: 'the read tables have caught up with the log',
  },
  clicks: {
    begins: 'the statistics are behind the log: clicks are stored, and not counted yet',
    goesOn: 'the statistics are still behind the log',
    ends: 'the statistics have caught up with the log',
  },
}

interface LagLogOptions {
  readonly log: Pick<Logger, 'warn' | 'error'>
  readonly lag: LagWatch['lag']
  /** seconds that changes may need to become visible */
  readonly maxLag: number
  /** whether there are tables: those that are filled for the first time are behind by design */
  readonly complete: () => boolean
  /** Returns why a subscription of this process fails. */
  readonly failure: (filter: Filter) => string | undefined
  /** ms between looks */
  readonly interval?: number
}

/** Logs when the read tables are too far behind, as far as this process knows. Returns what ends that. */
export const logLag = ({ log, lag, maxLag, complete, failure, interval = 1000 }: LagLogOptions): (() => void) => {
  const watched = Object.entries(linesOf).map(([filter, lines]) => ({
    filter: filter as Filter,
    incident: createIncident({ log, level: 'warn', lines }),
  }))
  const look = () => {
    for (const { filter, incident } of watched) {
      const known = lag(filter)
      // another process may know more
      if (!known) continue
      const { seconds, positions, idleSeconds } = known
      if (seconds <= maxLag || !complete()) {
        incident.ends()
        continue
      }
      const [behind, idle] = [seconds, idleSeconds].map(Math.round)
      const details = { behindSeconds: behind, idleSeconds: idle, positions, failure: failure(filter) }
      incident.begins(details)
      incident.goesOn(details)
    }
  }
  const timer = setInterval(look, interval).unref()
  return () => clearInterval(timer)
}
