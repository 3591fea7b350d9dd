import type { ClicksState } from '../../clicks/state.ts'
import type { Filter } from '../../events/store.ts'
import type { OperatorHealth } from '../../http/operator/operator.ts'
import { projections } from '../../projections/index.ts'
import { storageSizes, webhookHealth } from '../../queries/operator/operator.ts'
import { secondsBehind } from '../health/lag.ts'
import type { Ledger } from '../log/ledger.ts'
import { least, type Projected, readProjected } from '../log/projector.ts'
import type { Readiness } from '../health/readiness.ts'

/** Returns the position up to which all tables have the events of a kind. */
const positionOf = ({ live }: Projected, filter: Filter) => {
  const named = new Set(projections.filter((one) => one.filter === filter).map(({ name }) => name))
  const positions = live.filter(({ projection }) => named.has(projection)).map(({ position }) => BigInt(position))
  return positions.length === 0 ? 0n : least(positions)
}

/**
 * Returns what reads the health of the service for an operator on the dashboard: `problems` and `clicks` are those of
 * this process.
 */
export const openOperatorHealth =
  (
    { db, reader, store }: Pick<Ledger, 'db' | 'reader' | 'store'>,
    problems: (of?: 'api') => Readiness,
    clicks: () => Pick<ClicksState, 'relays'>,
  ): OperatorHealth =>
  async () => {
    const [projected, storage, webhooks] = await Promise.all([
      readProjected(db),
      storageSizes({ db }),
      webhookHealth(reader),
    ])
    const behind = async (filter: Filter) => {
      const seconds = await secondsBehind(store, filter, positionOf(projected, filter))
      return seconds === null ? null : Math.round(seconds)
    }
    const [changesBehind, clicksBehind] = await Promise.all([behind('domain'), behind('clicks')])
    const { ready, problems: found } = problems('api')
    const { relays } = clicks()
    return {
      ready,
      problems: found,
      projections: projections.map(({ name }) => ({
        name,
        halted: projected.halts.find(({ projection }) => projection === name)?.reason ?? null,
      })),
      behind: { changes: changesBehind, clicks: clicksBehind },
      relay: {
        clicks: relays.reduce((sum, { lag }) => sum + lag, 0),
        seconds: Math.round(Math.max(0, ...relays.map(({ lagSeconds }) => lagSeconds))),
      },
      webhooks,
      storage,
    }
  }
