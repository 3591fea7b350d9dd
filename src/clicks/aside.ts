import type { EventStore } from '../events/store.ts'
import { isSameRoute } from './spool/folders.ts'
import type { EarlierSpool } from './spool/earlier.ts'
import type { Route } from './spool/segment.ts'

/** A spool whose entries are neither recorded nor deleted until an operator accepts or drops them. */
export interface AsideSpool {
  readonly id: string
  readonly dir: string
  /** entries in its files */
  readonly entries: number
  readonly reason: string
}

/**
 * Returns why the entries of a spool must not be recorded in this event log without an operator's word; undefined when
 * they may. Within one event log the numbers alone decide, because only one process has ever written under the spool's
 * id.
 */
export const reasonToKeepAside = (
  { logId, route }: EarlierSpool,
  store: Pick<EventStore, 'logId'>,
  folder: Route,
): string | undefined => {
  if (logId !== undefined && logId !== store.logId) return `it belongs to another event log (${logId})`
  if (!isSameRoute(route, folder))
    return `it belongs to another click log (${route.log}, ${route.partitions} partitions) than its folder`
  return undefined
}

/** Returns how many entries the files of a spool hold. */
export const entriesIn = ({ stats }: Pick<EarlierSpool, 'stats'>): number => {
  const { lastSeq, releasedUpTo } = stats()
  return lastSeq.reduce((sum, seq, partition) => sum + seq - (releasedUpTo[partition] ?? 0), 0)
}
