import type { Codec, Raw } from '../../src/events/codec.ts'
import {
  type Appended,
  appendLimit,
  appendTooLarge,
  type EventStore,
  type Filter,
  isClickType,
  isCountedType,
  type Write,
} from '../../src/events/store.ts'
import { createSignal } from '../../src/lib/async/signal.ts'
import { ensureLogOpened, type MakeOpening } from '../../src/store/open.ts'
import { decodeBatches, decodeEvents, parsed } from '../../src/store/slices.ts'

const passes: Readonly<Record<Filter, (raw: Raw) => boolean>> = {
  clicks: ({ type }) => isCountedType(type),
  domain: ({ type }) => !isClickType(type),
  all: () => true,
}

/** Revision of the first event of a write. */
const firstRevision = ({ expected }: Write) => (expected === 'no_stream' ? 0 : Number(expected) + 1)

/** The event log in an array, for tests. It stores encoded events and keeps the same contract as the engines. */
export const memoryStore = async (codec: Codec, opening?: MakeOpening): Promise<EventStore> => {
  const log: Raw[] = []
  const appended = createSignal()
  const eventsIn = (stream: string) => log.filter((event) => event.stream === stream)
  const isRetry = (write: Write) => {
    const first = firstRevision(write)
    const stored = eventsIn(write.stream).slice(first, first + write.events.length)
    return stored.length === write.events.length && stored.every(({ id }, i) => id === write.events[i]?.id)
  }

  const append = async (writes: readonly Write[]): Promise<Appended> => {
    const encoded = await Promise.all(
      writes.map(({ stream, events }) => Promise.all(events.map((event) => codec.encode(event, stream)))),
    )
    const size = encoded.flat().reduce((sum, { data, metadata }) => sum + data.length + metadata.length, 0)
    if (size > appendLimit) throw appendTooLarge()
    for (const write of writes) {
      const actual = eventsIn(write.stream).at(-1)?.revision ?? 'no_stream'
      if (actual !== write.expected && !isRetry(write)) return { ok: false, stream: write.stream, actual }
    }
    let position = 0n
    writes.forEach((write, w) => {
      if (isRetry(write)) {
        position = eventsIn(write.stream).at(firstRevision(write) + write.events.length - 1)!.position
        return
      }
      write.events.forEach(({ id, type, metadata }, i) => {
        position = BigInt(log.length + 1)
        log.push({
          id,
          type,
          stream: write.stream,
          revision: BigInt(eventsIn(write.stream).length),
          position,
          at: metadata.at,
          data: JSON.parse(encoded[w]![i]!.data),
          metadata: JSON.parse(encoded[w]![i]!.metadata),
        })
      })
    })
    appended.notify()
    return { ok: true, position }
  }

  const store: Omit<EventStore, 'logId'> = {
    atomic: true,
    append,
    read: async function* (stream, from = 0n, limit = Infinity) {
      yield* decodeEvents(
        codec,
        eventsIn(stream)
          .slice(Number(from), Number(from) + limit)
          .map(parsed),
      )
    },
    last: async (stream) => (await codec.decode(eventsIn(stream).slice(-1)))[0],
    subscribe: async function* ({ after, filter, limit, signal, trusted }) {
      let position = after
      while (!signal.aborted) {
        const count = appended.count()
        const batch = log.filter((raw) => raw.position > position && passes[filter](raw)).slice(0, limit)
        if (batch.length === 0) {
          await appended.after(count, signal)
          continue
        }
        yield* decodeBatches(codec, batch.map(parsed), trusted)
        position = batch.at(-1)!.position
      }
    },
    head: async (filter) => log.filter(passes[filter]).at(-1)?.position ?? 0n,
    idAt: async (position) => log[Number(position) - 1]?.id,
    close: async () => {},
  }
  return { ...store, logId: await ensureLogOpened(store, opening) }
}
