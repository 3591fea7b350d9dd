import { createSignal } from '../../lib/signal.ts'
import type { SeqByPartition } from '../entry.ts'
import type { Log } from '../report.ts'
import type { Visit } from '../visit.ts'
import { createBacklog } from './backlog.ts'
import { createJournal } from './journal.ts'
import { recover } from './recover.ts'
import type { Route, SpoolEntry } from './segment.ts'
import { disk, type Io } from './segmentfile.ts'
import { createSyncer } from './syncer.ts'
import { tail } from './tail.ts'
import { createWriter } from './writer.ts'

/** The local half of the click log: every answered visit is in it before its answer leaves, and stays until it is recorded. */
export interface Spool {
  /** names this spool for ever; stored with its segments */
  readonly id: string
  /**
   * Adds a visit. Resolves when the kernel has it (a killed process loses nothing), or at once when the disk refuses: then it
   * waits in memory, and what does not fit there is counted as dropped. Never rejects.
   */
  readonly add: (visit: Visit) => Promise<void>
  /**
   * Yields the entries after the given sequence numbers, in order, in batches of at most `limit`, and only what has been synced
   * to disk. Waits for more until the signal aborts; ends after the last entry once the spool is closed.
   */
  readonly read: (after: SeqByPartition, limit: number, signal: AbortSignal) => AsyncIterable<readonly SpoolEntry[]>
  /** Deletes segments that hold nothing after these sequence numbers: everything up to them is recorded. */
  readonly release: (upTo: SeqByPartition) => Promise<void>
  readonly stats: () => SpoolStats
  /** Writes and syncs what is waiting, then closes. */
  readonly close: () => Promise<void>
}

export interface SpoolStats {
  /** on disk */
  readonly bytes: number
  /** entries in memory that are not written yet */
  readonly waiting: number
  /** visits that could not be kept, since the spool was opened */
  readonly dropped: number
  /** damaged parts and segments in quarantine */
  readonly quarantined: number
  /** the last sequence number of each partition */
  readonly lastSeq: readonly number[]
  /** the last sequence number of each partition that is no longer on disk */
  readonly releasedUpTo: readonly number[]
}

export interface SpoolOptions {
  readonly dir: string
  readonly route: Route
  readonly log: Log
  /** size at which a new segment begins */
  readonly segmentBytes?: number
  readonly syncMs?: number
  /** how many visits wait in memory while the disk refuses to write */
  readonly backlogVisits?: number
  readonly maxBytes?: number
  /** ms between attempts to write or sync while the disk fails */
  readonly retryMs?: number
  readonly io?: Io
}

/** Opens the spool in a folder: one write per turn of the event loop, one sync per `syncMs`. */
export const openSpool = async ({
  dir,
  route,
  log,
  segmentBytes = 16 * 1024 ** 2,
  syncMs = 100,
  backlogVisits = 10_000,
  maxBytes = 4 * 1024 ** 3,
  retryMs = 1000,
  io = disk,
}: SpoolOptions): Promise<Spool> => {
  const recovered = await recover(dir, route, log)
  const { id, segments, quarantine } = recovered
  // The newest segment is never released: it must leave room for others.
  const limits = { maxBytes, segmentBytes: Math.min(segmentBytes, maxBytes / 4) }
  const journal = createJournal(recovered, { dir, route, io, ...limits })
  const backlog = createBacklog(backlogVisits)
  const synced = createSignal()
  const syncer = createSyncer({ journal, dir, log, syncMs, retryMs, onSynced: synced.notify })
  const writer = createWriter({ journal, backlog, dir, log, retryMs, onWritten: syncer.schedule })
  let isClosed = false

  const waitForSync = async (signal: AbortSignal): Promise<boolean> => {
    if (isClosed) return false
    await synced.after(synced.count(), signal)
    return !signal.aborted
  }

  writer.write() // begins the first segment, unless one is continued
  await syncer.sync()

  return {
    id,
    add: writer.add,
    read: (after, limit, signal) => tail({ segments, quarantine, waitForSync }, after, limit, signal),
    release: journal.release,
    stats: () => ({
      bytes: journal.bytes(),
      waiting: backlog.size(),
      dropped: backlog.dropped(),
      quarantined: quarantine.count(),
      lastSeq: journal.lastSeq(),
      releasedUpTo: journal.releasedUpTo(),
    }),
    close: async () => {
      writer.close()
      await syncer.stop()
      journal.close()
      isClosed = true
      synced.notify()
    },
  }
}
