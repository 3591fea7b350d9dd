import type { DomainEvent } from '../events/index.ts'
import type { EventStore, ExpectedRevision } from '../events/store.ts'
import { streamId } from '../events/streams.ts'
import { ChangedByNewer, isUnknown } from '../events/unknown.ts'
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

/** Reads a stream by its decider and id. Throws `StoreUnavailable`, `ChangedByNewer` with what is `known` as `Loaded<S>`. */
export type Load = <C, S, E extends DomainEvent>(decider: Decider<C, S, E>, id: string | number) => Promise<Loaded<S>>

export const loader =
  (store: Pick<EventStore, 'read'>): Load =>
  async <C, S, E extends DomainEvent>(decider: Decider<C, S, E>, id: string | number) => {
    let loaded: Loaded<S> = {
      state: decider.initialState,
      revision: 'no_stream',
      position: 0n,
      since: '',
      createdBy: '',
    }
    for await (const event of store.read(streamId(decider.kind, id))) {
      if (isUnknown(event)) throw new ChangedByNewer(`The ${decider.kind} ${id}`, loaded)
      const { revision, position } = event
      // a stream holds the events of its own decider only
      const state = decider.evolve(loaded.state, event as DomainEvent as E)
      const creates = revision === 0n && event.type !== 'ClaimFenced'
      const first = creates ? { since: event.at, createdBy: event.metadata.command } : loaded
      loaded = { ...loaded, ...first, state, revision, position }
    }
    return loaded
  }
