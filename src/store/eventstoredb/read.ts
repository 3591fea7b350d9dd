import {
  BACKWARDS,
  END,
  type EventStoreDBClient,
  InvalidArgumentError,
  StreamDeletedError,
  StreamNotFoundError,
  UnknownError,
} from '@eventstore/db-client'
import pLimit from 'p-limit'
import type { Filter } from '../../events/store.ts'
import type { Calls } from './calls.ts'
import { type Encoded, pageBytes, parsed } from '../slices.ts'
import { eventsOf, passes } from './events.ts'

/** A server answers about 100 calls at a time on one connection, and appends must not wait for a flood of reads. */
const concurrentReads = 20

const isGone = (error: unknown) => error instanceof StreamNotFoundError || error instanceof StreamDeletedError

/**
 * At most `count` events of a stream, from a revision on or its last ones; none when the stream does not exist or was deleted. A page ends
 * early when it has `pageBytes`.
 */
export type ReadPage = (stream: string, from: bigint | 'end', count: number, until?: number) => Promise<Encoded[]>

export const createReadPage = ({ call, deadline, unreachable }: Calls): ReadPage => {
  const limit = pLimit(concurrentReads)
  return async (stream, from, count, until) => {
    const options =
      from === 'end'
        ? ({ direction: BACKWARDS, fromRevision: END, maxCount: count } as const)
        : { fromRevision: from, maxCount: count }
    const attempt = async (client: EventStoreDBClient, ms: number) => {
      const page: Encoded[] = []
      let bytes = 0
      for await (const raw of eventsOf(client.readStream(stream, { ...options, requiresLeader: true }), ms)) {
        const event = parsed(raw)
        page.push(event)
        bytes += event.bytes
        if (bytes >= pageBytes) break
      }
      return page
    }
    try {
      const startBy = deadline()
      return await limit(() => {
        if (Date.now() > startBy) throw unreachable()
        return call(attempt, until ?? deadline())
      })
    } catch (error) {
      if (isGone(error)) return []
      throw error
    }
  }
}

/** Position of the newest event that passes a filter, 0n when there is none. */
export type Head = (filter: Filter) => Promise<bigint>

/** Reads the log backwards, which the client cannot filter. Remembers what was searched, so that the next search stops there. */
export const createHead = ({ call, deadline }: Calls): Head => {
  const searched = new Map<Filter, { readonly upTo: bigint; readonly newest: bigint }>()
  return (filter) =>
    call(async (client, ms) => {
      const before = searched.get(filter) ?? { upTo: -1n, newest: 0n }
      let upTo: bigint | undefined
      let newest = 0n
      const read = client.readAll({ direction: BACKWARDS, fromPosition: END, requiresLeader: true })
      for await (const event of eventsOf(read, ms)) {
        const { position } = event
        upTo ??= position
        const known = position <= before.upTo && upTo >= before.upTo
        if (known || passes(filter, event)) {
          newest = known ? before.newest : position
          break
        }
      }
      searched.set(filter, { upTo: upTo ?? -1n, newest })
      return newest
    }, deadline())
}

/** Id of the event at a position; undefined when no event begins there. */
export const createIdAt =
  ({ call, deadline }: Calls, head: Head) =>
  async (position: bigint): Promise<string | undefined> => {
    if (position > (await head('all'))) return undefined
    const fromPosition = { commit: position, prepare: position }
    const attempt = async (client: EventStoreDBClient, ms: number) => {
      for await (const event of eventsOf(client.readAll({ fromPosition, maxCount: 1, requiresLeader: true }), ms))
        return event.position === position ? event.id : undefined
      return undefined
    }
    return call(attempt, deadline(), isNoEventThere).catch((error: unknown) => {
      if (isNoEventThere(error)) return undefined
      throw error
    })
  }

/** How a server that has just answered reports a position at which no event begins. */
const isNoEventThere = (error: unknown) => error instanceof UnknownError || error instanceof InvalidArgumentError
