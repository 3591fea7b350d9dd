import type { Credentials, EventData, EventStoreDBClient } from '@eventstore/db-client'
import type { Codec } from '../../events/codec.ts'
import { type Appended, appendLimit, appendTooLarge, StoreUnavailable, type Write } from '../../events/store.ts'
import { withTimeout } from '../../lib/async/timeout.ts'
import type { Calls } from './calls.ts'
import type { ReadPage } from './read.ts'
import { library } from './library.ts'
import type { Names } from './names.ts'

interface EncodedWrite extends Omit<Write, 'events'> {
  readonly events: readonly EventData[]
}

interface AppendParts {
  readonly calls: Calls
  readonly names: Pick<Names, 'to'>
  readonly readPage: ReadPage
  readonly credentials: Credentials
  readonly codec: Codec
  /** ms for one append, all attempts included */
  readonly timeoutMs: number
}

/** Appends the writes one after the other, each in a call of its own, and stops at the first conflict. */
export const createAppend = ({ calls, names, readPage, credentials, codec, timeoutMs }: AppendParts) => {
  /** Position of the last event of a write when all its events are stored at their revisions, else undefined. */
  const storedPosition = async ({ stream, expected, events }: EncodedWrite, until: number) => {
    const first = expected === 'no_stream' ? 0n : expected + 1n
    const stored = await readPage(stream, first, events.length, Math.max(until, Date.now() + timeoutMs / 5))
    const ours = stored.length === events.length && stored.every(({ raw }, i) => raw().id === events[i]?.id)
    return ours ? stored.at(-1)?.position : undefined
  }

  const positionOf = async (stream: string, revision: bigint) => {
    const position = (await readPage(stream, revision, 1)).at(-1)?.position
    if (position === undefined) throw new StoreUnavailable(`${stream}@${revision} was stored, but cannot be read`)
    return position
  }

  const appendOne = async (write: EncodedWrite, until: number): Promise<Appended> => {
    const { stream, expected, events } = write
    const attempt = (client: EventStoreDBClient, ms: number) =>
      withTimeout(
        ms,
        // without credentials in the call, the client uses a gRPC stream that all appends share and that has no
        // deadline
        client.appendToStream(names.to(stream), [...events], {
          expectedRevision: expected,
          credentials,
          requiresLeader: true,
          deadline: ms,
        }),
      )
    try {
      const { position, nextExpectedRevision } = await calls.call(attempt, until)
      // older servers answer a repeated append without its position
      return { ok: true, position: position?.commit ?? (await positionOf(stream, nextExpectedRevision)) }
    } catch (error) {
      if (error instanceof library().MaxAppendSizeExceededError) throw appendTooLarge(error)
      if (!(error instanceof library().WrongExpectedVersionError)) throw error
      const actual = typeof error.actualVersion === 'bigint' ? error.actualVersion : 'no_stream'
      const last = (expected === 'no_stream' ? -1n : expected) + BigInt(events.length)
      // it is a retry, not a conflict, when our events are stored there
      const position = actual !== 'no_stream' && actual >= last ? await storedPosition(write, until) : undefined
      return position === undefined ? { ok: false, stream, actual } : { ok: true, position }
    }
  }

  return async (writes: readonly Write[]): Promise<Appended> => {
    const encoded = await Promise.all(
      writes.map(({ stream, events }) => Promise.all(events.map((event) => codec.encode(event, stream)))),
    )
    const bytes = encoded.flat().reduce((sum, { data, metadata }) => sum + Buffer.byteLength(data + metadata), 0)
    if (bytes > appendLimit) throw appendTooLarge()
    const until = calls.deadline()
    let appended: Appended = { ok: true, position: 0n }
    for (const [w, { stream, expected, events }] of writes.entries()) {
      const jsonEvents = events.map(({ id, type }, i) => {
        const { data, metadata } = encoded[w]![i]!
        return library().jsonEvent({ id, type, data: JSON.parse(data), metadata: new TextEncoder().encode(metadata) })
      })
      appended = await appendOne({ stream, expected, events: jsonEvents }, until)
      if (!appended.ok) break
    }
    return appended
  }
}
