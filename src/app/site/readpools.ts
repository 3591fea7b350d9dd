import { loaderUntil } from '../../commands/load.ts'
import type { Past, ReadBy } from '../../http/api/past/past.ts'
import { createSemaphore } from '../../lib/async/semaphore.ts'
import { beginPast, beginPresent, type MomentOptions, type TablesAt } from '../../queries/history/tablesat.ts'
import type { Ledger } from '../log/ledger.ts'

/** connections, those of them that one account may use, and its requests that may wait for one */
const [most, perAccount, waiting] = [10, 6, 1000]
const [mostStatistics, statisticsPerAccount] = [4, 2]
/** ms that a statement may take */
const timeout = 10_000

/**
 * Opens what the API reads from: connections for statistics and connections for all other answers. An answer has one
 * until it is complete, so that all of it is from one moment, and an account never has all of them. What requests write
 * has others, so that neither waits for the other, and so has the redirect.
 */
export const openReads = ({ config, ordinals, pool, store, tables }: Ledger): Past => {
  const kinds = {
    statistics: {
      db: pool(mostStatistics, timeout, 'statistics'),
      acquire: createSemaphore<number>(statisticsPerAccount, waiting),
    },
    others: { db: pool(most, timeout, 'reads'), acquire: createSemaphore<number>(perAccount, waiting) },
  }
  const begin = async (
    { account = 0, statistics }: ReadBy,
    start: (from: MomentOptions) => Promise<TablesAt>,
  ): Promise<TablesAt> => {
    const { db, acquire } = kinds[statistics ? 'statistics' : 'others']
    const release = await acquire(account)
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
    loadUntil: (position) => loaderUntil(store, position),
  }
}
