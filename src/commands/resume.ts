import type { DomainEvent } from '../events/index.ts'
import type { EventStore } from '../events/store.ts'
import { ChangedByNewer, isUnknown } from '../events/unknown.ts'
import type { Decider } from './decider.ts'
import { streamOf } from './decider.ts'
import type { Handled } from './context.ts'

/** What an earlier execution of a command has done to its stream. `state` is that after it, without later changes. */
export interface Outcome<S, E> extends Handled<S, E> {
  readonly before: S
}

/**
 * Returns what an earlier execution of a command has done to its stream, undefined when it has appended nothing. It
 * reads the stream from its beginning: only for a command that may have been executed before.
 */
export const findOutcome = async <C, S, E extends DomainEvent>(
  store: Pick<EventStore, 'read'>,
  decider: Decider<C, S, E>,
  command: C,
  id: string,
): Promise<Outcome<S, E> | undefined> => {
  let state = decider.initialState
  let found: Outcome<S, E> | undefined
  for await (const event of store.read(streamOf(decider, command))) {
    // a fence only prepares what a command does
    const isOwn = event.metadata.command === id && event.type !== 'ClaimFenced'
    // a command appends all of its events at once
    if (found && !isOwn) return found
    if (isUnknown(event)) throw new ChangedByNewer(`The ${decider.kind} ${decider.id(command)}`)
    // a stream holds the events of its own decider only
    const own = event as DomainEvent as E
    const before = found ? found.before : state
    state = decider.evolve(state, own)
    if (isOwn) {
      const events = [...(found?.events ?? []), own]
      found = { before, state, events, position: event.position, revision: Number(event.revision) }
    }
  }
  return found
}
