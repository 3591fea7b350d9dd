import type { EventStore } from '../events/store.ts'
import type { Log } from './report.ts'
import { openClickRecord } from './record.ts'
import { type ClickSink, logSink, logSinkWithoutGaps } from './sink.ts'
import { isLocal, spoolDir } from './spool/folders.ts'
import type { Route } from './spool/segment.ts'
import { openSpool, type Spool } from './spool/spool.ts'

export interface LeftoverOptions {
  readonly store: EventStore
  readonly log: Log
  /** folder of all spools */
  readonly spools: string
  readonly route: Route
}

/** A spool that takes no more visits, and the sink for what it still holds: the event log. */
export interface Leftover {
  readonly spool: Spool
  readonly sink: ClickSink
}

/** Opens a spool that earlier settings, or another machine, left behind. */
export const openLeftover = async ({ store, log, spools, route }: LeftoverOptions): Promise<Leftover> => {
  const spool = await openSpool({ dir: spoolDir(spools, route), route, log })
  // reading a closed spool ends with its last entry
  await spool.close()
  const record = openClickRecord({ store, ...route })
  return { spool, sink: isLocal(route) ? logSink(record) : logSinkWithoutGaps(record) }
}
