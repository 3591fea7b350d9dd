import { Unavailable } from '../lib/unavailable.ts'
import type { New, Recorded } from './event.ts'
import type { DomainEvent, EventType, LogEvent } from './index.ts'
import type { RawText } from './rawtext.ts'

/**
 * The revision of the last event that the writer has seen in the stream. There is no "any", which would store a retry
 * twice.
 */
export type ExpectedRevision = bigint | 'no_stream'

export interface Write {
  readonly stream: string
  readonly expected: ExpectedRevision
  readonly events: readonly New<DomainEvent>[]
}

export type Appended =
  /** `position` is the position of the last event of the last write. */
  | { readonly ok: true; readonly position: bigint }
  | { readonly ok: false; readonly stream: string; readonly actual: ExpectedRevision }

/** Which events a subscription receives: visits and what changes statistics, all that is no visit, or both. */
export type Filter = 'clicks' | 'domain' | 'all'
/** The types of events that pass the filter `clicks` alone. They change statistics only, and in this order. */
export const clickTypes = [
  'LinkClicked',
  'ClicksReclassified',
  'ReclassificationUndone',
  'VisitsImported',
  'ImportedVisitsWithdrawn',
] as const satisfies readonly EventType[]
const onlyClicks: ReadonlySet<string> = new Set(clickTypes)
export const isClickType = (type: string): boolean => onlyClicks.has(type)
/** The types of events that pass the filter `clicks`: some change statistics and links, and pass both filters. */
export const countedTypes = [...clickTypes, 'ClicksImported'] as const satisfies readonly EventType[]
const passesClicks: ReadonlySet<string> = new Set(countedTypes)
export const isCountedType = (type: string): boolean => passesClicks.has(type)

/**
 * The log could not be reached or did not answer in time. An append may have been stored: retry it with the same event
 * ids.
 */
export class StoreUnavailable extends Unavailable {
  override readonly name: string = 'StoreUnavailable'
  override readonly part = 'log'
}

/** The log refuses this process, or its address is wrong: a retry cannot help until a setting is changed. */
export class StoreRefused extends StoreUnavailable {
  override readonly name = 'StoreRefused'
}

/**
 * No event of this log begins at the position from which it was to be read. The position is one of another log or
 * engine.
 */
export class NoEventThere extends Error {
  override readonly name = 'NoEventThere'
  constructor(position: bigint, cause?: unknown) {
    super(
      `no event begins at position ${position} of this log, so the read tables were filled from another one; run \`linkledger rebuild\``,
      { cause },
    )
  }
}

/** Maximum size of one append in bytes of JSON. It is EventStoreDB's limit, and applies to every engine. */
export const appendLimit = 1024 * 1024
/** An append is over `appendLimit`. */
export class AppendTooLarge extends RangeError {
  override readonly name = 'AppendTooLarge'
}
export const appendTooLarge = (cause?: unknown) =>
  new AppendTooLarge(`an append holds at most ${appendLimit} bytes`, { cause })

/** Bytes of JSON in one batch of a subscription at most; a larger event comes alone. */
export const batchBytes = 2 * 1024 * 1024

interface Subscription {
  readonly after: bigint
  readonly filter: Filter
  readonly limit: number
  /** Clicks that this release has written are not validated one by one. */
  readonly trusted?: boolean
  readonly signal: AbortSignal
}
export type Texts = (range: Subscription) => AsyncIterable<readonly RawText[]>

/**
 * The port of the event log. Revisions count from 0n within a stream; positions increase across the whole log.
 *
 * A write is stored at its expected revision or not at all. A write whose events are already stored there, under the
 * same ids, is a retry and returns its first outcome. Every method throws `StoreUnavailable` when the log cannot be
 * reached.
 */
export interface EventStore {
  /** Id of this log, from its `LogOpened` event. */
  readonly logId: string
  /** Whether all writes of an append are stored or none, also when the process is killed meanwhile. */
  readonly atomic: boolean
  /**
   * Stores the writes in order; each stream may occur once. Returns the first conflict, if any, as `ok: false`. On
   * every engine positions increase; on PostgreSQL they have no gaps. Throws `AppendTooLarge`.
   */
  readonly append: (writes: readonly Write[]) => Promise<Appended>
  /** The events of a stream from a revision on, at most `limit` of them; none when the stream does not exist. */
  readonly read: (stream: string, from?: bigint, limit?: number) => AsyncIterable<Recorded<LogEvent>>
  /** The last event of a stream. */
  readonly last: (stream: string) => Promise<Recorded<LogEvent> | undefined>
  /**
   * Non-empty batches of the events after a position, then of new events as they are appended: at most `limit` events
   * and `batchBytes` in one. Ends when the signal aborts. Throws `NoEventThere` when the engine refuses the position.
   */
  readonly subscribe: (range: Subscription) => AsyncIterable<readonly Recorded<LogEvent>[]>
  /**
   * The same batches with their JSON as text, as they are stored. For engines that have them so, and readers that parse
   * them in other threads.
   */
  readonly texts?: Texts
  /**
   * Position of the newest event that passes the filter, 0n in an empty log. Rejects when the signal aborts: a search
   * may take long.
   */
  readonly head: (filter: Filter, signal?: AbortSignal) => Promise<bigint>
  /** Id of the event at a position: by it, a reader recognises that this is still the log it has read. */
  readonly idAt: (position: bigint) => Promise<string | undefined>
  /** Returns at once what is wrong while the log does not answer. */
  readonly problem?: () => string | undefined
  readonly close: () => Promise<void>
}

/** What reads a log as it is stored: sealed, and in the shape of the release that wrote it. */
export type StoredLog = Pick<EventStore, 'logId' | 'read' | 'subscribe' | 'texts' | 'head' | 'idAt'>

interface ToHead {
  readonly after: bigint
  readonly filter: Filter
  /** events in one batch at most */
  readonly limit: number
  /** where to stop; by default the head of the log when reading begins */
  readonly head?: bigint
  /** ends reading early */
  readonly signal?: AbortSignal
  readonly trusted?: boolean
}

/** Batches of the events after a position, up to the head of the log. */
export const readToHead = async function* <E extends { readonly position: bigint } = Recorded<LogEvent>>(
  store: Pick<EventStore, 'head'> & { readonly subscribe: (range: Subscription) => AsyncIterable<readonly E[]> },
  { after, filter, limit, ...range }: ToHead,
): AsyncGenerator<readonly E[]> {
  const head =
    range.head ??
    (await store.head(filter, range.signal).catch((error: unknown) => {
      if (range.signal?.aborted) return 0n
      throw error
    }))
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

/** Returns whether the event is one that every log has from its first start on. */
export const isOpening = ({ type }: Pick<Recorded<LogEvent>, 'type'>) =>
  type === 'LogOpened' || type === 'ServiceKeyMarked' || type === 'ClickLogOpened'

/** Returns whether nothing was ever written to the log, apart from its openings. */
export const isUnused = async (store: Pick<EventStore, 'head' | 'subscribe'>): Promise<boolean> => {
  for await (const events of readToHead(store, { after: 0n, filter: 'domain', limit: 100 }))
    if (!events.every(isOpening)) return false
  return true
}
