import { randomUUID } from 'node:crypto'
import { EventEmitter } from 'node:events'

/** An event in the form that a client sends. */
export interface Proposed {
  readonly id: string
  readonly type: string
  readonly contentType: string
  readonly data: Uint8Array
  readonly metadata: Uint8Array
}
export interface Stored extends Proposed {
  readonly stream: string
  /** Infinity: that of a tombstone */
  readonly revision: number
  readonly position: number
  readonly created: number
}
export type Expected = number | 'any' | 'no_stream' | 'stream_exists'
export type Outcome =
  | { readonly revision: number; readonly position: number }
  /** the stream's actual revision, -1 when it does not exist */
  | { readonly wrong: number }
  | { readonly refused: 'deleted' | 'too large' }

export const maxAppendBytes = 1024 * 1024

/** Returns the log of a server, which several nodes may share. */
export const memoryLog = () => {
  const appended = new EventEmitter().setMaxListeners(0)
  const all: Stored[] = []
  const revisions = new Map<string, number>()
  /** revision up to which a stream is soft-deleted; Infinity: it has a tombstone */
  const deleted = new Map<string, number>()
  /** event ids that the server remembers until it restarts */
  let remembered = new Map<string, Stored>()
  let end = 0

  const sizeOf = (data: Uint8Array, metadata: Uint8Array) => 120 + data.length + metadata.length
  const visible = ({ stream, revision }: Stored) => revision > (deleted.get(stream) ?? -1)
  const put = (stream: string, event: Proposed, revision = (revisions.get(stream) ?? -1) + 1) => {
    const stored = { ...event, stream, revision, position: end, created: Date.now() }
    end += sizeOf(event.data, event.metadata)
    if (revision < Infinity) revisions.set(stream, revision)
    remembered.set(`${stream} ${event.id}`, stored)
    all.push(stored)
    return stored
  }
  const system = (type: string, stream = '$system', revision?: number) => {
    const [contentType, text] = ['application/json', new TextEncoder().encode('{}')]
    const stored = put(
      stream,
      { id: randomUUID(), type, contentType, data: text, metadata: new Uint8Array() },
      revision,
    )
    appended.emit('append')
    return stored
  }
  // the first event of a server's log is one of its own
  system('$UserCreated')

  const append = (stream: string, expected: Expected, events: readonly Proposed[]): Outcome => {
    if (deleted.get(stream) === Infinity) return { refused: 'deleted' }
    const bytes = events.reduce((sum, e) => sum + e.data.length + e.metadata.length + 2 * e.type.length, 0)
    if (bytes > maxAppendBytes) return { refused: 'too large' }
    const current = revisions.get(stream) ?? -1
    const gone = current <= (deleted.get(stream) ?? -1)
    const at = expected === 'no_stream' ? (gone ? current : -1) : expected
    if (typeof at === 'number' && at !== current) {
      const there = all.filter((e) => e.stream === stream && e.revision > at && e.revision <= at + events.length)
      const repeated = there.length === events.length && there.every(({ id }, i) => id === events[i]?.id)
      return repeated ? there.at(-1)! : { wrong: gone ? -1 : current }
    }
    if (at === 'stream_exists' && gone) return { wrong: -1 }
    if (typeof at !== 'number') {
      const known = events.map(({ id }) => remembered.get(`${stream} ${id}`))
      if (known.every((event) => event !== undefined)) return known.at(-1)!
    }
    const stored = events.map((event) => put(stream, event))
    appended.emit('append')
    return stored.at(-1) ?? { revision: current, position: all.at(-1)!.position }
  }

  return {
    append,
    system: (type: string) => void system(type),
    /** every event, including deleted ones, which stay on a server until it is scavenged */
    all: all as readonly Stored[],
    /** Returns whether the server can begin to read at a position: an event begins there, or it is beyond the end. */
    isReadableFrom: (position: number) => position >= end || all.some((event) => event.position === position),
    of: (stream: string) => all.filter((event) => event.stream === stream && visible(event)),
    /** Returns the position of the event that the server stores about it. */
    remove: (stream: string, forEver: boolean) => {
      deleted.set(stream, forEver ? Infinity : (revisions.get(stream) ?? -1))
      const { position } = forEver ? system('$streamDeleted', stream, Infinity) : system('$metadata', `$$${stream}`)
      return position
    },
    /**
     * Gives the log the data of an older copy, which has so many of its events. Returns what gives the newer data back.
     */
    putBack: (kept: number) => {
      const lost = all.splice(kept)
      const recount = () => {
        revisions.clear()
        for (const { stream, revision } of all) if (revision < Infinity) revisions.set(stream, revision)
        end = all.reduce((_, { position, data, metadata }) => position + sizeOf(data, metadata), 0)
      }
      recount()
      return () => {
        all.push(...lost)
        recount()
      }
    },
    isTombstone: (stream: string) => deleted.get(stream) === Infinity,
    forget: () => (remembered = new Map()),
    appended,
  }
}
export type MemoryLog = ReturnType<typeof memoryLog>
