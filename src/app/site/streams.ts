import { openClickBatches } from '../../http/streams/source/batches.ts'
import { limitStreams } from '../../http/streams/limit.ts'
import type { Streams } from '../../http/streams/stream.ts'
import { openTail } from '../../http/streams/tail.ts'
import { changedAfter, type IndexName, newestEntry } from '../../queries/streams/accountindex.ts'
import { addressSite } from '../../lib/address.ts'
import { createSemaphore, within } from '../../lib/async/semaphore.ts'
import type { Ledger } from '../log/ledger.ts'

/**
 * Streams that read at the same time. Each uses one connection meanwhile; two more are for those that look for what is
 * new.
 */
const reading = 4
const connections = reading + 2
/** An account reads once at a time, however many streams it has; the last turn is kept for networks that have none. */
const turns = { total: reading, perKey: 1, kept: 1, waiting: 1000 }
/** ms */
const statementTimeout = 30_000
/** ms: proxies close connections that are silent for a minute or less */
const beat = 15_000
/** ms in which a client has to read 64 KiB */
const timeoutMs = 60_000

/** Opens what streams of events and clicks read from. */
export const openStreams = (
  ledger: Pick<Ledger, 'config' | 'log' | 'metrics' | 'pool' | 'projected' | 'store' | 'stored' | 'tables'>,
): Streams & { readonly close: () => Promise<void> } => {
  const { config, log, metrics, pool, projected, store, stored, tables } = ledger
  const reader = { db: pool(connections, statementTimeout, 'stream'), table: tables.name }
  const takeTurn = createSemaphore<number>(turns)
  const limits = limitStreams({ perAccount: config.STREAMS_PER_ACCOUNT, total: config.STREAMS })
  const tailOf = (index: IndexName, topic: string) =>
    openTail({
      changedAfter: (after) => changedAfter(reader, index, after),
      newest: () => newestEntry(reader, index),
      projected,
      topic,
    })
  const tails = { events: tailOf('events', 'domain'), clicks: tailOf('clicks', 'clicks') }
  metrics.registerGauge({
    name: 'linkledger_streams',
    help: 'Streams of events and clicks that are open',
    read: limits.open,
  })
  return {
    ...limits,
    reader,
    readStream: (...of) => store.read(...of),
    clickBatches: openClickBatches((...of) => stored.read(...of)),
    tails,
    beat,
    timeoutMs,
    inTurn: ({ account, from }, read) => within(takeTurn, account, read, addressSite(from)),
    onFailed: (error) => log.error({ err: error }, 'a stream failed; its client connects again'),
    close: async () => {
      await Promise.all([tails.events.close(), tails.clicks.close()])
    },
  }
}
