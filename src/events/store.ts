import { Unavailable } from '../lib/unavailable.ts'
import type { New, Recorded } from './event.ts'
import type { DomainEvent } from './index.ts'

/** The revision of the last event the writer has seen in the stream. There is no "any": it would store a retry twice. */
export type ExpectedRevision = bigint | 'no_stream'

export interface Write {
  readonly stream: string
  readonly expected: ExpectedRevision
  readonly events: readonly New<DomainEvent>[]
}

export type Appended =
  /** `position` is that of the last event of the last write. */
  | { readonly ok: true; readonly position: bigint }
  | { readonly ok: false; readonly stream: string; readonly actual: ExpectedRevision }

/** Which events a subscription gets: the clicks (`LinkClicked`), all the others, or both. */
export type Filter = 'clicks' | 'domain' | 'all'

/** The log could not be reached, or did not answer in time. What was asked may have happened: ask again with the same event ids. */
export class StoreUnavailable extends Unavailable {
  override readonly name = 'StoreUnavailable'
}

/** The most that one append may hold, in bytes of JSON: EventStoreDB's own limit, held on every engine. */
export const appendLimit = 1024 * 1024
/** The error of an append over `appendLimit`. */
export const appendTooLarge = (cause?: unknown) =>
  new RangeError(`an append holds at most ${appendLimit} bytes`, { cause })

/**
 * The event log. Revisions count from 0n within a stream; positions grow across the whole log.
 *
 * A write is stored at its expected revision or not at all. A write whose event ids already stand there is a retry,
 * and answers its first outcome.
 */
export interface EventStore {
  /** Identity of this log, from its `LogOpened`. */
  readonly logId: string
  /**
   * Stores the writes in order, each stream at most once. Increasing positions are promised by every engine; PostgreSQL also
   * stores all or none, at gapless positions. Throws `StoreUnavailable`, and RangeError over `appendLimit`.
   */
  readonly append: (writes: readonly Write[]) => Promise<Appended>
  readonly read: (stream: string, from?: bigint) => AsyncIterable<Recorded<DomainEvent>>
  readonly last: (stream: string) => Promise<Recorded<DomainEvent> | undefined>
  /** Non-empty batches of what stands after the position, then of what is appended; ends when the signal aborts. */
  readonly subscribe: (options: {
    readonly after: bigint
    readonly filter: Filter
    readonly limit: number
    readonly signal: AbortSignal
  }) => AsyncIterable<readonly Recorded<DomainEvent>[]>
  /** Position of the newest event that passes the filter, 0n in an empty log. */
  readonly head: (filter: Filter) => Promise<bigint>
  /** Id of the event at this position, for a reader who wants to know that the log is still the one it has read. */
  readonly idAt: (position: bigint) => Promise<string | undefined>
  readonly close: () => Promise<void>
}

interface ToHead {
  readonly after: bigint
  readonly filter: Filter
  /** events in one batch at most */
  readonly limit: number
  /** where to stop; by default the head of the log when reading begins */
  readonly head?: bigint
  /** ends reading early */
  readonly signal?: AbortSignal
}

/** Batches of the events after a position, up to the head of the log. */
export const readToHead = async function* (
  store: Pick<EventStore, 'head' | 'subscribe'>,
  { after, filter, limit, ...range }: ToHead,
): AsyncGenerator<readonly Recorded<DomainEvent>[]> {
  const head = range.head ?? (await store.head(filter))
  if (head <= after) return
  const reading = new AbortController()
  const signal = range.signal ? AbortSignal.any([range.signal, reading.signal]) : reading.signal
  try {
    for await (const events of store.subscribe({ after, filter, limit, signal })) {
      yield events
      if (events.at(-1)!.position >= head) return
    }
  } finally {
    reading.abort()
  }
}
