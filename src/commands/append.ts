import { v5 as uuid } from 'uuid'
import type { New } from '../events/event.ts'
import type { DomainEvent } from '../events/index.ts'
import type { EventStore, ExpectedRevision } from '../events/store.ts'
import type { PendingWrite } from './claims/writes.ts'
import type { Context } from './context.ts'

/** Merges writes to the same stream: an append takes each stream once. */
const mergeByStream = (writes: readonly PendingWrite[]) => {
  const streams = new Map<string, PendingWrite>()
  for (const write of writes) {
    const before = streams.get(write.stream)
    streams.set(write.stream, before ? { ...before, events: [...before.events, ...write.events] } : write)
  }
  return [...streams.values()]
}

/** What a command decides on: a stream at a revision. */
export interface Basis {
  readonly stream: string
  readonly revision: ExpectedRevision
}

/**
 * Event ids follow from the command, from what it was decided on, and from the event's place and type. So the store
 * recognises a retry of the same decision, while a decision that is made again after a conflict has other ids.
 */
export const append = (store: EventStore, writes: readonly PendingWrite[], context: Context, basis: Basis) => {
  const metadata = { v: 1, ...context }
  const identified = ({ stream, expected, events }: PendingWrite) => {
    const first = expected === 'no_stream' ? 0n : expected + 1n
    const idOf = (type: string, i: number) =>
      uuid(`${type} ${stream}@${first + BigInt(i)} for ${basis.stream}@${basis.revision}`, context.command)
    const identify = (event: DomainEvent, i: number): New<DomainEvent> => ({
      ...event,
      id: idOf(event.type, i),
      metadata,
    })
    return { stream, expected, events: events.map(identify) }
  }
  return store.append(mergeByStream(writes).map(identified))
}
