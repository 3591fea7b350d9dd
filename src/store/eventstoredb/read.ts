import type { EventStoreDBClient } from '@eventstore/db-client'
import pLimit from 'p-limit'
import { type Filter, StoreRefused } from '../../events/store.ts'
import type { Attempt, Calls } from './calls.ts'
import { refusalOf } from './cause.ts'
import { type Encoded, pageBytes, parsed } from '../slices.ts'
import { eventsOf, isOfLog, passes } from './events.ts'
import type { Passed, ReadBack } from './head.ts'
import { library } from './library.ts'
import type { Names } from './names.ts'

/** A server answers about 100 calls at a time on one connection, and appends must not wait for a flood of reads. */
const concurrentReads = 20

const filters: readonly Filter[] = ['domain', 'clicks', 'all']

const isGone = (error: unknown) =>
  error instanceof library().StreamNotFoundError || error instanceof library().StreamDeletedError

/**
 * At most `count` events of a stream, from a revision on or its last ones; none when the stream does not exist or was
 * deleted. A page ends early when it has `pageBytes`.
 */
export type ReadPage = (stream: string, from: bigint | 'end', count: number, until?: number) => Promise<Encoded[]>

export const createReadPage = ({ call, deadline, unreachable }: Calls, names: Names): ReadPage => {
  const limit = pLimit(concurrentReads)
  return async (stream, from, count, until) => {
    const options =
      from === 'end'
        ? ({ direction: library().BACKWARDS, fromRevision: library().END, maxCount: count } as const)
        : { fromRevision: from, maxCount: count }
    const attempt = async (client: EventStoreDBClient, ms: number) => {
      const page: Encoded[] = []
      let bytes = 0
      for await (const raw of eventsOf(
        client.readStream(names.to(stream), { ...options, requiresLeader: true }),
        names,
        ms,
      )) {
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

export const createReadBack =
  ({ call, deadline }: Calls, names: Names): ReadBack =>
  (before, count) =>
    call(async (client, ms, closed) => {
      const fromPosition = before === 'end' ? library().END : { commit: before, prepare: before }
      const page: Passed[] = []
      const read = client.readAll({
        direction: library().BACKWARDS,
        fromPosition,
        maxCount: count,
        requiresLeader: true,
      })
      for await (const event of eventsOf(read, names, ms, closed)) {
        const { position, id } = event
        page.push({ position, id, filters: new Set(filters.filter((filter) => passes(filter, event))) })
      }
      return page
    }, deadline())

/**
 * Throws when the user may not read `$all`: it could append, but no table would ever be filled. Waits `ms` at most; any
 * other failure is left to the calls that follow.
 */
export const requireAll = async (client: EventStoreDBClient, names: Names, ms: number): Promise<void> => {
  const read = client.readAll({
    direction: library().BACKWARDS,
    fromPosition: library().END,
    maxCount: 1,
    requiresLeader: true,
  })
  try {
    for await (const _ of eventsOf(read, names, ms)) return
  } catch (error) {
    if (error instanceof library().AccessDeniedError) throw new StoreRefused(refusalOf(error), { cause: error })
  }
}

/** Returns what asks the server for one event. */
export const createProbe =
  (names: Names): Attempt<void> =>
  async (client, ms, closed) => {
    const read = client.readStream(names.to('log'), { maxCount: 1, requiresLeader: true })
    for await (const _ of eventsOf(read, names, ms, closed)) return
  }

/**
 * Id of the event of this log at a position, or of any event of the server; undefined when none begins there. A log
 * that was copied to another prefix on its server has its ids at other positions.
 */
export const createIdAt =
  ({ call, deadline }: Calls, names: Names, of: 'log' | 'server') =>
  async (position: bigint): Promise<string | undefined> => {
    const fromPosition = { commit: position, prepare: position }
    const attempt = async (client: EventStoreDBClient, ms: number) => {
      for await (const event of eventsOf(
        client.readAll({ fromPosition, maxCount: 1, requiresLeader: true }),
        names,
        ms,
      ))
        return event.position === position && (of === 'server' || isOfLog(event)) ? event.id : undefined
      return undefined
    }
    return call(attempt, deadline(), isNoEventThere).catch((error: unknown) => {
      if (isNoEventThere(error)) return undefined
      throw error
    })
  }

/** How a server that has just answered reports a position at which no event begins. */
const isNoEventThere = (error: unknown) =>
  error instanceof library().UnknownError || error instanceof library().InvalidArgumentError
