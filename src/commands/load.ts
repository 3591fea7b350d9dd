import { deserialize, serialize } from 'node:v8'
import QuickLRU from 'quick-lru'
import type { Recorded } from '../events/event.ts'
import type { DomainEvent, LogEvent } from '../events/index.ts'
import type { EventStore, ExpectedRevision } from '../events/store.ts'
import { streamId } from '../events/streams.ts'
import { ChangedByNewer, isUnknown } from '../events/unknown.ts'
import { noSnapshots, type Snapshot, type SnapshotPlace, type SnapshotStore } from '../security/snapshots.ts'
import type { Decider } from './decider.ts'

/** A stream folded into its decider's state. */
export interface Loaded<S> {
  readonly state: S
  readonly revision: ExpectedRevision
  /** of the stream's last event in the log; 0n for an empty stream */
  readonly position: bigint
  /** when the resource was created (ISO 8601); `` if the stream is empty or starts with a fence */
  readonly since: string
  /** id of the command that created the resource; `` as for `since` */
  readonly createdBy: string
}

/** Returns a revision as a number, -1 for a stream that does not exist. */
export const countRevision = (revision: ExpectedRevision): number => (revision === 'no_stream' ? -1 : Number(revision))

/** Reads a stream by its decider and id. Throws `StoreUnavailable`, `ChangedByNewer` with what is `known` as `Loaded<S>`. */
export type Load = <C, S, E extends DomainEvent>(decider: Decider<C, S, E>, id: string | number) => Promise<Loaded<S>>

/** Every so many events of a stream, its state is stored. */
export const snapshotInterval = 1000
/** long streams that a process remembers, to look for their snapshots at once */
const rememberedStreams = 10_000

type Folded<S> = Pick<Loaded<S>, 'state' | 'since' | 'createdBy'>

const nextRevision = ({ revision }: Pick<Loaded<unknown>, 'revision'>) =>
  revision === 'no_stream' ? 0n : revision + 1n

/** Returns the state after one more event of its stream. */
const afterEvent = <S, E>(
  { evolve }: Pick<Decider<unknown, S, E>, 'evolve'>,
  loaded: Loaded<S>,
  event: Recorded<DomainEvent>,
): Loaded<S> => {
  const { revision, position } = event
  // a stream holds the events of its own decider only
  const state = evolve(loaded.state, event as DomainEvent as E)
  const creates = revision === 0n && event.type !== 'ClaimFenced'
  const first = creates ? { since: event.at, createdBy: event.metadata.command } : loaded
  return { ...loaded, ...first, state, revision, position }
}

/** Returns a stored snapshot; undefined when there is none, or when it cannot be read. */
const findSnapshot = async <S>(snapshots: SnapshotStore, place: SnapshotPlace) => {
  try {
    const found = await snapshots.find(place)
    return found && { ...found, folded: deserialize(found.state) as Folded<S> }
  } catch {
    return undefined
  }
}

type Events = AsyncIterable<Recorded<LogEvent>>

/** Reads an event and those after it. Undefined when the log has another event there, or none: it may be an older copy. */
const readFrom = async (store: Pick<EventStore, 'read'>, stream: string, revision: bigint, id: string) => {
  const events = store.read(stream, revision)[Symbol.asyncIterator]()
  const { value: first, done } = await events.next()
  if (!done && first.id === id && !isUnknown(first)) {
    const after: Events = { [Symbol.asyncIterator]: () => events }
    return { first, after }
  }
  await events.return?.()
  return undefined
}

const snapshotOf = <S>({ state, since, createdBy }: Loaded<S>, { revision, id }: Recorded<DomainEvent>): Snapshot => ({
  revision,
  event: id,
  state: serialize({ state, since, createdBy } satisfies Folded<S>),
})

/** Reads streams. A long one is read from its newest snapshot on. */
export const loader = (store: Pick<EventStore, 'read'>, snapshots: SnapshotStore = noSnapshots): Load => {
  const long = new QuickLRU<string, true>({ maxSize: rememberedStreams })

  return async <C, S, E extends DomainEvent>(decider: Decider<C, S, E>, id: string | number) => {
    const place = { stream: streamId(decider.kind, id), version: decider.version }
    /** stores the newest state that a snapshot is due for */
    let save: (() => Promise<void>) | undefined

    const fold = async (from: Loaded<S>, events: Events) => {
      let loaded = from
      for await (const event of events) {
        if (isUnknown(event)) throw new ChangedByNewer(`The ${decider.kind} ${id}`, loaded)
        loaded = afterEvent(decider, loaded, event)
        const { account } = event.metadata
        if (account === null || nextRevision(event) % BigInt(snapshotInterval) !== 0n) continue
        const due = loaded
        save = async () => snapshots.save(account, place, snapshotOf(due, event))
      }
      return loaded
    }
    const foldFromSnapshot = async () => {
      const found = await findSnapshot<S>(snapshots, place)
      const read = found && (await readFrom(store, place.stream, found.revision, found.event))
      if (!read) return undefined
      const { revision, position } = read.first
      save = undefined
      return fold({ ...found.folded, revision, position }, read.after)
    }

    let loaded: Loaded<S> = {
      state: decider.initialState,
      revision: 'no_stream',
      position: 0n,
      since: '',
      createdBy: '',
    }
    if (!long.has(place.stream)) {
      loaded = await fold(loaded, store.read(place.stream, 0n, snapshotInterval))
      if (nextRevision(loaded) < snapshotInterval) return loaded
      long.set(place.stream, true)
    }
    try {
      return (await foldFromSnapshot()) ?? (await fold(loaded, store.read(place.stream, nextRevision(loaded))))
    } finally {
      // also after an error, so that the next attempt has less to read; nothing waits for it, and nothing needs it
      void save?.().catch(() => {})
    }
  }
}

/** Reads streams as they were when the event at a position was the newest one. */
export const loaderUntil = ({ read }: Pick<EventStore, 'read'>, position: bigint): Load =>
  loader({
    read: async function* (...of) {
      for await (const event of read(...of)) {
        if (event.position > position) return
        yield event
      }
    },
  })
