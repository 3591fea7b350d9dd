import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Readable } from 'node:stream'
import type { AllStreamRecordedEvent } from '@eventstore/db-client'
import { batchBytes, type Filter } from '../../events/store.ts'
import { type Encoded, parsed } from '../slices.ts'
import { passes, toRaw } from './events.ts'
import type { Names } from './names.ts'

/** events and bytes that are kept for a slow reader; then the server is held back, or drops the subscription */
const [mostEvents, mostBytes] = [4000, 2 * batchBytes]

interface Message {
  readonly event?: AllStreamRecordedEvent
}

/**
 * Reads a subscription ahead of a slow reader: the server keeps 32 events for one that is live, and drops it at the
 * next. `onHeard` is called for each message.
 */
export const readAhead = (call: Readable, filter: Filter, names: Names, onHeard: () => void) => {
  const events: Encoded[] = []
  let bytes = 0
  let ended: { readonly error?: unknown } | undefined
  let [wakeReader, wakePump] = [() => {}, () => {}]

  const isFull = () => events.length >= mostEvents || bytes >= mostBytes
  const end = (how: { readonly error?: unknown }) => {
    ended ??= how
    wakeReader()
    wakePump()
  }
  const pump = async () => {
    for await (const { event } of call as AsyncIterable<Message>) {
      onHeard()
      const raw = event && toRaw(event, names)
      if (!raw || !passes(filter, raw)) continue
      bytes += events[events.push(parsed(raw)) - 1]!.bytes
      wakeReader()
      while (isFull() && !ended) await new Promise<void>((resolve) => (wakePump = resolve))
    }
  }
  void pump().then(
    () => end({}),
    (error: unknown) => end({ error }),
  )

  const take = (limit: number): readonly Encoded[] => {
    let [count, size] = [0, 0]
    while (count < events.length && count < limit && size < batchBytes) size += events[count++]!.bytes
    bytes -= size
    wakePump()
    return events.splice(0, count)
  }
  return {
    /**
     * Returns the events that have arrived, at most `limit` and about `batchBytes`; none when the subscription has
     * ended. Throws when it has failed.
     */
    next: async (limit: number): Promise<readonly Encoded[]> => {
      while (events.length === 0 && !ended) await new Promise<void>((resolve) => (wakeReader = resolve))
      // those that arrive together form a batch
      if (events.length < limit && !ended) await nextTurn()
      if (events.length === 0 && ended && 'error' in ended) throw ended.error
      return take(limit)
    },
    /** Reads no further. */
    close: () => end({}),
  }
}
