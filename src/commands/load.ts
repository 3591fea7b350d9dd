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

/**
 * Reads a stream by its decider and id. Throws `StoreUnavailable`, `ChangedByNewer` with what is `known` as
 * `Loaded<S>`.
 */
export type Load = <C, S, E extends DomainEvent>(decider: Decider<C, S, E>, id: string | number) => Promise<Loaded<S>>

/** Every so many events of a stream, its state is stored. */
export const snapshotInterval = 100
/** characters of JSON of events after which it is stored, too: few large events take as long to read as many */
export const snapshotSize = 128 * 1024
/** states that a load stores at most: it may pass many more when all snapshots of a stream are missing */
const mostDue = 100
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
const findSnapshot = async <S>(snapshots: SnapshotStore, place: SnapshotPlace, upTo?: bigint) => {
  try {
    const found = await snapshots.find(place, upTo)
    return found && { ...found, folded: deserialize(found.state) as Folded<S> }
  } catch {
    return undefined
  }
}

type Events = AsyncIterable<Recorded<LogEvent>>

/** The events of a stream after a snapshot. */
interface AfterSnapshot<S> extends Folded<S>, Pick<Recorded<DomainEvent>, 'revision' | 'position'> {
  readonly after: Events
}

/**
 * Reads a stream from its newest snapshot on; with a range, from the newest one before `from`, and up to `upTo`.
 * Undefined when there is none, or when the log has another event there, or no event: it is an older copy, or was
 * restored. Then no snapshot of the stream is kept, because the newest one would be found again and again.
 */
export const readFromSnapshot = async <S>(
  store: Pick<EventStore, 'read'>,
  snapshots: SnapshotStore,
  place: SnapshotPlace,
  range?: { readonly from: number; readonly upTo: number },
): Promise<AfterSnapshot<S> | undefined> => {
  const found = await findSnapshot<S>(snapshots, place, range && BigInt(range.from) - 1n)
  if (!found) return undefined
  const limit = range && range.upTo - Number(found.revision) + 1
  const events = store.read(place.stream, found.revision, limit)[Symbol.asyncIterator]()
  const { value: first, done } = await events.next()
  if (!done && first.id === found.event && !isUnknown(first)) {
    const { revision, position } = first
    return { ...found.folded, revision, position, after: { [Symbol.asyncIterator]: () => events } }
  }
  await events.return?.()
  if (done || first.id !== found.event) await snapshots.drop(place.stream).catch(() => {})
  return undefined
}

/** Returns what tells whether the state after an event is to be stored, given the events one after the other. */
const dueAfter = () => {
  let size = 0
  return ({ type, data, revision, metadata }: Recorded<DomainEvent>): boolean => {
    size += JSON.stringify(data).length
    // a fence has the account of who claims the name: under its key, the state would outlive its own account
    if (metadata.account === null || type === 'ClaimFenced') return false
    const isDue = size >= snapshotSize || (revision + 1n) % BigInt(snapshotInterval) === 0n
    if (isDue) size = 0
    return isDue
  }
}

const snapshotOf = <S>({ state, since, createdBy }: Loaded<S>, { revision, id }: Recorded<DomainEvent>): Snapshot => ({
  revision,
  event: id,
  state: serialize({ state, since, createdBy } satisfies Folded<S>),
})

/** Reads streams. One that is long, or has large events, is read from its newest snapshot on. */
export const loader = (
  store: Pick<EventStore, 'read'>,
  snapshots: SnapshotStore = noSnapshots,
  /** streams whose snapshots are looked for at once */
  long: Pick<Map<string, true>, 'has' | 'set'> = new QuickLRU<string, true>({ maxSize: rememberedStreams }),
): Load => {
  return async <C, S, E extends DomainEvent>(decider: Decider<C, S, E>, id: string | number) => {
    const place = { stream: streamId(decider.kind, id), version: decider.version }
    /** the newest states that are to be stored, and their accounts */
    const due: (readonly [account: number, make: () => Snapshot])[] = []

    const fold = async (from: Loaded<S>, events: Events) => {
      let loaded = from
      const isDue = dueAfter()
      for await (const event of events) {
        if (isUnknown(event)) throw new ChangedByNewer(`The ${decider.kind} ${id}`, loaded)
        loaded = afterEvent(decider, loaded, event)
        if (!isDue(event)) continue
        const state = loaded
        due.push([event.metadata.account!, () => snapshotOf(state, event)])
        if (due.length > mostDue) due.shift()
      }
      return loaded
    }
    const foldFromSnapshot = async () => {
      const found = await readFromSnapshot<S>(store, snapshots, place)
      if (!found) return undefined
      // those of the first events were stored when the stream had as many
      due.length = 0
      const { after, ...known } = found
      return fold(known, after)
    }
    const saveAll = async () => {
      // the newest first: the next load may already need it
      for (const [account, make] of due.toReversed()) await snapshots.save(account, place, make)
    }

    let loaded: Loaded<S> = {
      state: decider.initialState,
      revision: 'no_stream',
      position: 0n,
      since: '',
      createdBy: '',
    }
    try {
      if (!long.has(place.stream)) {
        loaded = await fold(loaded, store.read(place.stream, 0n, snapshotInterval))
        const isWhole = nextRevision(loaded) < snapshotInterval
        if (!isWhole || due.length > 0) long.set(place.stream, true)
        if (isWhole) return loaded
      }
      return (await foldFromSnapshot()) ?? (await fold(loaded, store.read(place.stream, nextRevision(loaded))))
    } finally {
      // also after an error, so that the next attempt has less to read; nothing waits for it, and nothing needs it
      void saveAll().catch(() => {})
    }
  }
}
