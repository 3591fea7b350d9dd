import type { SeqByPartition } from '../entry.ts'
import type { Segment, SpoolEntry } from './segment.ts'

/** The entries of a spool, for a relay. */
export interface SpoolSource {
  /** names this spool for ever; stored with its segments */
  readonly id: string
  /**
   * Yields the entries after the given sequence numbers, in order, in batches of at most `limit`, and only what has
   * been synced to disk. Waits for more until the signal aborts; ends after the last entry once the spool is closed.
   */
  readonly read: (after: SeqByPartition, limit: number, signal: AbortSignal) => AsyncIterable<readonly SpoolEntry[]>
  /** Deletes segments that hold nothing after these sequence numbers: everything up to them is recorded. */
  readonly release: (upTo: SeqByPartition) => Promise<void>
  readonly stats: () => SpoolStats
}

export interface SpoolStats {
  /** on disk, with the earlier spools of the folder */
  readonly bytes: number
  /** entries in memory that are not written yet */
  readonly waiting: number
  /** why the disk does not take what is to be written or synced; undefined while it does */
  readonly refused?: string | undefined
  /** visits that could not be kept, since the spool was opened */
  readonly dropped: number
  /** damaged parts and segments in quarantine */
  readonly quarantined: number
  /** the last sequence number of each partition */
  readonly lastSeq: readonly number[]
  /** the last sequence number of each partition that is no longer on disk */
  readonly releasedUpTo: readonly number[]
}

/** The state of the files of a spool, sent by the writing thread to the relaying thread. */
export interface SpoolFiles {
  /** oldest first; how far they are written and synced */
  readonly segments: readonly Segment[]
  readonly isClosed: boolean
}
