import type { New } from '../../src/events/event.ts'
import type { DomainEvent } from '../../src/events/index.ts'
import type { EventStore } from '../../src/events/store.ts'
import { fresh } from './events.ts'

/** Returns an event of a type that only a newer release knows. */
export const newerEvent = (data: object = { id: 1 }): New<DomainEvent> =>
  fresh({ type: 'LinkRaptured', data } as unknown as DomainEvent)

/** Appends such an event to the end of a stream, as a process of a newer release would. */
export const appendNewer = async (store: Pick<EventStore, 'last' | 'append'>, stream: string) => {
  const expected = (await store.last(stream))?.revision ?? 'no_stream'
  const appended = await store.append([{ stream, expected, events: [newerEvent()] }])
  if (!appended.ok) throw new Error(`${stream} is at ${appended.actual}`)
  return appended.position
}
