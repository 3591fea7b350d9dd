import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import type { Log } from '../report.ts'
import { countAccount, type DroppedVisits, type Visit } from '../visit.ts'
import type { Io } from './file.ts'
import type { Route } from './segment.ts'
import {
  accountsAt,
  accountSize,
  droppedIn,
  emptyNumbers,
  entryAt,
  fixedFile,
  fromAt,
  tallyName,
  waitingAt,
  waitingSize,
} from './fixedfile.ts'

/**
 * What of a spool is in memory only, counted in a file of fixed size: it is allocated while the disk has room, and a
 * full disk takes what is written in its place. From there the next start knows what a killed process has lost.
 */
export interface Tally {
  /** Allocates the file, unless it is there. Returns whether it is. A failure is logged. */
  readonly allocate: () => Promise<boolean>
  /** Counts a visit that waits in memory to become this entry of the journal, of all partitions. */
  readonly wait: (entry: number, visit: Visit) => void
  /** Counts a visit that finds no room in memory. */
  readonly drop: (visit: Visit) => void
  /** The dropped visits that are not in the journal yet. */
  readonly dropped: () => DroppedVisits | undefined
  readonly hasDropped: () => boolean
  /** Notes which entry of the journal has the dropped visits from then on; 0 for none. */
  readonly dropsAt: (entry: number) => void
  /** Begins again: the journal has everything. */
  readonly clear: () => void
  /** visits that found no room, since the start */
  readonly droppedInAll: () => number
  readonly sync: () => Promise<void>
  /** Closes the file, and deletes it unless something beyond this entry of the journal is counted in it. */
  readonly close: (entries: number) => void
}

export interface TallyOptions {
  readonly dir: string
  readonly io: Io
  readonly log: Log
  readonly route: Route
  readonly logId: string | undefined
  /** id of the spool that it counts for */
  readonly of: string
  /** visits that can wait in memory */
  readonly capacity: number
}

export const createTally = ({ dir, io, log, route, logId, of, capacity }: TallyOptions): Tally => {
  const numbers = emptyNumbers(capacity)
  const header = { spool: randomUUID(), logId, route, last: [0] }
  const file = fixedFile({ path: join(dir, tallyName(of)), io, log, header, numbers })
  /** where the row of an account is */
  const rows = new Map<number, number>()
  const byAccount = new Map<number, number>()
  let isEmpty = true
  let droppedInAll = 0

  const put = (at: number, ...values: readonly number[]): void => {
    numbers.set(values, at)
    file.write(at, values.length)
    isEmpty = false
  }

  return {
    allocate: file.allocate,
    wait: (entry, { account, at }) => put(waitingAt + (entry % capacity) * waitingSize, entry, account, Date.parse(at)),

    drop: ({ account, at }) => {
      droppedInAll += 1
      const time = Date.parse(at)
      const named = countAccount(byAccount, account)
      const row = rows.get(named) ?? accountsAt + rows.size * accountSize
      rows.set(named, row)
      put(fromAt, numbers[fromAt] || time, time)
      put(row, named, byAccount.get(named) ?? 0)
    },

    dropped: () => droppedIn(numbers),
    hasDropped: () => rows.size > 0,
    dropsAt: (entry) => put(entryAt, entry),

    clear: () => {
      if (isEmpty) return
      rows.clear()
      byAccount.clear()
      file.clear()
      isEmpty = true
    },

    droppedInAll: () => droppedInAll,
    sync: file.sync,
    close: file.close,
  }
}
