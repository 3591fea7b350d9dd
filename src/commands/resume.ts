import type { DomainEvent } from '../events/index.ts'
import type { EventStore } from '../events/store.ts'
import { ChangedByNewer, isUnknown } from '../events/unknown.ts'
import type { Decider } from './decider.ts'
import { streamOf } from './decider.ts'
import type { Handled } from './context.ts'

/**
 * Returns what an earlier execution of a command has done to its stream, undefined when it has appended nothing. It
 * reads the whole stream: only for a command that may have been executed before.
 */
export const findOutcome = async <C, S, E extends DomainEvent>(
  store: Pick<EventStore, 'read'>,
  decider: Decider<C, S, E>,
  command: C,
  id: string,
): Promise<Handled<S, E> | undefined> => {
  let state = decider.initialState
  let found: Handled<S, E> | undefined
  for await (const event of store.read(streamOf(decider, command))) {
    if (isUnknown(event)) throw new ChangedByNewer(`The ${decider.kind} ${decider.id(command)}`)
    // a stream holds the events of its own decider only
    state = decider.evolve(state, event as DomainEvent as E)
    // a fence only prepares what a command does
    if (event.metadata.command === id && event.type !== 'ClaimFenced')
      found = { state, events: [], position: event.position, revision: Number(event.revision) }
  }
  return found
}
