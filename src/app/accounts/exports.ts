import type { Progress } from '../../cache/progress.ts'
import { type Exports, limitExports } from '../../http/accounts/export/limit.ts'
import { openImageStore } from '../../security/images.ts'
import type { Ledger } from '../log/ledger.ts'

/** Exports at the same time in this process. Each needs a few MB; one whose client is slow needs nothing else. */
const most = 20
/** Connections of all exports together. */
const connections = 2
/** ms */
const [statementTimeout, catchUpTimeout] = [30_000, 2000]

/** Opens what exports of accounts read from. */
export const openExports = (
  { keys, pool, store, tables }: Pick<Ledger, 'keys' | 'pool' | 'store' | 'tables'>,
  { wait, seen }: Pick<Progress, 'wait' | 'seen'>,
): Exports => {
  const db = pool(connections, statementTimeout, 'export')
  return {
    reader: { db, table: tables.name },
    readStream: (...of) => store.read(...of),
    findImage: openImageStore(db, keys).find,
    caughtUp: async () => {
      const head = await store.head('domain')
      await wait(head, catchUpTimeout)
      return { position: seen(), head }
    },
    begin: limitExports(most),
  }
}
