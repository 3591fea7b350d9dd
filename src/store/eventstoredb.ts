import { asStored, type Codec } from '../events/codec.ts'
import type { EventStore } from '../events/store.ts'
import { createAppend } from './eventstoredb/append.ts'
import { createCalls } from './eventstoredb/calls.ts'
import { openClients } from './eventstoredb/clients.ts'
import { createHead, type SearchMemory } from './eventstoredb/head.ts'
import { createIdAt, createProbe, createReadBack, createReadPage, requireAll } from './eventstoredb/read.ts'
import { namesWith } from './eventstoredb/names.ts'
import { createSubscribe } from './eventstoredb/subscribe.ts'
import { bytesOf, decodeBatches, decodeEvents, pageBytes } from './slices.ts'
import { ensureLogOpened, type MakeOpening } from './open.ts'

export interface EventStoreDbOptions {
  /** esdb://user:password@host:2113, or esdb://host:2113?tls=false */
  readonly url: string
  /** of the names of the log's streams, where the server holds others, too; without one they have no dot */
  readonly prefix?: string | undefined
  readonly codec: Codec
  /** called when a subscription was dropped, before it is opened again */
  readonly onDropped?: (error: unknown) => void
  /** keeps how far the log was searched for its newest events, so that a restart does not search again */
  readonly memory?: SearchMemory
  /** ms for one call to the server, all its attempts included */
  readonly timeoutMs?: number
  /** ms of silence after which a subscription is compared with the head of the log */
  readonly stall?: number
}

/** An EventStoreDB whose log is not known yet. */
export interface EventStoreDb {
  /** The calls to the server, which may be away. */
  readonly store: Omit<EventStore, 'logId'>
  /** The same, with events as they are stored. */
  readonly stored: Omit<EventStore, 'logId'>
  /**
   * Returns the id of the log. `opening` is the first event of an empty one; by default one with a new log id. Throws
   * `StoreUnavailable` when the server cannot be reached, `StoreRefused` when it never will be.
   */
  readonly open: (opening?: MakeOpening) => Promise<string>
}

const pageSize = 500
/** ms that opening waits for the answer whether the user may read `$all` */
const allTimeout = 1000

/**
 * Prepares the calls to an EventStoreDB. The server pushes what any process appends, so subscriptions need no
 * notification. The writes of one append are stored one after the other; the commands close the gaps between them with
 * claim tokens (see `src/commands/claims/claim.ts`).
 */
export const connectEventStoreDb = ({
  url,
  prefix,
  codec,
  onDropped = () => {},
  memory,
  timeoutMs = 5000,
  stall = 20_000,
}: EventStoreDbOptions): EventStoreDb => {
  const clients = openClients(url)
  const names = namesWith(prefix)
  const { credentials } = clients
  const closed = new AbortController()
  const calls = createCalls(clients, timeoutMs, closed.signal, createProbe(names))
  const readPage = createReadPage(calls, names)
  const idAt = createIdAt(calls, names, 'log')
  const anyIdAt = createIdAt(calls, names, 'server')
  const head = createHead({ readBack: createReadBack(calls, names), idAt: anyIdAt, memory })
  const batches = createSubscribe({ clients, names, head, idAt, stall, onDropped })

  const storeWith = (codec: Codec): Omit<EventStore, 'logId'> => ({
    atomic: false,
    append: createAppend({ calls, names, readPage, credentials, codec, timeoutMs }),
    read: async function* (stream, from = 0n, limit = Infinity) {
      let [next, left] = [from, limit]
      while (left > 0) {
        const size = Math.min(left, pageSize)
        const page = await readPage(stream, next, size)
        yield* decodeEvents(codec, page)
        if (page.length < size && bytesOf(page) < pageBytes) return
        next = page.at(-1)!.revision + 1n
        left -= page.length
      }
    },
    last: async (stream) => {
      const [last] = await readPage(stream, 'end', 1)
      return last && (await codec.decode([last.raw()]))[0]
    },
    subscribe: async function* ({ signal, trusted, ...range }) {
      for await (const page of batches({ ...range, signal: AbortSignal.any([signal, closed.signal]) }))
        yield* decodeBatches(codec, page, trusted)
    },
    head,
    idAt,
    problem: calls.problem,
    close: async () => {
      closed.abort()
      await clients.close()
    },
  })
  const store = storeWith(codec)
  const open = async (opening?: MakeOpening) => {
    await requireAll(clients.current(), names, allTimeout)
    return ensureLogOpened(store, opening)
  }
  return { store, stored: storeWith(asStored), open }
}

/** Opens the event log on an EventStoreDB. Throws like `open`. */
export const eventStoreDb = async ({
  opening,
  ...options
}: EventStoreDbOptions & { readonly opening?: MakeOpening | undefined }): Promise<EventStore> => {
  const { store, open } = connectEventStoreDb(options)
  try {
    return { ...store, logId: await open(opening) }
  } catch (error) {
    await store.close()
    throw error
  }
}
