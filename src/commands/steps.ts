import type { Recorded } from '../events/event.ts'
import type { DomainEvent, LogEvent } from '../events/index.ts'
import type { EventStore } from '../events/store.ts'
import { streamId } from '../events/streams.ts'
import { isUnknown } from '../events/unknown.ts'
import { noSnapshots, type SnapshotStore } from '../security/snapshots.ts'
import type { Decider } from './decider.ts'
import { readFromSnapshot, snapshotInterval } from './load.ts'

/**
 * An event of a stream, and the states of its resource before and after it. They are the same for an event that only a
 * newer release can read.
 */
export interface Step<S> {
  readonly event: Recorded<LogEvent>
  readonly before: S
  readonly after: S
}

/** Which steps of a stream are read: those of the revisions `from` to `upTo`, both included; by default all. */
export interface StepRange {
  readonly from?: number
  readonly upTo?: number | undefined
  /** Called with all that is read: events, also those before `from`, and the state of a snapshot. */
  readonly onRead?: ((read: unknown) => void) | undefined
}

/** Reads steps of a stream, from the newest snapshot before them on. Throws `StoreUnavailable`. */
export type ReadSteps = <C, S, E extends DomainEvent>(
  decider: Pick<Decider<C, S, E>, 'kind' | 'version' | 'initialState' | 'evolve'>,
  id: string | number,
  range?: StepRange,
) => AsyncGenerator<Step<S>>

export const stepReader = (store: Pick<EventStore, 'read'>, snapshots: SnapshotStore = noSnapshots): ReadSteps =>
  async function* <C, S, E extends DomainEvent>(
    decider: Pick<Decider<C, S, E>, 'kind' | 'version' | 'initialState' | 'evolve'>,
    id: string | number,
    { from = 0, upTo = Infinity, onRead }: StepRange = {},
  ) {
    const { kind, version, initialState, evolve } = decider
    const stream = streamId(kind, id)
    const known =
      from < snapshotInterval
        ? undefined
        : await readFromSnapshot<S>(store, snapshots, { stream, version }, { from, upTo })
    if (known) onRead?.(known.state)
    let before = known ? known.state : initialState
    for await (const event of known?.after ?? store.read(stream, 0n, upTo + 1)) {
      onRead?.(event)
      // a stream holds the events of its own decider only
      const after = isUnknown(event) ? before : evolve(before, event as DomainEvent as E)
      if (event.revision >= from) yield { event, before, after }
      before = after
    }
  }
