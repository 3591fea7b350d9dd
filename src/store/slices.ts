import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Codec, type Raw, readable } from '../events/codec.ts'
import type { Recorded } from '../events/event.ts'
import type { LogEvent } from '../events/index.ts'
import { batchBytes } from '../events/store.ts'

/**
 * An event as an engine has read it. It is parsed as late as possible, because the objects take many times the memory
 * of the text.
 */
export interface Encoded {
  readonly position: bigint
  readonly revision: bigint
  /** of JSON, about */
  readonly bytes: number
  readonly raw: () => Raw
}

/** Bytes of JSON that an engine reads at a time. */
export const pageBytes = 4 * 1024 * 1024
/** Bytes that are decoded in one turn of the event loop: about 5 ms. */
const sliceBytes = 128 * 1024

/** Returns about how many bytes a parsed value has as JSON. */
const sizeOf = (value: unknown): number => {
  if (typeof value === 'string') return value.length + 2
  if (typeof value !== 'object' || value === null) return 5
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + sizeOf(item) + 1, 2)
  return Object.entries(value).reduce((sum, [name, item]) => sum + name.length + 4 + sizeOf(item), 2)
}

/** An event that the engine has parsed already. */
export const parsed = (raw: Raw): Encoded => ({
  position: raw.position,
  revision: raw.revision,
  bytes: sizeOf(raw.data) + sizeOf(raw.metadata),
  raw: () => raw,
})

/** Returns the size of events together, in bytes. */
export const bytesOf = (events: readonly Pick<Encoded, 'bytes'>[]): number =>
  events.reduce((sum, { bytes }) => sum + bytes, 0)

/** Returns the first of the events, up to this many bytes, but at least one. */
export const fitting = <E extends Pick<Encoded, 'bytes'>>(events: readonly E[], bytes: number): readonly E[] => {
  let size = 0
  const end = events.findIndex((event) => (size += event.bytes) > bytes)
  return end < 0 ? events : events.slice(0, Math.max(1, end))
}

/** Splits events into runs of at most this many bytes; a larger event is a separate run. */
export const split = function* <E extends Pick<Encoded, 'bytes'>>(
  events: readonly E[],
  bytes: number,
): Generator<readonly E[]> {
  for (let rest = events; rest.length > 0;) {
    const run = fitting(rest, bytes)
    yield run
    rest = rest.slice(run.length)
  }
}

/**
 * Decodes slices that fit into a turn of the event loop, each in a turn of its own. Throws `Unreadable` after the
 * events before it.
 */
const decodeSlices = async function* (
  codec: Codec,
  page: readonly Encoded[],
  trusted?: boolean,
): AsyncGenerator<Recorded<LogEvent>[]> {
  let first = true
  for (const slice of split(page, sliceBytes)) {
    if (!first) await nextTurn()
    first = false
    const { events, problem } = await readable(
      codec,
      slice.map(({ raw }) => raw()),
      trusted,
    )
    if (events.length > 0) yield events
    if (problem) throw problem
  }
}

/** Decodes a page of a stream. */
export const decodeEvents = async function* (
  codec: Codec,
  page: readonly Encoded[],
): AsyncGenerator<Recorded<LogEvent>> {
  for await (const events of decodeSlices(codec, page)) yield* events
}

/** Decodes a page of the log into the batches of a subscription. Throws `Unreadable` after the events before it. */
export const decodeBatches = async function* (
  codec: Codec,
  page: readonly Encoded[],
  trusted?: boolean,
): AsyncGenerator<readonly Recorded<LogEvent>[]> {
  for (const part of split(page, batchBytes)) {
    const batch: Recorded<LogEvent>[] = []
    try {
      for await (const events of decodeSlices(codec, part, trusted)) batch.push(...events)
    } catch (error) {
      if (batch.length > 0) yield batch
      throw error
    }
    yield batch
  }
}
