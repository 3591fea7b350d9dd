import type { Cleanup } from '../../lib/cleanup.ts'
import { keepSearchIndex } from '../jobs/searchindex.ts'
import { installTrigrams, trigrams } from '../../postgres/trigrams.ts'
import { cancellable } from '../cancellable.ts'
import type { Ledger } from '../log/ledger.ts'

/** ms that building the index may take */
const day = 86_400_000

/** Makes lists searchable by an index, where PostgreSQL can: the process that projects builds it. */
export const startSearch = async (ledger: Ledger, cleanup: Cleanup) => {
  const { db, log, tables, config } = ledger
  const problem = await installTrigrams(db)
  if (problem !== undefined)
    return log.warn(
      { problem },
      `searching lists by \`q\` reads all links of an account, because PostgreSQL lacks the extension ${trigrams}: ` +
        `an administrator of the database can add it with "create extension ${trigrams}"`,
    )
  if (!config.ROLES.has('projector')) return
  const { db: own, stopped } = cancellable(ledger, { use: 'search', max: 1, timeout: day })
  const stop = keepSearchIndex({
    reader: { db: own, table: tables.name },
    onBuilt: (ms) => log.info({ ms }, 'built the index for searching links'),
    onProblem: (err) => log.error({ err }, 'the index for searching links could not be built'),
    watching: ledger.jobs.open('search_index', 'the index for searching links is not built').watching,
  })
  cleanup.defer(() => stopped(stop()))
}
