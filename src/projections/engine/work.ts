import type { Filter } from '../../events/store.ts'
import type { Signal } from '../../lib/async/signal.ts'
import type { BatchSize } from './batchsize.ts'
import { fill, type FillOptions } from './fill.ts'
import type { Problem } from './halts.ts'
import { loadLive, loadMembers } from './members.ts'
import type { Projection } from './projection.ts'

/** A projection that does not run, the position of the event that it cannot get past, and why. */
export interface HaltedProjection {
  readonly projection: string
  readonly position: bigint
  readonly reason: string
}

/** The state of a subscription. `position` is that of the projections that run. */
export interface Subscription {
  readonly filter: Filter
  readonly position: bigint
  readonly halted: readonly HaltedProjection[]
  /** whether events are being applied now */
  readonly applying?: boolean
  /** while tables are being filled: how far they are */
  readonly filling?: bigint | undefined
  /** message of the last failure, until the subscription moves again */
  readonly failure?: string | undefined
}

export interface FollowOptions extends FillOptions {
  /** Called after each commit, also when no projection handled the events. */
  readonly onSeen: (filter: Filter, position: bigint) => Promise<void>
  /** Called when other tables have become the live ones. */
  readonly onLive: () => Promise<void>
  /** Called with the number of events that were skipped because only a newer release can read them. */
  readonly onUnknown?: (filter: Filter, events: number) => void
  /** Called when a subscription is opened again after it failed or stalled. */
  readonly onRestart?: (filter: Filter) => void
  /** Notified when halted projections are to be tried again at once. */
  readonly retries?: Signal
  /** ms after which a stalled subscription is opened again */
  readonly stall?: number
}

/** The projections of one subscription that this process works on. */
export interface Assignment {
  readonly filter: Filter
  readonly projections: readonly Projection[]
  /** false if another process works on some projections of the subscription */
  readonly complete: boolean
}

/** What the parts of one subscription share. */
export interface Work {
  readonly options: FollowOptions
  readonly assignment: Assignment
  readonly size: BatchSize
  readonly state: () => Subscription
  readonly update: (change: Partial<Subscription>) => void
  readonly onHalted: (projection: Projection, problem: Problem) => Promise<void>
}

/**
 * Returns the members of these projections that run; fills the tables of those that have none, in one pass over the
 * log.
 */
export const membersWithTables = async (work: Work, projections: readonly Projection[], signal: AbortSignal) => {
  const { options, update, onHalted } = work
  const { db, store, onLive } = options
  const live = await loadLive(db, projections)
  const missing = projections.filter((projection) => !live.some((member) => member.projection === projection))
  if (missing.length > 0) {
    await fill(options, missing, signal, {
      onProgress: (filling) => update({ filling }),
      onHalted: (member, problem) => onHalted(member.projection, problem),
    }).finally(() => update({ filling: undefined }))
    await onLive()
  }
  return loadMembers(db, store, projections, (member, problem) => onHalted(member.projection, problem))
}
