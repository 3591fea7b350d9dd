import { isDeepStrictEqual } from 'node:util'
import type { Recorded } from '../events/event.ts'
import type { DomainEvent, LogEvent } from '../events/index.ts'
import { appendLimit, type EventStore, readToHead, type Write } from '../events/store.ts'
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

/**
 * Copies every event of a log to another store, in order and under the same ids, then compares the two event by event. Run again after an
 * interruption, it continues. Both stores must use the codec `asStored`, and no other process may write to them meanwhile.
 * Returns the number of events. Throws `NotACopy` when the target holds something else.
 */
export const copyLog = async (
  from: EventStore,
  to: EventStore,
  onProgress: (phase: 'copied' | 'verified', progress: CopyProgress) => void = () => {},
): Promise<number> => {
  if (from.logId !== to.logId)
    throw new NotACopy(`the target holds another log (${to.logId}, not ${from.logId}): use an empty target`)
  const head = await from.head('all')
  for await (const events of pages(from, head)) {
    const last = events.at(-1)!
    // events are copied in order, so the target holds the whole page when it holds the last event
    if (!(await holds(to, last))) for (const writes of toAppends(events)) await append(to, writes)
    onProgress('copied', { position: last.position, head })
  }
  return compare(from, to, head, (position) => onProgress('verified', { position, head }))
}

const holds = async (store: EventStore, { stream, revision }: AnyEvent) => {
  const last = await store.last(stream)
  return last !== undefined && last.revision >= revision
}

/** Groups events into appends that keep their order: each stream once per append, and at most `appendBytes`. */
const toAppends = function* (events: readonly AnyEvent[]): Generator<Write[]> {
  let writes = new Map<string, Write>()
  let [size, lastStream] = [0, '']
  for (const event of events) {
    const { stream, revision } = event
    const length = Buffer.byteLength(JSON.stringify(event.data) + JSON.stringify(event.metadata))
    if (writes.size > 0 && (size + length > appendBytes || (writes.has(stream) && lastStream !== stream))) {
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

const append = async (to: EventStore, writes: readonly Write[]) => {
  const appended = await to.append(writes)
  if (appended.ok) return
  const actual = appended.actual === 'no_stream' ? 'does not exist' : `is at revision ${appended.actual}`
  throw new NotACopy(
    `${appended.stream} ${actual} in the target, which holds events that are not in this log: use an empty target`,
  )
}

const allEvents = async function* (store: EventStore, head: bigint) {
  for await (const events of pages(store, head)) yield* events
}

const compare = async (from: EventStore, to: EventStore, head: bigint, onVerified: (position: bigint) => void) => {
  const copies = allEvents(to, await to.head('all'))
  let [count, newestTime] = [0, '']
  for await (const event of allEvents(from, head)) {
    const { done, value: copy } = await copies.next()
    if (done) throw new NotACopy(`${describe(event)} is missing in the target`)
    // PostgreSQL stores the time of the event before when the clock ran backwards
    const at = copy.metadata.at === newestTime ? newestTime : event.metadata.at
    if (!isDeepStrictEqual(content(copy), content({ ...event, metadata: { ...event.metadata, at } })))
      throw new NotACopy(`${describe(event)} differs from ${describe(copy)} in the target`)
    newestTime = copy.metadata.at
    if (++count % pageSize === 0) onVerified(event.position)
  }
  const { done, value: extra } = await copies.next()
  if (!done) throw new NotACopy(`the target holds more than this log: ${describe(extra)}`)
  onVerified(head)
  return count
}

const describe = ({ position, type, stream, revision }: AnyEvent) =>
  `event ${position} (${type}, ${stream}@${revision})`
/** Returns what a copied event has in common with its source: everything except the position and the time of storage. */
const content = ({ id, stream, revision, type, data, metadata }: AnyEvent) => ({
  id,
  stream,
  revision,
  type,
  data,
  metadata,
})
