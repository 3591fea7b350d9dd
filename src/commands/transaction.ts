import type { Recorded } from '../events/event.ts'
import type { DomainEvent } from '../events/index.ts'
import type { Appended, EventStore, ExpectedRevision, Write } from '../events/store.ts'
import { noSnapshots, type SnapshotStore } from '../security/snapshots.ts'
import { refuse } from './decider.ts'
import { type Handler, handler } from './handle.ts'

/** Transactions of the log: many commands that are decided one after another and stored as one. */
export interface Transactions {
  /** Whether the log has transactions. */
  readonly supported: boolean
  /**
   * Runs `decide` with a handler that sees what it has decided before, and stores nothing yet. Then appends everything
   * at once, unless this is a dry run. If a stream has changed meanwhile, runs `decide` again. Rejects as `decide`
   * does, and then nothing is stored.
   */
  readonly run: <R>(
    decide: (handler: Handler) => Promise<R>,
    options?: { readonly dryRun: boolean },
  ) => Promise<Stored<R>>
}

export interface Stored<R> {
  readonly result: R
  /** the streams that have changed */
  readonly streams: readonly string[]
  /** of the last event; 0n when nothing was appended */
  readonly position: bigint
}

interface Waiting {
  readonly expected: ExpectedRevision
  readonly events: readonly Recorded<DomainEvent>[]
}

const revisionAfter = (revision: ExpectedRevision, events: number): ExpectedRevision =>
  events === 0 ? revision : (revision === 'no_stream' ? -1n : revision) + BigInt(events)

/** A store whose appends wait in memory, in front of the log. They are refused as the log would refuse them now. */
const waitingStore = (log: EventStore) => {
  const waiting = new Map<string, Waiting>()
  const revisionOf = async (stream: string): Promise<ExpectedRevision> => {
    const stored = waiting.has(stream) ? undefined : await log.last(stream)
    // another command may have appended to the stream meanwhile
    const own = waiting.get(stream)
    return own ? revisionAfter(own.expected, own.events.length) : (stored?.revision ?? 'no_stream')
  }
  const add = ({ stream, expected, events }: Write) => {
    const before = waiting.get(stream)
    const next = revisionAfter(expected, 1) as bigint
    const added = events.map((event, i) => ({
      ...event,
      stream,
      revision: next + BigInt(i),
      position: 0n,
      at: event.metadata.at,
    })) as readonly Recorded<DomainEvent>[]
    waiting.set(stream, { expected: before?.expected ?? expected, events: [...(before?.events ?? []), ...added] })
  }

  const append = async (writes: readonly Write[]): Promise<Appended> => {
    const revisions = await Promise.all(writes.map(({ stream }) => revisionOf(stream)))
    const conflict = writes.findIndex(({ stream, expected }, i) => {
      const own = waiting.get(stream)
      return (own ? revisionAfter(own.expected, own.events.length) : revisions[i]) !== expected
    })
    if (conflict >= 0) return { ok: false, stream: writes[conflict]!.stream, actual: revisions[conflict]! }
    writes.forEach(add)
    return { ok: true, position: 0n }
  }
  const store: EventStore = {
    ...log,
    append,
    last: async (stream) => waiting.get(stream)?.events.at(-1) ?? log.last(stream),
    read: async function* (stream, from = 0n, limit = Infinity) {
      let count = 0
      for await (const event of log.read(stream, from, limit)) {
        count++
        yield event
      }
      const after = waiting.get(stream)?.events ?? []
      yield* after.filter(({ revision }) => revision >= from).slice(0, limit - count)
    },
  }
  const writes = () => [...waiting].map(([stream, { expected, events }]): Write => ({ stream, expected, events }))
  return { store, writes }
}

const attempts = 10

export const transactions = (log: EventStore, snapshots: SnapshotStore = noSnapshots): Transactions => ({
  supported: log.atomic,
  run: async (decide, { dryRun } = { dryRun: false }) => {
    for (let n = 1; n <= attempts; n++) {
      const waiting = waitingStore(log)
      // a state that is not stored yet must not become a snapshot
      const result = await decide(handler(waiting.store, { ...snapshots, save: async () => {} }))
      const writes = dryRun ? [] : waiting.writes()
      const streams = writes.map(({ stream }) => stream)
      if (writes.length === 0) return { result, streams, position: 0n }
      const appended = await log.append(writes)
      if (appended.ok) return { result, streams, position: appended.position }
    }
    return refuse('busy', { what: 'changes_together' })
  },
})
