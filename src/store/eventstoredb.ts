import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'
import {
  AccessDeniedError,
  type AllStreamRecordedEvent,
  BACKWARDS,
  DeadlineExceededError,
  END,
  type EventData,
  type EventStoreDBClient,
  eventTypeFilter,
  InvalidArgumentError,
  jsonEvent,
  MaxAppendSizeExceededError,
  type RecordedEvent,
  START,
  StreamDeletedError,
  StreamNotFoundError,
  type StreamingRead,
  UnknownError,
  WrongExpectedVersionError,
} from '@eventstore/db-client'
import { type Codec, type Raw, readable } from '../events/codec.ts'
import { events as registry } from '../events/index.ts'
import {
  type Appended,
  appendLimit,
  type EventStore,
  type Filter,
  StoreUnavailable,
  type Write,
} from '../events/store.ts'
import { connect } from './connect.ts'
import { ensureLogOpened, type Opening } from './open.ts'

interface Encoded extends Omit<Write, 'events'> {
  readonly events: readonly EventData[]
}

export interface EventStoreDbOptions {
  /** esdb://user:password@host:2113, or esdb://host:2113?tls=false */
  readonly url: string
  readonly codec: Codec
  /** what an empty log begins with; a new id without it */
  readonly opening?: Opening | undefined
  /** Told when a subscription was dropped, which is opened again. */
  readonly onDropped?: (error: unknown) => void
  /** ms for one question to the server, tries again included */
  readonly patience?: number
  /** ms of silence after which a subscription is checked against the end of the log */
  readonly stall?: number
}

const types = Object.keys(registry)
const typesOf: Record<Filter, ReadonlySet<string>> = {
  clicks: new Set(['LinkClicked']),
  domain: new Set(types.filter((type) => type !== 'LinkClicked')),
  all: new Set(types),
}
/** Only types of ours: a server has events of its own, and may serve others too. */
const regexOf = (filter: Filter) => `^(${[...typesOf[filter]].join('|')})$`

const pageSize = 500
/** reads under way at once: a server answers some 100 calls a connection at a time, and appends must not wait for a flood of reads */
const readers = 20
/** Of the time that is left each try gets this part: the first 3 s of 5 s, and there is always time for another. */
const share = 0.6
const shortest = 100

/** Nothing was heard for too long. */
class Silence extends Error {}

/** The server has understood and said no: to ask again would not help. */
const isAnswer = (error: unknown) =>
  [
    WrongExpectedVersionError,
    MaxAppendSizeExceededError,
    StreamNotFoundError,
    StreamDeletedError,
    AccessDeniedError,
    InvalidArgumentError,
  ].some((kind) => error instanceof kind)
const isSilence = (error: unknown) => error instanceof Silence || error instanceof DeadlineExceededError
const isGone = (error: unknown) => error instanceof StreamNotFoundError || error instanceof StreamDeletedError

// commit and prepare are one and the same for what is written without transactions; `at` is the time of the decision, as in the other logs
const raw = ({ id, streamId, revision, type, data, metadata, position, created }: RecordedEvent): Raw => ({
  id,
  stream: streamId,
  revision,
  position: position!.commit,
  at: (metadata as { readonly at?: string } | undefined)?.at ?? created.toISOString(),
  type,
  data,
  metadata,
})

/** Ends with an answer or with `Silence`; what comes after that is nobody's. */
const within = async <T>(ms: number, answer: Promise<T>): Promise<T> => {
  let timer: NodeJS.Timeout | undefined
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Silence(`no answer in ${Math.round(ms)} ms`)), ms)
  })
  try {
    return await Promise.race([answer, silence])
  } finally {
    clearTimeout(timer)
  }
}

/** The events of a read as they come; a read that has no deadline of its own ends with `Silence` when none comes for `ms`. */
const heard = async function* (call: StreamingRead<{ readonly event?: RecordedEvent }>, ms: number) {
  // an error that comes when nobody listens any more would end the process
  call.on('error', () => {})
  const timer = setTimeout(() => call.destroy(new Silence(`no event in ${Math.round(ms)} ms`)), ms)
  try {
    for await (const { event } of call) {
      timer.refresh()
      if (event) yield raw(event)
    }
  } finally {
    clearTimeout(timer)
    call.destroy()
    void call.cancel().catch(() => {})
  }
}

/** At most so many at once; the others wait for their turn. */
const atMost = (most: number) => {
  let free = most
  const waiting: (() => void)[] = []
  return async <T>(work: () => Promise<T>): Promise<T> => {
    if (free > 0) free--
    else await new Promise<void>((resolve) => waiting.push(resolve))
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else free++
    }
  }
}

/**
 * The event log on an EventStoreDB. It pushes what is appended, whoever did it, so no bell is needed. Several writes of an append are
 * stored one after the other; what stands between them is told apart by tokens (see `claimed` in the commands).
 */
export const eventStoreDb = async ({
  url,
  codec,
  opening,
  onDropped = () => {},
  patience = 5000,
  stall = 20_000,
}: EventStoreDbOptions): Promise<EventStore> => {
  const connection = connect(url)
  const { credentials } = connection
  const closed = new AbortController()
  const reader = atMost(readers)

  const unreachable = (cause?: unknown) =>
    new StoreUnavailable(`the event store at ${connection.address} (EVENTSTORE_URL) cannot be reached`, { cause })

  /** Asks until there is an answer, or no time is left. What was asked may have happened each time: so it must be the same question. */
  const reach = async <T>(
    until: number,
    ask: (client: EventStoreDBClient, ms: number) => Promise<T>,
    conclusive = isAnswer,
  ): Promise<T> => {
    let problem: unknown
    for (let pause = 50; ; pause = Math.min(pause * 2, 500)) {
      const left = until - Date.now()
      if (left < shortest || closed.signal.aborted) throw unreachable(problem)
      const client = connection.client()
      try {
        return await ask(client, left * share)
      } catch (error) {
        if (error instanceof AccessDeniedError)
          throw new StoreUnavailable('the user in EVENTSTORE_URL must be allowed to append and to read $all', {
            cause: error,
          })
        if (conclusive(error)) throw error
        if (isSilence(error)) connection.renew(client)
        problem = error
      }
      await sleep(Math.min(pause, Math.max(0, until - Date.now())))
    }
  }
  const soon = () => Date.now() + patience

  const readPage = async (stream: string, from: bigint | 'end', count: number, until?: number): Promise<Raw[]> => {
    const options =
      from === 'end'
        ? ({ direction: BACKWARDS, fromRevision: END, maxCount: count } as const)
        : { fromRevision: from, maxCount: count }
    const ask = async (client: EventStoreDBClient, ms: number) => {
      const page: Raw[] = []
      for await (const event of heard(client.readStream(stream, { ...options, requiresLeader: true }), ms))
        page.push(event)
      return page
    }
    try {
      const turn = soon()
      return await reader(() => {
        if (Date.now() > turn) throw unreachable()
        return reach(until ?? soon(), ask)
      })
    } catch (error) {
      if (isGone(error)) return []
      throw error
    }
  }

  const appendOne = async ({ stream, expected, events }: Encoded, until: number): Promise<Appended> => {
    const first = expected === 'no_stream' ? 0n : expected + 1n
    const last = first + BigInt(events.length - 1)
    /** Position of the last of our events, if they all stand where they belong. */
    const standing = async () => {
      const there = await readPage(stream, first, events.length, Math.max(until, Date.now() + patience / 5))
      const ours = there.length === events.length && there.every(({ id }, i) => id === events[i]?.id)
      return ours ? there.at(-1)?.position : undefined
    }
    const ask = (client: EventStoreDBClient, ms: number) =>
      within(
        ms,
        // credentials with the call: without them the client sends it down a stream that all appends share, which has no deadline
        client.appendToStream(stream, [...events], {
          expectedRevision: expected,
          credentials,
          requiresLeader: true,
          deadline: ms,
        }),
      )
    try {
      const { position, nextExpectedRevision: revision } = await reach(until, ask)
      // an old server answers a repeated append without its position
      const found = position ? position.commit : (await readPage(stream, revision, 1)).at(-1)?.position
      if (found === undefined) throw new StoreUnavailable(`${stream}@${revision} was stored, but cannot be read`)
      return { ok: true, position: found }
    } catch (error) {
      if (error instanceof MaxAppendSizeExceededError)
        throw new RangeError(`an append holds at most ${appendLimit} bytes`, { cause: error })
      if (!(error instanceof WrongExpectedVersionError)) throw error
      const actual = typeof error.actualVersion === 'bigint' ? error.actualVersion : 'no_stream'
      const position = actual !== 'no_stream' && actual >= last ? await standing() : undefined
      return position === undefined ? { ok: false, stream, actual } : { ok: true, position }
    }
  }

  const append = async (writes: readonly Write[]): Promise<Appended> => {
    const texts = await Promise.all(writes.map(({ events }) => Promise.all(events.map(codec.encode))))
    const size = texts.flat().reduce((n, { data, metadata }) => n + Buffer.byteLength(data + metadata), 0)
    if (size > appendLimit) throw new RangeError(`an append holds at most ${appendLimit} bytes`)
    const until = soon()
    let appended: Appended = { ok: true, position: 0n }
    for (const [w, { stream, expected, events }] of writes.entries()) {
      const encoded = events.map(({ id, type }, i) => {
        const { data, metadata } = texts[w]![i]!
        return jsonEvent({ id, type, data: JSON.parse(data), metadata: new TextEncoder().encode(metadata) })
      })
      appended = await appendOne({ stream, expected, events: encoded }, until)
      if (!appended.ok) break
    }
    return appended
  }

  /** How far each filter was looked through already, and what the newest was: the next look need not go further back. */
  const looked = new Map<Filter, { readonly upTo: bigint; readonly newest: bigint }>()
  const head = (filter: Filter) =>
    reach(soon(), async (client, ms) => {
      const before = looked.get(filter) ?? { upTo: -1n, newest: 0n }
      let upTo: bigint | undefined
      let newest = 0n
      const call = client.readAll({ direction: BACKWARDS, fromPosition: END, requiresLeader: true })
      for await (const { type, position } of heard(call, ms)) {
        upTo ??= position
        const known = position <= before.upTo && upTo >= before.upTo
        if (known || typesOf[filter].has(type)) {
          newest = known ? before.newest : position
          break
        }
      }
      looked.set(filter, { upTo: upTo ?? -1n, newest })
      return newest
    })

  const idAt = async (position: bigint) => {
    if (position > (await head('all'))) return undefined
    const fromPosition = { commit: position, prepare: position }
    const ask = async (client: EventStoreDBClient, ms: number) => {
      for await (const event of heard(client.readAll({ fromPosition, maxCount: 1, requiresLeader: true }), ms))
        return event.position === position ? event.id : undefined
      return undefined
    }
    // a server that has just answered, and now fails with this, does so because no event begins there
    const nothing = (error: unknown) => error instanceof UnknownError || error instanceof InvalidArgumentError
    return reach(soon(), ask, nothing).catch((error: unknown) => {
      if (nothing(error)) return undefined
      throw error
    })
  }

  /** Batches of one subscription, for as long as that lives. */
  const subscription = async function* (
    client: EventStoreDBClient,
    after: bigint,
    filter: Filter,
    limit: number,
    signal: AbortSignal,
  ) {
    const call = client.subscribeToAll({
      fromPosition: after === 0n ? START : { commit: after, prepare: after },
      // the server's checkpoints are not used: it may send one that is ahead of an event it has not sent yet
      filter: eventTypeFilter({ regex: regexOf(filter), checkpointInterval: 100 }),
      requiresLeader: true,
    })
    call.on('error', () => {})
    const end = () => void call.destroy()
    signal.addEventListener('abort', end)
    if (signal.aborted) end()

    let position = after
    let heardAt = Date.now()
    let busy = false
    const check = async () => {
      const before = heardAt
      // whoever cannot be asked may have lost our subscription as well
      const late = await head(filter).then(
        (newest) => newest > position,
        () => true,
      )
      if (heardAt !== before || busy) return
      heardAt = Date.now()
      if (late) call.destroy(new Silence('a subscription has fallen silent'))
    }
    const watch = setInterval(() => void (!busy && Date.now() - heardAt > stall && check()), stall / 4).unref()
    try {
      let batch: Raw[] = []
      for await (const { event } of call as AsyncIterable<{ readonly event?: AllStreamRecordedEvent }>) {
        heardAt = Date.now()
        if (event) batch.push(raw(event))
        // what has arrived goes together
        if (batch.length < limit && call.readableLength === 0) await turn()
        if (batch.length === 0 || (batch.length < limit && call.readableLength > 0)) continue
        position = batch.at(-1)!.position
        busy = true
        yield batch
        busy = false
        heardAt = Date.now()
        batch = []
      }
    } finally {
      clearInterval(watch)
      signal.removeEventListener('abort', end)
      call.destroy()
      void call.unsubscribe().catch(() => {})
    }
  }

  /** One subscription after another, each from the last event that was given on: a client never subscribes anew by itself. */
  const follow = async function* (after: bigint, filter: Filter, limit: number, signal: AbortSignal) {
    let position = after
    for (let wait = 50; !signal.aborted; wait = Math.min(wait * 2, 2000)) {
      const client = connection.client()
      try {
        for await (const batch of subscription(client, position, filter, limit, signal)) {
          yield batch
          position = batch.at(-1)!.position
          wait = 50
        }
        if (!signal.aborted) onDropped(new Error('the server has ended a subscription'))
      } catch (error) {
        if (signal.aborted) return
        if (isSilence(error)) connection.renew(client)
        onDropped(error)
      }
      await sleep(wait, undefined, { signal }).catch(() => {})
    }
  }

  const store: Omit<EventStore, 'logId'> = {
    append,
    read: async function* (stream, from = 0n) {
      for (let next = from; ; next += BigInt(pageSize)) {
        const page = await readPage(stream, next, pageSize)
        yield* await codec.decode(page)
        if (page.length < pageSize) return
      }
    },
    last: async (stream) => (await codec.decode(await readPage(stream, 'end', 1)))[0],
    subscribe: async function* ({ after, filter, limit, signal }) {
      for await (const raws of follow(after, filter, limit, AbortSignal.any([signal, closed.signal]))) {
        const { events, problem } = await readable(codec, raws)
        if (events.length > 0) yield events
        if (problem) throw problem
      }
    },
    head,
    idAt,
    close: async () => {
      closed.abort()
      await connection.close()
    },
  }
  try {
    return { ...store, logId: await ensureLogOpened(store, opening) }
  } catch (error) {
    await store.close()
    throw error
  }
}
