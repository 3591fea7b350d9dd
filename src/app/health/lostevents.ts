import type { Logger } from 'pino'
import type { EventStore } from '../../events/store.ts'
import { createIncident } from '../../lib/incident.ts'
import type { Checkpoint } from '../../projections/engine/tables.ts'

const lost =
  'the event log has lost events that this process has seen: its data was put back to an older copy. Restart all processes of the service, which then fill their read tables from this log, or give the log its newer data back'
const lines = { begins: lost, goesOn: lost, ends: 'the event log has all events again that this process has seen' }

/** An event that the read tables have. */
interface Seen {
  readonly position: bigint
  readonly id: string
}
type Live = Pick<Checkpoint, 'position' | 'event_id'>

const newer = (a: Seen | undefined, b: Seen) => (a && a.position >= b.position ? a : b)

/**
 * Notices when a log is put back to an older copy while the process runs: the newest event that the tables have, or had
 * at the last look, is not in it. On PostgreSQL, log and tables go back together.
 */
export const watchForLostEvents = (
  { idAt }: Pick<EventStore, 'idAt'>,
  log: Pick<Logger, 'warn' | 'error'>,
  every?: number,
) => {
  const incident = createIncident({ log, level: 'error', lines, every })
  let newest: Seen | undefined
  return {
    /** Looks for the event with the help of what the tables that are live have now. */
    look: async (live: readonly Live[]): Promise<void> => {
      const seen = live.flatMap(({ position, event_id: id }) =>
        id === null ? [] : [{ position: BigInt(position), id }],
      )
      // a log that goes on after it was put back has events that are newer, and still not those that it has lost
      if (!incident.isOpen()) newest = seen.reduce<Seen | undefined>(newer, newest)
      if (!newest) return
      const { position, id } = newest
      if ((await idAt(position)) === id) return incident.ends()
      const details = { position: position.toString(), event: id }
      incident.begins(details)
      incident.goesOn(details)
    },
    /** Returns what is wrong. */
    problem: () => (incident.isOpen() ? lost : undefined),
  }
}
