import type { Recorded } from '../events/event.ts'
import type { LogEvent } from '../events/index.ts'
import type { Ordinals } from '../events/ordinals.ts'
import { type EventStore, type StoredLog, StoreRefused } from '../events/store.ts'
import { parseStreamId } from '../events/streams.ts'

const least = (a: bigint, b: bigint) => (a < b ? a : b)

/**
 * Which events projections skip is known as it is today: an operator decides that after the moment that is asked for.
 */
const isWhole = (stream: string) => parseStreamId(stream).kind === 'projection'

/**
 * Returns what reads a log as it was when the event at a position was its newest one. `onRead` is called with the
 * number of events that a subscription has read.
 */
export const logUntil = (log: StoredLog, until: bigint, onRead: (events: number) => void = () => {}): StoredLog => ({
  logId: log.logId,
  read: async function* (stream, from, limit) {
    for await (const event of log.read(stream, from, limit)) {
      if (event.position > until && !isWhole(stream)) return
      yield event
    }
  },
  subscribe: async function* (range) {
    for await (const events of log.subscribe(range)) {
      const known = events.filter(({ position }) => position <= until)
      if (known.length > 0) {
        onRead(known.length)
        yield known
      }
      if (known.length < events.length) return
    }
  },
  head: async (filter, signal) => least(await log.head(filter, signal), until),
  idAt: async (position) => (position > until ? undefined : log.idAt(position)),
})

const lastOf = async (events: AsyncIterable<Recorded<LogEvent>>) => {
  let last: Recorded<LogEvent> | undefined
  for await (const event of events) last = event
  return last
}

/** Returns a log as `logUntil` does, to which nothing can be appended. */
export const storeUntil = (store: EventStore, until: bigint, onRead?: (events: number) => void): EventStore => {
  const log = logUntil(store, until, onRead)
  return {
    ...log,
    atomic: store.atomic,
    append: () =>
      Promise.reject(new StoreRefused('the log is read as it was at an earlier moment: nothing can change it')),
    last: async (stream) => {
      const last = await store.last(stream)
      return last === undefined || last.position <= until || isWhole(stream) ? last : lastOf(log.read(stream))
    },
    ...(store.problem && { problem: store.problem }),
    // it belongs to the log that it reads
    close: async () => {},
  }
}

/** Returns the ordinals of a log as `logUntil` does. `last` is the ordinal of its newest event. */
export const ordinalsUntil = (ordinals: Ordinals, last: number): Ordinals => ({
  of: async (positions) => new Map([...(await ordinals.of(positions))].filter(([, ordinal]) => ordinal <= last)),
  positionOf: async (ordinal) => (ordinal > last ? undefined : ordinals.positionOf(ordinal)),
  lastAt: async (moment) => {
    const found = await ordinals.lastAt(moment)
    if (found === undefined || found.ordinal <= last) return found
    const position = await ordinals.positionOf(last)
    return position === undefined ? undefined : { ordinal: last, position }
  },
  head: async () => Math.min(await ordinals.head(), last + 1),
  timeOf: async (ordinal) => (ordinal > last ? undefined : ordinals.timeOf(ordinal)),
})
