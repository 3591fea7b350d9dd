import { isDeepStrictEqual } from 'node:util'
import type { Recorded } from '../events/event.ts'
import type { DomainEvent } from '../events/index.ts'
import { appendLimit, type EventStore, type Write } from '../events/store.ts'

type Any = Recorded<DomainEvent>

/** The two logs are not the same; the message says where. */
export class NotACopy extends Error {}

export interface Progress {
  readonly position: bigint
  readonly head: bigint
}
/** events that are read at a time, and appends of which bytes go into one */
const [page, bytes] = [500, appendLimit / 2]

/**
 * Brings every event of a log into another one, in order, under the same ids, and then compares the two event by event. One that was broken
 * off goes on where it was. Both stores are opened `asStored`, and nobody writes to either meanwhile. Answers how many events there are.
 * Throws `NotACopy` where the target holds something else.
 */
export const copyLog = async (
  from: EventStore,
  to: EventStore,
  onProgress: (what: 'copied' | 'verified', progress: Progress) => void = () => {},
): Promise<number> => {
  if (from.logId !== to.logId)
    throw new NotACopy(`the target holds another log (${to.logId}, not ${from.logId}): give an empty one`)
  const head = await from.head('all')
  for await (const events of batches(from, head)) {
    // everything is copied in order: where the last one stands, the others do
    if (!(await holds(to, events.at(-1)!))) for (const writes of appends(events)) await append(to, writes)
    onProgress('copied', { position: events.at(-1)!.position, head })
  }
  return compare(from, to, head, (position) => onProgress('verified', { position, head }))
}

const batches = async function* (store: EventStore, head: bigint) {
  if (head === 0n) return
  const reading = new AbortController()
  for await (const events of store.subscribe({ after: 0n, filter: 'all', limit: page, signal: reading.signal })) {
    yield events
    if (events.at(-1)!.position >= head) break
  }
  reading.abort()
}

const holds = async (store: EventStore, { stream, revision }: Any) => {
  const last = await store.last(stream)
  return last !== undefined && last.revision >= revision
}

/** Events as the port takes them: in order, each stream once, and no more than fit into one append. */
const appends = function* (events: readonly Any[]): Generator<Write[]> {
  let writes = new Map<string, Write>()
  let [size, newest] = [0, '']
  for (const event of events) {
    const { stream, revision } = event
    const length = Buffer.byteLength(JSON.stringify(event.data) + JSON.stringify(event.metadata))
    const write = writes.get(stream)
    if (writes.size > 0 && (size + length > bytes || (write && newest !== stream))) {
      yield [...writes.values()]
      writes = new Map()
      size = 0
    }
    const before = writes.get(stream)
    const expected = before?.expected ?? (revision === 0n ? 'no_stream' : revision - 1n)
    writes.set(stream, { stream, expected, events: [...(before?.events ?? []), event] })
    newest = stream
    size += length
  }
  if (writes.size > 0) yield [...writes.values()]
}

const append = async (to: EventStore, writes: readonly Write[]) => {
  const appended = await to.append(writes)
  if (appended.ok) return
  const at = appended.actual === 'no_stream' ? 'does not exist' : `is at revision ${appended.actual}`
  throw new NotACopy(
    `${appended.stream} ${at} in the target, which holds events that are not of this log: give an empty one`,
  )
}

const flat = async function* (store: EventStore, head: bigint) {
  for await (const events of batches(store, head)) yield* events
}

const compare = async (from: EventStore, to: EventStore, head: bigint, onVerified: (position: bigint) => void) => {
  const there = flat(to, await to.head('all'))
  let [count, clock] = [0, '']
  for await (const event of flat(from, head)) {
    const { done, value: copy } = await there.next()
    if (done) throw new NotACopy(`${named(event)} is missing in the target`)
    // PostgreSQL's clock never runs backwards: a time that does becomes that of the event before
    const at = copy.metadata.at === clock ? clock : event.metadata.at
    if (!isDeepStrictEqual(content(copy), content({ ...event, metadata: { ...event.metadata, at } })))
      throw new NotACopy(`${named(event)} is another event in the target: ${named(copy)}`)
    clock = copy.metadata.at
    if (++count % page === 0) onVerified(event.position)
  }
  const { done, value: beyond } = await there.next()
  if (!done) throw new NotACopy(`the target holds more than this log: ${named(beyond)}`)
  onVerified(head)
  return count
}

const named = ({ position, type, stream, revision }: Any) => `event ${position} (${type}, ${stream}@${revision})`
const content = ({ id, stream, revision, type, data, metadata }: Any) => ({
  id,
  stream,
  revision,
  type,
  data,
  metadata,
})
