import { loaderUntil } from '../../commands/former.ts'
import type { Past, ReadBy } from '../../http/api/past/past.ts'
import { type Acquire, createSemaphore } from '../../lib/async/semaphore.ts'
import { beginPast, beginPresent, type MomentOptions, type TablesAt } from '../../queries/history/tablesat.ts'
import type { Ledger } from '../log/ledger.ts'

/** connections: how many there are, one account may use, and are kept for accounts and networks that use none */
const [forStatistics, forOthers] = [
  { total: 4, perKey: 2, kept: 1, waiting: 1000 },
  { total: 10, perKey: 6, kept: 3, waiting: 1000 },
]
/**
 * Long pages that are read and made at the same time, before any of them has a connection: to make one keeps the event
 * loop busy, so an account has one, and the last is kept for networks that have none.
 */
const longPages = { total: 3, perKey: 1, kept: 1, waiting: 1000 }
/** ms that a statement may take: the request has its answer by then */
const timeout = 5000

/**
 * Opens what the API reads from: connections for statistics and connections for all other answers. An answer has one
 * until it is complete, so that all of it is from one moment, and an account never has all of them. What requests write
 * has others, so that neither waits for the other, and so has the redirect.
 */
export const openReads = ({ config, ordinals, pool, snapshots, store, tables }: Ledger): Past => {
  const kinds = {
    statistics: {
      db: pool(forStatistics.total, timeout, 'statistics'),
      acquire: createSemaphore<number>(forStatistics),
    },
    others: { db: pool(forOthers.total, timeout, 'reads'), acquire: createSemaphore<number>(forOthers) },
  }
  const longPage = createSemaphore<number>(longPages)
  const takeTurn = async ({ account = 0, network, statistics, isLong }: ReadBy, acquire: Acquire<number>) => {
    const endLong = isLong && !statistics ? await longPage(account, network) : () => {}
    try {
      const release = await acquire(account, network)
      return () => {
        release()
        endLong()
      }
    } catch (error) {
      endLong()
      throw error
    }
  }
  const begin = async (by: ReadBy, start: (from: MomentOptions) => Promise<TablesAt>): Promise<TablesAt> => {
    const { db, acquire } = kinds[by.statistics ? 'statistics' : 'others']
    const release = await takeTurn(by, acquire)
    try {
      const { end, ...tablesAt } = await start({ db, tables, head: store.head })
      return { ...tablesAt, end: () => end().finally(release) }
    } catch (error) {
      release()
      throw error
    }
  }
  return {
    ordinals,
    present: (by) => begin(by, beginPresent),
    earlier: config.KEEP_PAST === 'on' ? (at, by) => begin(by, (from) => beginPast(from, at)) : undefined,
    loadUntil: (position) => loaderUntil(store, position, snapshots),
  }
}
