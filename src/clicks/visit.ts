import type { Classified, Taken } from '../events/click.ts'

/** A visit as it was answered, before classification. It lives in the local spool only: address and user agent go no further. */
export interface Visit {
  /** ISO 8601, UTC */
  readonly at: string
  readonly account: number
  /** 0: none, a QR code was scanned */
  readonly link: number
  /** revision of the stream that decided, the link's or the QR code's */
  readonly revision: number
  readonly destination: string
  /** which rule chose the destination */
  readonly rule: string
  readonly source: { readonly kind: 'link' | 'qr' | 'rotator'; readonly id: number }
  readonly address: string
  readonly agent: string
  readonly referrer: string
  readonly languages: string
  /** the request said it only fetched ahead (`Sec-Purpose: prefetch`) */
  readonly prefetch: boolean
}

/** Clicks that were answered but could not be kept: how many, and between which times (ISO 8601, UTC). */
export interface Dropped {
  readonly count: number
  readonly from: string
  readonly to: string
}

/** What a spool hands on. `seq` is contiguous from 1 within (spool, partition); a hole in it is a loss. */
export type SpoolEntry = { readonly partition: number; readonly seq: number } & (
  { readonly visit: Visit } | { readonly dropped: Dropped }
)

/**
 * An entry on its way to the log, with nothing personal in it. `offset` is where it stands in its Kafka partition, when it came
 * that way; `rules` the version of the classification.
 */
export type ClickEntry = { readonly spool: string; readonly seq: number; readonly offset?: number } & (
  { readonly click: Classified; readonly rules: number } | { readonly dropped: Dropped }
)
export type Partitioned = Readonly<Record<number, readonly ClickEntry[]>>

/** Where a relay takes what is in a spool: straight into the log, or to Kafka. */
export interface ClickSink {
  /** The last sequence number of this spool, by partition, that need not be taken there again. */
  readonly reached: (spool: string) => Promise<Readonly<Record<number, number>>>
  /** Resolves when all of them are safe there. After a failure they are taken there again, those that had arrived too. */
  readonly take: (entries: Partitioned) => Promise<void>
}

/** What the log knows of a partition of the topic. */
export interface ClickRecord {
  /** identity of the event log: a topic may carry the clicks of several */
  readonly logId: string
  readonly partitions: number
  readonly taken: (partition: number) => Promise<Taken | undefined>
  /** Records what is new of these entries. Throws `OtherTopic`. */
  readonly record: (partition: number, entries: readonly ClickEntry[]) => Promise<void>
}

/** The topic is not the one that was recorded from so far: truncated, or made anew under the old name. */
export class OtherTopic extends Error {}

/** The click log's local half: every answered visit is in it before its answer leaves, and stays until it is recorded. */
export interface Spool {
  /** names this spool for ever; made with its folder */
  readonly id: string
  /**
   * Takes a visit. Resolves when the kernel has it (a killed process loses nothing), or at once when the disk refuses:
   * then it waits in memory, and what does not fit there is counted. Never rejects.
   */
  readonly add: (visit: Visit) => Promise<void>
  /**
   * The entries after the given sequence numbers (by partition; absent = 0), in order, only what has been synced to the disk,
   * in batches of at most `limit`; waits for more until the signal aborts, and ends after the last entry when the spool is closed.
   */
  readonly read: (
    after: Readonly<Record<number, number>>,
    limit: number,
    signal: AbortSignal,
  ) => AsyncIterable<readonly SpoolEntry[]>
  /** Everything up to these sequence numbers (by partition) is recorded: segments that hold nothing newer are deleted. */
  readonly release: (upTo: Readonly<Record<number, number>>) => Promise<void>
  readonly stats: () => {
    /** on the disk */
    readonly bytes: number
    /** entries in memory that are not written */
    readonly waiting: number
    /** visits that were not kept, since the spool was opened */
    readonly dropped: number
    /** damaged places found, until somebody deletes the quarantine */
    readonly quarantined: number
    /** the last sequence number of each partition, and the last one that is kept no longer */
    readonly last: readonly number[]
    readonly gone: readonly number[]
  }
  /** Writes and syncs what waits, then closes. */
  readonly close: () => Promise<void>
}
