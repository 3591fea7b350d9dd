import type { Recorded } from '../events/event.ts'
import type { DomainEvent, LogEvent } from '../events/index.ts'
import type { EventStore } from '../events/store.ts'
import { streamId } from '../events/streams.ts'
import { isUnknown } from '../events/unknown.ts'
import type { Decider } from './decider.ts'

/** An event of a stream, and the states of its resource before and after it. They are the same for an event that only a newer release can read. */
export interface Step<S> {
  readonly event: Recorded<LogEvent>
  readonly before: S
  readonly after: S
}

/** Reads a stream from its beginning up to a revision, or to its end. Throws `StoreUnavailable`. */
export type ReadSteps = <C, S, E extends DomainEvent>(
  decider: Pick<Decider<C, S, E>, 'kind' | 'initialState' | 'evolve'>,
  id: string | number,
  upTo?: number,
) => AsyncGenerator<Step<S>>

export const stepReader = (store: Pick<EventStore, 'read'>): ReadSteps =>
  async function* <C, S, E extends DomainEvent>(
    { kind, initialState, evolve }: Pick<Decider<C, S, E>, 'kind' | 'initialState' | 'evolve'>,
    id: string | number,
    upTo = Infinity,
  ) {
    let before = initialState
    for await (const event of store.read(streamId(kind, id), 0n, upTo + 1)) {
      // a stream holds the events of its own decider only
      const after = isUnknown(event) ? before : evolve(before, event as DomainEvent as E)
      yield { event, before, after }
      before = after
    }
  }
