import type { EventStore } from '../../events/store.ts'
import { streamId } from '../../events/streams.ts'

/** The stream of the decisions about a projection. */
export const projectionStream = (name: string) => streamId('projection', name)

/** Returns the ids of the events that an operator has parked: the projection skips them in every replay. */
export const loadParked = async (store: Pick<EventStore, 'read'>, projection: string): Promise<ReadonlySet<string>> => {
  const parked = new Set<string>()
  for await (const { type, data } of store.read(projectionStream(projection)))
    if (type === 'EventParked') parked.add(data.event)
  return parked
}
