import { join } from 'node:path'
import type { Admitted } from '../../cache/admitted.ts'
import { logTo } from '../../clicks/report.ts'
import { localRoute, spoolDir } from '../../clicks/spool/folders.ts'
import { spooledUpTo } from '../../clicks/spool/journal.ts'
import type { Route } from '../../clicks/spool/segment.ts'
import { openSpool, type Spool } from '../../clicks/spool/spool.ts'
import type { Config } from '../../config.ts'
import { backOff } from '../../lib/async/backoff.ts'
import type { Ledger } from './ledger.ts'

/** Where the visits of a process with these settings go, and the folders of its spool and of all spools. */
export const routeOf = ({
  DATA_DIR,
  KAFKA_BROKERS,
  KAFKA_TOPIC,
  KAFKA_PARTITIONS,
}: Config): { readonly route: Route; readonly dir: string; readonly spools: string } => {
  const route = KAFKA_BROKERS.length === 0 ? localRoute : { log: KAFKA_TOPIC, partitions: KAFKA_PARTITIONS }
  const spools = join(DATA_DIR, 'spool')
  return { route, spools, dir: spoolDir(spools, route) }
}

/** Opens the spool of this process. */
export const openVisits = ({ config, store, log }: Pick<Ledger, 'config' | 'store' | 'log'>): Promise<Spool> => {
  const { dir, route } = routeOf(config)
  return openSpool({ dir, route, logId: store.logId, log: logTo(log) })
}

/**
 * Lets those who count people follow the spool, and says from where on the tables have the clicks of earlier processes,
 * once `delivered` says that all of those are recorded. With Kafka nothing says so: a click counts as projected after
 * some seconds.
 */
export const followAdmitted = async (
  { config, store }: Pick<Ledger, 'config' | 'store'>,
  admitted: Admitted,
  { stats }: Pick<Spool, 'stats'>,
  delivered: Promise<void>,
  signal: AbortSignal,
) => {
  if (config.KAFKA_BROKERS.length > 0) return
  admitted.follow((link) => spooledUpTo(link, localRoute, stats().lastSeq))
  await delivered
  const retries = backOff({ from: 100, to: 5000, signal })
  while (!signal.aborted) {
    const position = await store.head('clicks', signal).catch(() => undefined)
    if (position !== undefined) return admitted.startAt(position)
    await retries.pause()
  }
}
