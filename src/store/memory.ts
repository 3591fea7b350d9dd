import type { Codec, Raw } from '../events/codec.ts'
import {
  type Appended,
  appendLimit,
  appendTooLarge,
  type EventStore,
  type Filter,
  type Write,
} from '../events/store.ts'
import { createSignal } from '../lib/signal.ts'
import { ensureLogOpened } from './open.ts'

const passes: Record<Filter, (raw: Raw) => boolean> = {
  clicks: ({ type }) => type === 'LinkClicked',
  domain: ({ type }) => type !== 'LinkClicked',
  all: () => true,
}

/** The event log in an array, for specs: it holds what an engine would hold, and promises the same. */
export const memoryStore = async (codec: Codec): Promise<EventStore> => {
  const log: Raw[] = []
  const appended = createSignal()
  const of = (stream: string) => log.filter((event) => event.stream === stream)
  const repeated = ({ stream, expected, events }: Write) => {
    const start = expected === 'no_stream' ? 0 : Number(expected) + 1
    const there = of(stream).slice(start, start + events.length)
    return there.length === events.length && there.every(({ id }, i) => id === events[i]?.id)
  }

  const append = async (writes: readonly Write[]): Promise<Appended> => {
    const encoded = await Promise.all(writes.map(({ events }) => Promise.all(events.map(codec.encode))))
    const size = encoded.flat().reduce((sum, { data, metadata }) => sum + data.length + metadata.length, 0)
    if (size > appendLimit) throw appendTooLarge()
    for (const write of writes) {
      const actual = of(write.stream).at(-1)?.revision ?? 'no_stream'
      if (actual !== write.expected && !repeated(write)) return { ok: false, stream: write.stream, actual }
    }
    let position = 0n
    writes.forEach((write, w) => {
      if (repeated(write)) {
        position = of(write.stream).at(
          Number(write.expected === 'no_stream' ? -1n : write.expected) + write.events.length,
        )!.position
        return
      }
      write.events.forEach(({ id, type, metadata }, i) => {
        position = BigInt(log.length + 1)
        log.push({
          id,
          type,
          stream: write.stream,
          revision: BigInt(of(write.stream).length),
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
    append,
    read: async function* (stream, from = 0n) {
      yield* await codec.decode(of(stream).slice(Number(from)))
    },
    last: async (stream) => (await codec.decode(of(stream).slice(-1)))[0],
    subscribe: async function* ({ after, filter, limit, signal }) {
      let position = after
      while (!signal.aborted) {
        const count = appended.count()
        const batch = log.filter((raw) => raw.position > position && passes[filter](raw)).slice(0, limit)
        if (batch.length === 0) await appended.after(count, signal)
        else {
          yield await codec.decode(batch)
          position = batch.at(-1)!.position
        }
      }
    },
    head: async (filter) => log.filter(passes[filter]).at(-1)?.position ?? 0n,
    idAt: async (position) => log[Number(position) - 1]?.id,
    close: async () => {},
  }
  return { ...store, logId: await ensureLogOpened(store) }
}
