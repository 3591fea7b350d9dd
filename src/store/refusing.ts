import { type EventStore, StoreUnavailable } from '../events/store.ts'

/**
 * Returns the store that `find` returns later; until then, `find` returns why every call is refused with
 * `StoreUnavailable`.
 */
export const refusing = (logId: string, find: () => EventStore | string): EventStore => {
  const store = () => {
    const found = find()
    if (typeof found === 'string') throw new StoreUnavailable(found)
    return found
  }
  return {
    logId,
    // only an engine that can be away while the service starts is opened later: EventStoreDB
    atomic: false,
    append: async (...args) => store().append(...args),
    read: async function* (...args) {
      yield* store().read(...args)
    },
    last: async (...args) => store().last(...args),
    subscribe: async function* (...args) {
      yield* store().subscribe(...args)
    },
    head: async (...args) => store().head(...args),
    idAt: async (...args) => store().idAt(...args),
    problem: () => {
      const found = find()
      return typeof found === 'string' ? undefined : found.problem?.()
    },
    close: async () => {},
  }
}
