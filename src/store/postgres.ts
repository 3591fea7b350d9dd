import type { Pool } from 'pg'
import type { Codec } from '../events/codec.ts'
import { appendLimit, type EventStore } from '../events/store.ts'
import type { Signal } from '../lib/async/signal.ts'
import { ensureLogOpened, type MakeOpening } from './open.ts'
import { createAppendQueue, encodeWrites } from './postgres/append.ts'
import { createAppendNotifier } from './postgres/notify.ts'
import { createQuery } from './postgres/query.ts'
import { createReads } from './postgres/read.ts'
import { recentClicks, type RecentClicks } from './postgres/recent.ts'
import { createSubscribe, createTexts, filtersOf } from './postgres/subscribe.ts'

interface PostgresOptions {
  /** appends that share a call at most, and reads that share a query */
  readonly groups?: number
  /** bytes of JSON in one call at most, unless a single append is larger */
  readonly bytes?: number
  /** retries of a call whose outcome is unknown; the first after 100 ms, each later one after twice the pause */
  readonly retries?: number
  /** first event of an empty log; by default one with a new log id */
  readonly opening?: MakeOpening
  /** shared by the stores of a process that read the same log */
  readonly recent?: RecentClicks
}

/**
 * The event log in the schema `log` of a PostgreSQL. The store notifies `appended` after its own appends; the caller
 * notifies it when another process may have appended. Throws `StoreUnavailable` when the database cannot be reached.
 */
export const postgresStore = async (
  pool: Pool,
  codec: Codec,
  appended: Signal,
  { groups = 64, bytes = appendLimit, retries = 4, opening, recent = recentClicks() }: PostgresOptions = {},
): Promise<EventStore> => {
  const query = createQuery(pool)
  const others = createAppendNotifier(pool)
  const queue = createAppendQueue({
    query,
    limits: { groups, bytes },
    retries,
    onCalled: (called) => {
      for (const { writes } of called) for (const { events } of writes) events.forEach(recent.add)
      const filters = filtersOf(called)
      appended.notify(...filters)
      others.notify(filters)
    },
  })

  const store: Omit<EventStore, 'logId'> = {
    atomic: true,
    append: async (writes) => queue.append(await encodeWrites(codec, writes)),
    ...createReads(query, codec, groups),
    subscribe: createSubscribe({ query, appended, recent }, codec),
    // for what verifies the log: it has to see what is stored
    texts: createTexts({ query, appended, recent: recentClicks(0) }),
    close: async () => {
      await queue.idle()
      await others.idle()
    },
  }
  return { ...store, logId: await ensureLogOpened(store, opening) }
}
