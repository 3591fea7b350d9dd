import { setTimeout as sleep } from 'node:timers/promises'
import type { Filter } from '../../events/store.ts'
import { dropLeftSchemas } from '../../postgres/replays.ts'
import { keepFollowing, type Subscriptions } from './follow.ts'
import { dropOldClicks } from '../statistics/oldclicks.ts'
import { dropLeftOut, dropOutdated, projectorLock } from './outdated.ts'
import type { Projection } from './projection.ts'
import { prune } from './tables.ts'
import type { FollowOptions, Subscription } from './work.ts'

/** A connection that holds advisory locks for as long as it lives. */
export interface Locks {
  /** Resolves with the subset of the keys that this process holds now. */
  readonly acquire: (keys: readonly bigint[]) => Promise<ReadonlySet<bigint>>
  /** Aborts when the connection and all its locks are lost. */
  readonly lost: AbortSignal
  readonly close: () => Promise<void>
}

export interface Projector {
  /**
   * `active`: this process works on the projections. `standby`: another process does. Both are false until it is known.
   */
  readonly state: () => {
    readonly active: boolean
    readonly standby: boolean
    readonly subscriptions: readonly Subscription[]
  }
  readonly stop: () => Promise<void>
}
export interface ProjectorOptions extends FollowOptions {
  readonly projections: readonly Projection[]
  /** projections that a setting leaves out: their tables are dropped */
  readonly leftOut?: readonly Projection[]
  readonly openLocks: () => Promise<Locks>
  /** ms between attempts to drop tables that are no longer used */
  readonly pruneInterval?: number
  /** months before the present one whose clicks are kept one by one; undefined keeps all */
  readonly keepClicks?: number | undefined
  /** Returns the time, or rejects while it may be wrong: then no clicks are dropped. */
  readonly sureNow?: () => Promise<Date>
  /**
   * ms that this process has to be active before it drops tables of older versions: until then, going back to one is
   * fast
   */
  readonly keepOutdated?: number
  /** Wraps the dropping of tables and clicks to report its failures. */
  readonly watchPruning?: (work: () => Promise<void>) => () => Promise<void>
}

const filters: readonly Filter[] = ['domain', 'clicks']
/** ms between attempts to take over from another process */
const takeoverInterval = 1000

const pause = (signal: AbortSignal) => sleep(takeoverInterval, undefined, { signal }).catch(() => {})

/**
 * Drops tables that are no longer used. `activeFor` returns the ms that this process has been active, undefined while
 * it is not.
 */
const startPruning = (
  {
    db,
    projections,
    leftOut = [],
    log,
    keepClicks,
    sureNow = async () => new Date(),
    pruneInterval = 60_000,
    keepOutdated = 3_600_000,
    watchPruning = (work) => work,
  }: ProjectorOptions,
  activeFor: () => number | undefined,
) => {
  const dropClicks = async () => {
    const now = keepClicks === undefined ? undefined : await sureNow().catch(() => undefined)
    if (keepClicks === undefined || !now) return
    const partitions = await dropOldClicks(db, keepClicks, now)
    if (partitions.length > 0) log.info({ partitions }, 'clicks of old months are dropped')
  }
  const dropTables = async () => {
    for (const projection of leftOut)
      if (await dropLeftOut(db, projection))
        log.info({ projection: projection.name }, 'the tables of a projection that is left out are dropped')
  }
  const dropOlder = async (active: number) => {
    if (active < keepOutdated) return
    await dropOutdated(db, projections, (dropped) => log.info(dropped, 'tables of an older version are dropped'))
  }
  const pruneTables = watchPruning(async () => {
    const active = activeFor()
    if (active === undefined) return
    const steps = [() => prune(db, projections), () => dropLeftSchemas(db), dropClicks, dropTables]
    await takeEach([...steps, () => dropOlder(active)])
  })
  let pruning: Promise<void> | undefined
  return setInterval(() => {
    pruning ??= pruneTables()
      .catch((error: unknown) => log.error({ err: error }, 'what is no longer kept could not be dropped; trying again'))
      .finally(() => (pruning = undefined))
  }, pruneInterval).unref()
}

/** Executes all steps, also after a failed one. Rejects with the first failure. */
const takeEach = async (steps: readonly (() => Promise<unknown>)[]) => {
  const failures: unknown[] = []
  for (const step of steps) await step().catch((error: unknown) => failures.push(error))
  if (failures.length > 0) throw failures[0]
}

/** Locks the projections that no other process works on. */
const lockFree = async (locks: Locks, projections: readonly Projection[]) => {
  const keys = await locks.acquire(projections.map(projectorLock))
  return projections.filter((projection) => keys.has(projectorLock(projection)))
}

/**
 * Resolves when this process can lock more than `count` of the projections: a process of an older version held the
 * others.
 */
const awaitMoreLocks = async (locks: Locks, projections: readonly Projection[], count: number, signal: AbortSignal) => {
  do await pause(signal)
  while (!signal.aborted && (await lockFree(locks, projections).catch(() => [])).length <= count)
}

/** Follows the log for the projections that are locked, until more of them can be. */
const followLocked = async (
  options: ProjectorOptions,
  locks: Locks,
  locked: readonly Projection[],
  subscriptions: Subscriptions,
  signal: AbortSignal,
) => {
  const { projections } = options
  const restart = new AbortController()
  const ends = AbortSignal.any([signal, restart.signal])
  if (locked.length < projections.length)
    void awaitMoreLocks(locks, projections, locked.length, ends).then(() => restart.abort())
  const following = filters.map((filter) => {
    const [own, all] = [locked, projections].map((some) => some.filter((projection) => projection.filter === filter))
    const assignment = { filter, projections: own!, complete: own!.length === all!.length }
    return keepFollowing(options, assignment, subscriptions, ends)
  })
  await Promise.all(following).finally(() => restart.abort())
}

/**
 * Keeps the read tables up to date with the log, in one subscription per filter. One process works on a projection, the
 * others stand by until its lock is free. Never throws: failures are logged and tried again.
 */
export const startProjector = (options: ProjectorOptions): Projector => {
  const { projections, openLocks, log } = options
  const stopped = new AbortController()
  const subscriptions: Subscriptions = new Map()
  /** undefined until it is known whether another process is */
  let active: boolean | undefined
  let activeSince = performance.now()

  /** Works on the projections it can lock until the locks are lost. */
  const workWhileLocked = async () => {
    const session = new AbortController()
    let locks: Locks | undefined
    try {
      locks = await openLocks()
      const ends = AbortSignal.any([stopped.signal, locks.lost, session.signal])
      while (!ends.aborted) {
        const locked = await lockFree(locks, projections)
        if (locked.length > 0) {
          if (!active) activeSince = performance.now()
          active = true
          await followLocked(options, locks, locked, subscriptions, ends)
        } else {
          active = false
          await pause(ends)
        }
      }
    } catch (error) {
      log.error({ err: error }, 'projector failed; standing by')
    } finally {
      active = undefined
      // another process may work on them now
      subscriptions.clear()
      session.abort()
      await locks?.close().catch(() => {})
    }
  }

  const work = async () => {
    while (!stopped.signal.aborted) {
      await workWhileLocked()
      await pause(stopped.signal)
    }
  }

  const working = work()
  const pruning = startPruning(options, () => (active ? performance.now() - activeSince : undefined))

  return {
    state: () => ({
      active: active === true,
      standby: active === false,
      subscriptions: filters.flatMap((filter) => subscriptions.get(filter) ?? []),
    }),
    stop: async () => {
      clearInterval(pruning)
      stopped.abort()
      await working
    },
  }
}
