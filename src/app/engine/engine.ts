import type { ClassifierOptions } from '../../clicks/classify.ts'
import type { RelayedSpool } from '../../clicks/spool/earlier.ts'
import type { ClicksState } from '../../clicks/state.ts'
import type { Filter } from '../../events/store.ts'
import type { Signal } from '../../lib/async/signal.ts'
import type { Cleanup } from '../../lib/cleanup.ts'
import type { Projector } from '../../projections/engine/run.ts'
import type { Ledger } from '../log/ledger.ts'
import { project } from '../log/projector.ts'
import { startRecording } from '../log/recording.ts'
import type { Overrides } from '../overrides.ts'
import { startSearch } from './search.ts'
import { type IsBlocked, startDelivering } from '../webhooks.ts'

/** What the engine is doing. It holds values alone, so that it can be sent from thread to thread. */
export interface EngineState extends Omit<ClicksState, 'spool'> {
  /** undefined without the role projector */
  readonly projector: ReturnType<Projector['state']> | undefined
  /** which jobs fail, for an operator to read */
  readonly problems: readonly string[]
  /** what makes the Kafka topic less safe */
  readonly weaknesses: readonly string[]
}

/**
 * What works on the log behind the requests of a process: it records the visits of the spool, fills the read tables and
 * delivers to webhooks, as the roles demand.
 */
export interface Engine {
  readonly state: () => EngineState
  /** Looks for what was appended: a notification may be lost. */
  readonly look: (filter: Filter) => void
  /** Lets the clicks leave the spool, which is closed, then stops. */
  readonly close: () => Promise<void>
}

/** Reports of an engine to its process. */
export interface EngineEvents {
  /** The read tables have the events of a kind up to a position. */
  readonly seen: (filter: Filter, position: bigint) => Promise<void>
  /** The log has the entries of a partition of the spool up to a sequence number, at this position. */
  readonly recorded: (partition: number, seq: number, position: bigint) => void
  /** Returns whether the operator blocks an address. */
  readonly isBlocked: IsBlocked
  /** The log, or Kafka, has what earlier processes have left in the folder of the spool. */
  readonly delivered: () => void
}

export interface EngineOptions extends ClassifierOptions {
  readonly spool: RelayedSpool
  readonly events: EngineEvents
  /** notified when halted projections are to be tried again */
  readonly retries: Signal
  readonly overrides: Pick<Overrides, 'webhooks'>
}

/** Starts the engine in this thread. */
export const startEngine = async (
  ledger: Ledger,
  { spool, events, retries, countryOf, isOurHost, overrides }: EngineOptions,
  cleanup: Cleanup,
): Promise<Engine> => {
  const projector = ledger.config.ROLES.has('projector') ? project(ledger, events.seen, retries) : undefined
  if (projector) cleanup.defer(projector.stop)
  await startSearch(ledger, cleanup)
  const isProjecting = () =>
    projector?.state().subscriptions.some(({ filter, applying }) => filter === 'domain' && applying) ?? false
  const sending = { ...overrides.webhooks, isProjecting }
  if (ledger.config.ROLES.has('http')) cleanup.defer(startDelivering(ledger, events.isBlocked, sending))
  const { recorded: onRecorded, delivered: onDelivered } = events
  const recording = await startRecording(ledger, { spool, onRecorded, onDelivered, countryOf, isOurHost })
  return {
    state: () => ({
      projector: projector?.state(),
      problems: [projector?.clock.problem() ?? []].flat(),
      ...recording.state(),
    }),
    look: (filter) => ledger.appended.notify(filter),
    close: recording.close,
  }
}
