import { isDeepStrictEqual } from 'node:util'
import type { Recorded } from '../events/event.ts'
import type { DomainEvent, LogEvent } from '../events/index.ts'
import { appendLimit, type EventStore, type ExpectedRevision, readToHead, type Write } from '../events/store.ts'
import { OperatorError } from '../lib/operatorerror.ts'

/** Read as stored, an event of a newer release is like any other. */
type AnyEvent = Recorded<LogEvent>

/** The target is not a copy of the source; the message names the first difference. */
export class NotACopy extends OperatorError {
  override readonly name = 'NotACopy'
}

/** How far a copy has come: a position in the source, and the source's head. */
export interface CopyProgress {
  readonly position: bigint
  readonly head: bigint
}

/** events read at a time */
const pageSize = 500
/** bytes of JSON in one append, well below the limit because encoding may add some */
const appendBytes = appendLimit / 2

const pages = (store: EventStore, head: bigint) =>
  readToHead(store, { after: 0n, filter: 'all', limit: pageSize, head })

/** A whole log: one in a store, up to its head of now, or one in a file. */
export interface LogSource {
  readonly logId: string
  /** position of the last event */
  readonly head: bigint
  /** All events in order, as they are stored. */
  readonly pages: () => AsyncIterable<readonly AnyEvent[]>
}

export const sourceOf = async (store: EventStore): Promise<LogSource> => {
  const head = await store.head('all')
  return { logId: store.logId, head, pages: () => pages(store, head) }
}

type OnProgress = (phase: 'copied' | 'verified', progress: CopyProgress) => void
/** Stores events at their revisions, also where these do not follow on what the stream has. */
export type StoreAnyway = (write: Write) => Promise<void>

/** `copyEvents` from a store. */
export const copyLog = async (
  from: EventStore,
  to: EventStore,
  onProgress?: OnProgress,
  storeAnyway?: StoreAnyway,
): Promise<number> => copyEvents(await sourceOf(from), to, onProgress, storeAnyway)

/**
 * Copies every event of a log to a store, in order and under the same ids, then compares the two event by event. Run
 * again after an interruption, it continues. Both must have events as they are stored (`asStored`), and no other
 * process may write to them meanwhile. Returns the number of events. Throws `NotACopy` when the target holds something
 * else, before anything is appended to it, and at a revision that does not follow, unless `storeAnyway` is given.
 */
export const copyEvents = async (
  from: LogSource,
  to: EventStore,
  onProgress: OnProgress = () => {},
  storeAnyway?: StoreAnyway,
): Promise<number> => {
  if (from.logId !== to.logId)
    throw new NotACopy(`the target holds another log (${to.logId}, not ${from.logId}): use an empty target`)
  const { head } = from
  // events are copied in order, so an interrupted copy is the beginning of the log
  let present = await compareBeginning(from, to)
  for await (const events of from.pages()) {
    const missing = events.slice(Math.min(present, events.length))
    present -= events.length - missing.length
    for (const writes of toAppends(missing)) await append(to, writes, storeAnyway)
    onProgress('copied', { position: events.at(-1)!.position, head })
  }
  return compare(from, to, (position) => onProgress('verified', { position, head }))
}

/**
 * Groups events into appends that keep their order: each stream once per append, without gaps, and at most
 * `appendBytes`.
 */
const toAppends = function* (events: readonly AnyEvent[]): Generator<Write[]> {
  let writes = new Map<string, Write>()
  let [size, lastStream] = [0, '']
  for (const event of events) {
    const { stream, revision } = event
    const length = Buffer.byteLength(JSON.stringify(event.data) + JSON.stringify(event.metadata))
    const known = writes.get(stream)
    const follows = !known || (lastStream === stream && revision === firstOf(known) + BigInt(known.events.length))
    if (writes.size > 0 && (size + length > appendBytes || !follows)) {
      yield [...writes.values()]
      writes = new Map()
      size = 0
    }
    const before = writes.get(stream)
    const expected = before?.expected ?? (revision === 0n ? 'no_stream' : revision - 1n)
    writes.set(stream, { stream, expected, events: [...(before?.events ?? []), event as Recorded<DomainEvent>] })
    lastStream = stream
    size += length
  }
  if (writes.size > 0) yield [...writes.values()]
}

/** Returns the revision of the first event of a write. */
export const firstOf = ({ expected }: Pick<Write, 'expected'>): bigint =>
  expected === 'no_stream' ? 0n : expected + 1n

const append = async (to: EventStore, writes: readonly Write[], storeAnyway?: StoreAnyway): Promise<void> => {
  const appended = await to.append(writes)
  if (appended.ok) return
  const { stream, actual } = appended
  const n = writes.findIndex((write) => write.stream === stream)
  const write = writes[n]
  if (!write || !storeAnyway) throw doesNotFollow(stream, actual, write)
  // nothing of the append is stored
  if (n > 0) await append(to, writes.slice(0, n), storeAnyway)
  await storeAnyway(write)
  if (n + 1 < writes.length) await append(to, writes.slice(n + 1), storeAnyway)
}

const doesNotFollow = (stream: string, actual: ExpectedRevision, write: Write | undefined) => {
  const next = actual === 'no_stream' ? 0n : actual + 1n
  if (!write || firstOf(write) <= next) return foreignEvent(stream, actual)
  return new NotACopy(
    `the log leaves out revision ${next} of ${stream}: something else than the service has removed or added events. In PostgreSQL, --with-gaps stores it as it is`,
  )
}

const foreignEvent = (stream: string, actual: ExpectedRevision) => {
  const found = actual === 'no_stream' ? 'does not exist' : `is at revision ${actual}`
  return new NotACopy(
    `${stream} ${found} in the target, which holds events that are not in this log: use an empty target`,
  )
}

const eventsOf = async function* (read: AsyncIterable<readonly AnyEvent[]>) {
  for await (const events of read) yield* events
}
const eventsIn = async (store: EventStore) => eventsOf(pages(store, await store.head('all')))

/** Returns a function that throws when a copy differs from its event. Call it with all events in order. */
const createComparison = () => {
  let newestTime = ''
  return (event: AnyEvent, copy: AnyEvent) => {
    // PostgreSQL stores the time of the event before when the clock ran backwards
    const at = copy.metadata.at === newestTime ? newestTime : event.metadata.at
    if (!isDeepStrictEqual(content(copy), content({ ...event, metadata: { ...event.metadata, at } })))
      throw new NotACopy(`${describe(event)} differs from ${describe(copy)} in the target`)
    newestTime = copy.metadata.at
  }
}
const extraEvent = (extra: AnyEvent) => new NotACopy(`the target holds more than this log: ${describe(extra)}`)

/** Compares all events of the target with those of the log. Returns how many there are. */
const compareBeginning = async (from: LogSource, to: EventStore) => {
  const originals = eventsOf(from.pages())
  const compareNext = createComparison()
  let count = 0
  try {
    for await (const copy of await eventsIn(to)) {
      const { done, value: event } = await originals.next()
      if (done) throw extraEvent(copy)
      if (copy.id !== event.id) throw foreignEvent(copy.stream, copy.revision)
      compareNext(event, copy)
      count++
    }
  } finally {
    await originals.return(undefined)
  }
  return count
}

const compare = async (from: LogSource, to: EventStore, onVerified: (position: bigint) => void) => {
  const copies = await eventsIn(to)
  const compareNext = createComparison()
  let count = 0
  for await (const event of eventsOf(from.pages())) {
    const { done, value: copy } = await copies.next()
    if (done) throw new NotACopy(`${describe(event)} is missing in the target`)
    compareNext(event, copy)
    if (++count % pageSize === 0) onVerified(event.position)
  }
  const { done, value: extra } = await copies.next()
  if (!done) throw extraEvent(extra)
  onVerified(from.head)
  return count
}

const describe = ({ position, type, stream, revision }: AnyEvent) =>
  `event ${position} (${type}, ${stream}@${revision})`
/**
 * Returns what a copied event has in common with its source: everything except the position and the time of storage.
 */
const content = ({ id, stream, revision, type, data, metadata }: AnyEvent) => ({
  id,
  stream,
  revision,
  type,
  data,
  metadata,
})
