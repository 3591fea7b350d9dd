import { setTimeout as sleep } from 'node:timers/promises'
import type { ClassifierOptions } from '../../clicks/classify.ts'
import type { Countries } from '../../clicks/visitor/geoip.ts'
import type { Spool } from '../../clicks/spool/spool.ts'
import { type ClicksState, problemsOf, requireTaken } from '../../clicks/state.ts'
import type { Cleanup } from '../../lib/cleanup.ts'
import { type EngineEvents, startEngine } from './engine.ts'
import { type EngineThread, openEngineThread } from './thread.ts'
import { registerClicks } from '../health/gauges.ts'
import type { Ledger } from '../log/ledger.ts'
import { followAdmitted, openVisits, routeOf } from '../log/spool.ts'
import type { Overrides } from '../overrides.ts'
import type { View } from '../log/view.ts'

/** The visits of one process: its spool, and the engine that takes them from there to the read tables. */
export interface Clicks {
  /** Adds a visit to the spool. */
  readonly add: Spool['add']
  readonly engine: EngineThread
  readonly state: () => ClicksState
  /** Returns what keeps clicks from being counted, for an operator to read. */
  readonly problems: () => readonly string[]
}

interface ClicksParts {
  readonly view: View
  readonly visitors: Pick<ClassifierOptions, 'isOurHost'> & { readonly countries: Countries }
  readonly ports: readonly number[]
  readonly overrides: Overrides
}

/** ms that a start on a full disk waits to be able to count visits; then redirects go first */
const prepareMs = 10_000

/** Returns the engine's reports, and a promise that resolves when visits of earlier processes are delivered. */
const listenToEngine = (ledger: Ledger, { blocks, progress, clickCounts: { admitted } }: View['cache']) => {
  let onDelivered: () => void = () => {}
  const delivered = new Promise<void>((resolve) => (onDelivered = resolve))
  const events: EngineEvents = {
    seen: async (filter, position) => {
      if (filter === 'domain') await progress.advance(position)
      ledger.projected.notify(filter)
    },
    recorded: (partition, seq, position) => admitted.recorded({ partition, seq }, position),
    delivered: onDelivered,
    isBlocked: (url) => Boolean(blocks.destination(url)),
  }
  return { events, delivered }
}

/**
 * Opens the spool, and starts the engine: in a process that answers requests in a thread of its own, so that they never
 * wait for it.
 */
export const startClicks = async (
  ledger: Ledger,
  { view: { cache, retries }, visitors: { countries, isOurHost }, ports, overrides }: ClicksParts,
  cleanup: Cleanup,
): Promise<Clicks> => {
  const { config, metrics, outages } = ledger
  const spool = await openVisits(ledger)
  const { events, delivered } = listenToEngine(ledger, cache)
  const visitors = { countryOf: countries.of, isOurHost }
  const here = async (): Promise<EngineThread> => ({
    ...(await startEngine(ledger, { spool, events, retries, overrides, ...visitors }, cleanup)),
    listensOn: () => {},
    works: () => true,
  })
  const engine =
    config.ROLES.has('http') && !overrides.inOneThread
      ? openEngineThread(ledger, { spool, events, countries, ports: () => ports, threads: overrides.engineThreads })
      : await here()
  const closing = new AbortController()
  cleanup.defer(async () => {
    closing.abort()
    await spool.close()
    await engine.close()
  })
  void followAdmitted(ledger, cache.clickCounts.admitted, spool, delivered, closing.signal)
  // earlier spools make room as they are delivered
  for (let left = prepareMs; left > 0 && !(await spool.prepare()); left -= 500) await sleep(500)
  const state = (): ClicksState => ({ ...engine.state(), spool: spool.stats() })
  registerClicks(metrics, state)
  outages.watch('Kafka', async () => requireTaken(state()))
  return {
    add: spool.add,
    engine,
    state,
    problems: () => [...problemsOf(state(), routeOf(config).route.log), ...engine.state().weaknesses],
  }
}
