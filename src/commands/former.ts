import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Recorded } from '../events/event.ts'
import type { DomainEvent, LogEvent } from '../events/index.ts'
import type { EventStore } from '../events/store.ts'
import { turnTimer } from '../lib/async/pause.ts'
import { Unavailable } from '../lib/unavailable.ts'
import { noSnapshots, type SnapshotPlace, type SnapshotStore } from '../security/snapshots.ts'
import type { Decider } from './decider.ts'
import { type Load, type Loaded, loader } from './load.ts'

/** Returns the newest state of a stream that was stored up to a position. Reads few of its events. */
const findUntil =
  ({ read }: Pick<EventStore, 'read'>, { find }: SnapshotStore, position: bigint): SnapshotStore['find'] =>
  async (place) => {
    const isLater = async (revision: bigint) => {
      for await (const event of read(place.stream, revision, 1)) return event.position > position
      return true
    }
    const newest = await find(place)
    if (!newest || !(await isLater(newest.revision))) return newest
    let [before, later] = [-1n, newest.revision]
    while (later - before > 1n) {
      const middle = (before + later) / 2n
      if (await isLater(middle)) later = middle
      else before = middle
    }
    return find(place, before)
  }

/** The end of a read: a revision of the stream, or a position of the log. */
export type Until = { readonly revision: number } | { readonly position: bigint }

/** Returns whether an event comes after the end. */
const isAfter = (until: Until, { revision, position }: Pick<Recorded<LogEvent>, 'revision' | 'position'>) =>
  'position' in until ? position > until.position : revision > BigInt(until.revision)

/**
 * Reads the events of a stream up to its end; with `whole`, also those that the command of the last one has appended
 * with it: the states between them never were. Others are served in between; it ends early by its signal.
 */
const readUntil = (
  store: Pick<EventStore, 'read'>,
  until: Until,
  { whole, signal }: { readonly whole: boolean; readonly signal?: AbortSignal },
): Pick<EventStore, 'read'> => ({
  read: async function* (stream, from, limit) {
    const isLong = turnTimer()
    let command: string | undefined
    for await (const event of store.read(stream, from, limit)) {
      if (signal?.aborted) throw new Unavailable('the client has gone')
      if (isAfter(until, event) && !(whole && event.metadata.command === command)) return
      ;({ command } = event.metadata)
      if (isLong()) await nextTurn()
      yield event
    }
  },
})

/** Reads streams as they were when the event at a position was the newest one. */
export const loaderUntil = (
  store: Pick<EventStore, 'read'>,
  position: bigint,
  snapshots: SnapshotStore = noSnapshots,
): Load =>
  loader(readUntil(store, { position }, { whole: false }), {
    ...noSnapshots,
    find: findUntil(store, snapshots, position),
  })

/** Reads a stream as it was. Throws as `Load` does, and when the signal aborts. */
export type LoadFormer = <C, S, E extends DomainEvent>(
  decider: Decider<C, S, E>,
  id: string | number,
  until: Until,
  signal: AbortSignal,
) => Promise<Loaded<S>>

/**
 * Returns a reader of former states, which starts at the newest snapshot of that time, so that long streams are cheap.
 */
export const formerLoader =
  (store: Pick<EventStore, 'read'>, snapshots: SnapshotStore = noSnapshots): LoadFormer =>
  (decider, id, until, signal) => {
    const find =
      'position' in until
        ? findUntil(store, snapshots, until.position)
        : (place: SnapshotPlace) => snapshots.find(place, BigInt(until.revision))
    const all = { has: () => true, set: () => new Map<string, true>() }
    return loader(readUntil(store, until, { whole: true, signal }), { ...snapshots, find }, all)(decider, id)
  }
