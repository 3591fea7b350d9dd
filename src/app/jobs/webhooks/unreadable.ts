import { Unreadable } from '../../../events/codec.ts'
import type { EventStore } from '../../../events/store.ts'

type Log = Pick<EventStore, 'head' | 'read' | 'subscribe'>

/**
 * Returns a log whose unreadable events are read like those of a newer release: one of them must not stop all webhooks.
 */
export const withUnreadable = (
  { head, read, subscribe }: Log,
  onProblem: (error: unknown, what: string) => void,
): Log => {
  const unknown = (error: unknown) => {
    if (!(error instanceof Unreadable)) throw error
    onProblem(error, 'webhooks are sent an event that cannot be read, without its data')
    return error.unknown()
  }
  return {
    head,
    subscribe: async function* (options) {
      let { after } = options
      while (!options.signal.aborted)
        try {
          for await (const events of subscribe({ ...options, after })) {
            yield events
            after = events.at(-1)!.position
          }
          return
        } catch (error) {
          const event = unknown(error)
          yield [event]
          after = event.position
        }
    },
    read: async function* (stream, from = 0n, limit = Infinity) {
      let [next, left] = [from, limit]
      while (left > 0)
        try {
          for await (const event of read(stream, next, left)) {
            yield event
            next = event.revision + 1n
            left--
          }
          return
        } catch (error) {
          const event = unknown(error)
          yield event
          next = event.revision + 1n
          left--
        }
    },
  }
}
