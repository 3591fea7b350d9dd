import { randomUUID } from 'node:crypto'
import { createSignal, type Signal } from '../../lib/async/signal.ts'
import type { SeqByPartition } from '../entry.ts'
import type { Log } from '../report.ts'
import type { Visit } from '../visit.ts'
import { createBacklog } from './backlog.ts'
import { earlierSpools, type RelayedSpool } from './earlier.ts'
import { createJournal } from './journal.ts'
import type { Quarantine } from './quarantine.ts'
import { type FoundSpool, recover, type Recovered } from './recover.ts'
import { createRenewal } from './renewal.ts'
import type { Route } from './segment.ts'
import { disk, type Io } from './file.ts'
import type { SpoolFiles } from './source.ts'
import { createSyncer } from './syncer.ts'
import { hasMore, tail } from './tail.ts'
import { createTally } from './tally.ts'
import { createWriter } from './writer.ts'

/**
 * The local half of the click log: it stores every answered visit before the answer leaves, until the visit is
 * recorded.
 */
export interface Spool extends RelayedSpool {
  /** spools that earlier processes left in the folder, for a thread that relays them */
  readonly found: Pick<Recovered, 'spools' | 'tallies'>
  readonly files: () => SpoolFiles
  /** notified after each attempt to sync, when segments are released, and when the spool is closed */
  readonly synced: Signal
  /** Called when another thread has found a damaged part. */
  readonly damaged: Quarantine['copy']
  /** Called with the bytes of earlier spools that another thread has left. */
  readonly earlierHave: (bytes: number) => void
  /**
   * Adds a visit. Resolves when the kernel has it (a killed process loses nothing), or at once when the disk refuses:
   * then it waits in memory, and what does not fit there is dropped. Both are counted on disk first. With
   * `mustBeWritten` it is refused instead, and the result is false. Never rejects.
   */
  readonly add: (visit: Visit, mustBeWritten?: boolean) => Promise<boolean>
  /** Allocates the file that counts visits while the disk is full, unless it exists. Returns whether it exists. */
  readonly prepare: () => Promise<boolean>
  /** Writes and syncs what is waiting, then closes. */
  readonly close: () => Promise<void>
}

export interface SpoolOptions {
  readonly dir: string
  readonly route: Route
  /** id of the event log that the visits belong to */
  readonly logId?: string | undefined
  readonly log: Log
  /** size at which a new segment begins */
  readonly segmentBytes?: number
  readonly syncMs?: number
  /** how many visits wait in memory while the disk refuses to write */
  readonly backlogVisits?: number
  readonly maxBytes?: number
  /** ms between attempts to write or sync while the disk fails */
  readonly retryMs?: number
  /** ms after which the newest segment is replaced when entries of it are recorded */
  readonly renewMs?: number
  readonly io?: Io
}

const isEmpty = ({ last }: FoundSpool): boolean => last.every((seq) => seq === 0)

const findEarlier = async (dir: string, log: Log) => {
  const found = await recover(dir, log)
  // a process without the role relay leaves an empty one at each start
  const empty = found.spools.filter(isEmpty)
  for (const spool of earlierSpools({ ...found, spools: empty, tallies: [] })) await spool.remove()
  const left = { spools: found.spools.filter((one) => !empty.includes(one)), tallies: found.tallies }
  const earlier = earlierSpools({ ...found, ...left })
  let bytes = () => earlier.reduce((sum, { stats }) => sum + stats().bytes, 0)
  return {
    ...found,
    found: left,
    earlier,
    otherBytes: () => bytes(),
    earlierHave: (now: number) => (bytes = () => now),
  }
}

/**
 * Begins a spool in a folder: one write per turn of the event loop, one sync per `syncMs`. It has a new id and counts
 * from 1 even in a folder with segments: a copied or restored folder would otherwise reuse numbers that are recorded
 * already.
 */
export const openSpool = async ({
  dir,
  route,
  logId,
  log,
  segmentBytes = 16 * 1024 ** 2,
  syncMs = 100,
  backlogVisits = 10_000,
  maxBytes = 4 * 1024 ** 3,
  retryMs = 1000,
  renewMs = 10_000,
  io = disk,
}: SpoolOptions): Promise<Spool> => {
  const { number, quarantine, otherBytes, ...left } = await findEarlier(dir, log)
  const id = randomUUID()
  // the newest segment is not released at once: it must leave room for others
  const limits = { maxBytes, segmentBytes: Math.min(segmentBytes, maxBytes / 4) }
  const journal = createJournal({ dir, spool: id, logId, route, io, number, otherBytes, ...limits })
  const tally = createTally({ dir, io, log, route, logId, of: id, capacity: backlogVisits })
  const backlog = createBacklog({ capacity: backlogVisits, journal, tally })
  const synced = createSignal()
  const syncer = createSyncer({ journal, tally, dir, log, syncMs, retryMs, onSynced: synced.notify })
  const writer = createWriter({ backlog, tally, dir, log, retryMs, onWritten: syncer.schedule })
  const release = (upTo: SeqByPartition) => journal.release(upTo).finally(synced.notify)
  const renewal = createRenewal({ journal: { ...journal, release }, dir, log, renewMs, onRenewed: syncer.schedule })
  let isClosed = false

  const waitForSync = async (signal: AbortSignal) => !isClosed && hasMore(synced, signal)
  await tally.allocate()
  writer.write() // begins the first segment
  await syncer.sync()

  return {
    id,
    isNew: true,
    ...{ earlier: left.earlier, earlierHave: left.earlierHave, found: left.found },
    add: writer.add,
    read: (after, limit, signal) => tail({ segments: journal.segments, quarantine, waitForSync }, after, limit, signal),
    release: renewal.release,
    prepare: tally.allocate,
    stats: () => ({
      ...{ bytes: journal.bytes() + otherBytes(), waiting: backlog.size(), quarantined: quarantine.count() },
      ...{ refused: writer.refused() ?? syncer.refused(), dropped: tally.droppedInAll() },
      ...{ lastSeq: journal.lastSeq(), releasedUpTo: journal.releasedUpTo() },
    }),
    files: () => ({ segments: journal.segments, isClosed }),
    synced,
    damaged: quarantine.copy,
    close: async () => {
      renewal.stop()
      writer.close()
      await syncer.stop()
      journal.close()
      tally.close(journal.entries())
      isClosed = true
      synced.notify()
    },
    remove: journal.remove,
  }
}
