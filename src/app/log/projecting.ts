import type { Cache } from '../../cache/cache.ts'
import type { Filter } from '../../events/store.ts'
import type { Signal } from '../../lib/async/signal.ts'
import type { Cleanup } from '../../lib/cleanup.ts'
import type { Projector } from '../../projections/engine/run.ts'
import type { Subscription } from '../../projections/engine/work.ts'
import { registerProjector } from '../health/gauges.ts'
import { watchLag } from '../health/lag.ts'
import { logLag } from '../health/behind.ts'
import type { Ledger } from './ledger.ts'
import { project } from './projector.ts'

const positionOf = (subscription: Subscription | undefined) => subscription?.filling ?? subscription?.position
const observed = (projector: Projector | undefined) => ({
  active: () => projector?.state().active ?? false,
  subscription: (filter: Filter) => projector?.state().subscriptions.find((one) => one.filter === filter),
})

/** Starts to fill the read tables, if that is a role of this process, and to watch how far they are behind. */
export const startProjecting = (ledger: Ledger, { progress }: Cache, retries: Signal, cleanup: Cleanup) => {
  const projector = ledger.config.ROLES.has('projector')
    ? project(
        ledger,
        async (filter, position) => {
          if (filter === 'domain') await progress.advance(position)
          ledger.projected.notify(filter)
        },
        retries,
      )
    : undefined
  if (projector) cleanup.defer(projector.stop)
  const { active, subscription } = observed(projector)
  const { lag, stop } = watchLag({
    store: ledger.store,
    // the periodic look for what other processes have appended
    onBehind: (filter) => ledger.appended.notify(filter),
    positions: {
      domain: () => subscription('domain')?.filling ?? progress.seen(),
      // only the process that projects knows how far the clicks are
      clicks: () => (active() ? positionOf(subscription('clicks')) : undefined),
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
  registerProjector(ledger.metrics, lag, projector?.state)
  return { projector, lag }
}
