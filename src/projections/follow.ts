import { Unreadable } from '../events/codec.ts'
import type { Filter } from '../events/store.ts'
import { isUnknown } from '../events/unknown.ts'
import { backOff } from '../lib/backoff.ts'
import { encode } from '../postgres/notifications.ts'
import { applyEvents, Overtaken, Poison } from './apply.ts'
import { type BatchSize, batchSize } from './batchsize.ts'
import { fill, type FillOptions } from './fill.ts'
import { loadMembers, type Member, WrongLog } from './members.ts'
import type { Projection } from './projection.ts'
import { watchdog } from './watchdog.ts'

/** The state of a subscription; `halted` names the event that it cannot get past, and why. */
export interface Subscription {
  readonly filter: Filter
  readonly position: bigint
  readonly halted: { readonly position: bigint; readonly reason: string } | undefined
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

/** The state of each subscription, kept across restarts. */
export type Subscriptions = Map<Filter, Subscription>

const describe = (error: unknown) => (error instanceof Error ? error.message : String(error))

const least = (members: readonly Member[]) =>
  members.map(({ checkpoint }) => BigInt(checkpoint.position)).reduce((a, b) => (a < b ? a : b))

/** Returns the members of these projections; fills the tables of those that have none. */
const membersWithTables = async (
  options: FollowOptions,
  projections: readonly Projection[],
  onFilling: (position: bigint) => void,
  signal: AbortSignal,
) => {
  const { db, store, onLive } = options
  const members = await loadMembers(db, store, projections)
  const missing = projections.filter((projection) => !members.some((member) => member.projection === projection))
  for (const projection of missing) {
    await fill(options, projection, signal, onFilling)
    await onLive()
  }
  return missing.length > 0 ? loadMembers(db, store, projections) : members
}

/** Returns whether a newer generation has become live in place of one of the members. */
const replaced = async ({ db, store }: FollowOptions, members: readonly Member[]) => {
  const projections = members.map(({ projection }) => projection)
  const live = await loadMembers(db, store, projections)
  return live.some(({ checkpoint }, i) => checkpoint.generation !== members[i]?.checkpoint.generation)
}

/** Applies events from the checkpoint on, until the signal aborts, the subscription is lost, or newer tables are live. Returns whether it was lost. */
const follow = async (
  options: FollowOptions,
  { filter, projections, complete }: Assignment,
  subscriptions: Subscriptions,
  size: BatchSize,
  signal: AbortSignal,
): Promise<boolean> => {
  const { db, store, log, instance, onLive, limit = 1000, stall = 30_000 } = options
  // a process that works on some projections only does not know how far the others are
  const notification = complete
    ? (position: bigint) => encode({ kind: 'projected', from: instance, filter, position })
    : undefined
  const onSeen = async (position: bigint) => (complete ? options.onSeen(filter, position) : undefined)
  const before = subscriptions.get(filter) ?? { filter, position: 0n, halted: undefined }
  const onFilling = (position: bigint) => void subscriptions.set(filter, { ...before, filling: position })
  let members: readonly Member[] = await membersWithTables(options, projections, onFilling, signal)
  if (members.length === 0) return false

  let seen = least(members)
  const caughtUp = seen >= (await store.head(filter))
  subscriptions.set(filter, { ...before, position: seen, halted: caughtUp ? undefined : before.halted })
  await onSeen(seen)
  const onApplied = async (_: readonly Member[], position: bigint) => {
    seen = position
    subscriptions.set(filter, { filter, position: seen, halted: undefined })
    await onSeen(seen)
  }
  const stalls = watchdog({
    stall,
    position: () => seen,
    isBehind: async () => (await store.head(filter)) > seen,
  })
  const ends = AbortSignal.any([signal, stalls.signal])
  try {
    for await (const events of store.subscribe({ after: seen, filter, limit, signal: ends })) {
      const applied = await applyEvents(db, members, events, { size, signal, notification, onApplied })
      members = applied.running
      for (const poison of applied.halted) throw poison
      options.onUnknown?.(filter, events.filter(isUnknown).length)
    }
  } catch (error) {
    if (!(error instanceof Overtaken && (await replaced(options, members)))) throw error
    await onLive()
    return false
  } finally {
    stalls.stop()
  }
  if (signal.aborted) return false
  log.warn({ filter, seen: seen.toString() }, 'subscription stalled; opening it again')
  return true
}

/** Follows the log until the signal aborts, and starts again from the checkpoint after any failure. Throws `Overtaken`. */
export const keepFollowing = async (
  options: FollowOptions,
  assignment: Assignment,
  subscriptions: Subscriptions,
  signal: AbortSignal,
) => {
  const { filter } = assignment
  const { log, onRestart } = options
  const wait = backOff({ from: 100, to: 5000, signal })
  const size = batchSize()
  while (!signal.aborted && assignment.projections.length > 0) {
    const before = subscriptions.get(filter)?.position
    let lost = true
    try {
      lost = await follow(options, assignment, subscriptions, size, signal)
      wait.reset()
    } catch (error) {
      if (error instanceof Overtaken) throw error
      const position = subscriptions.get(filter)?.position ?? 0n
      const halts = error instanceof Poison || error instanceof Unreadable || error instanceof WrongLog
      if (halts) {
        const at = error instanceof WrongLog ? position : error.position
        subscriptions.set(filter, { filter, position, halted: { position: at, reason: error.message } })
      } else
        subscriptions.set(filter, {
          filter,
          position,
          halted: subscriptions.get(filter)?.halted,
          failure: describe(error),
        })
      log.error({ filter, err: error }, halts ? 'subscription halted' : 'subscription failed; trying again')
      if (position !== (before ?? 0n)) wait.reset()
    }
    await wait.pause()
    if (lost && !signal.aborted) onRestart?.(filter)
  }
}
