import type { Cache } from '../../cache/cache.ts'
import type { Filter } from '../../events/store.ts'
import type { Cleanup } from '../../lib/cleanup.ts'
import type { Engine } from '../engine/engine.ts'
import { registerProjector } from '../health/gauges.ts'
import { watchLag } from '../health/lag.ts'
import { logLag } from '../health/behind.ts'
import type { Ledger } from './ledger.ts'

/** Watches how far the read tables are behind the log. */
export const watchProjecting = (ledger: Ledger, { progress }: Cache, engine: Engine, cleanup: Cleanup) => {
  const projector = () => engine.state().projector
  const subscription = (filter: Filter) => projector()?.subscriptions.find((one) => one.filter === filter)
  const clicks = () => subscription('clicks')?.filling ?? subscription('clicks')?.position
  const { lag, stop } = watchLag({
    store: ledger.store,
    onBehind: engine.look,
    positions: {
      domain: () => subscription('domain')?.filling ?? progress.seen(),
      // only the process that projects knows how far the clicks are
      clicks: () => (projector()?.active ? clicks() : undefined),
    },
  })
  cleanup.defer(async () => stop())
  const stopLogging = logLag({
    log: ledger.log,
    lag,
    maxLag: ledger.config.READY_MAX_LAG_SECONDS,
    complete: ledger.tables.complete,
    failure: (filter) => subscription(filter)?.failure,
  })
  cleanup.defer(async () => stopLogging())
  registerProjector(ledger.metrics, lag, projector)
  return lag
}
