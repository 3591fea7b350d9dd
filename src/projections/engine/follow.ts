import { once } from 'node:events'
import { isUnknown } from '../../events/unknown.ts'
import { backOff } from '../../lib/async/backoff.ts'
import { encode, notify } from '../../postgres/notifications.ts'
import { Overtaken } from './apply.ts'
import { batchSize } from './batchsize.ts'
import { gathering } from './gather.ts'
import { clearHalts, haltsOf, loadHalts, type Problem, recordHalt } from './halts.ts'
import { loadLive, type Member } from './members.ts'
import { applyLog, greatest, least } from './pass.ts'
import { markOf, type Projection } from './projection.ts'
import { keepRetrying } from './retry.ts'
import { watchdog } from './watchdog.ts'
import { type Assignment, type FollowOptions, membersWithTables, type Subscription, type Work } from './work.ts'

/** The state of each subscription, kept across restarts. */
export type Subscriptions = Map<Assignment['filter'], Subscription>

const describe = (error: unknown) => (error instanceof Error ? error.message : String(error))

/** Returns whether a newer generation has become live in place of one of the members. */
const replaced = async ({ db }: FollowOptions, members: readonly Member[]) => {
  const live = await loadLive(
    db,
    members.map(({ projection }) => projection),
  )
  return live.some(({ checkpoint }, i) => checkpoint.generation !== members[i]?.checkpoint.generation)
}

/** Returns what reads the events after a position until the subscription ends, and says while they are applied. */
const reading = ({ options, assignment: { filter }, update }: Work, signal: AbortSignal, ends: AbortSignal) => {
  const { store, limit = 1000, onUnknown } = options
  const gathered = gathering(signal)
  return async function* (after: bigint) {
    for await (const events of store.subscribe({ after, filter, limit, signal: ends, trusted: true })) {
      update({ applying: true })
      yield events
      update({ applying: false })
      onUnknown?.(filter, events.filter(isUnknown).length)
      if (filter === 'clicks') await gathered(events)
    }
  }
}

/**
 * Applies events from the checkpoint on, until the signal aborts, the subscription is lost, every projection is halted,
 * or newer tables are live. Returns whether it was lost.
 */
const follow = async (work: Work, projections: readonly Projection[], signal: AbortSignal): Promise<boolean> => {
  const { options, assignment, size, update, onHalted } = work
  const { filter, complete } = assignment
  const { db, store, log, instance, onLive, stall = 30_000 } = options
  const onSeen = async (position: bigint) => (complete ? options.onSeen(filter, position) : undefined)
  let members: readonly Member[] = await membersWithTables(work, projections, signal)
  if (members.length === 0) return false

  let seen = least(members)
  const announced = greatest(members)
  let isBehind = seen < announced
  // a process that works on some projections only does not know how far the others are
  const notification = (position: bigint) => {
    // caches count this position as seen already: nothing that changed before it would be dropped from them
    if (isBehind && position >= announced) return encode({ kind: 'replaced', from: instance })
    const tables = filter === 'domain' ? { tables: markOf(assignment.projections) } : {}
    return complete ? encode({ kind: 'projected', from: instance, filter, position, ...tables }) : undefined
  }
  update({ position: seen })
  await onSeen(seen)
  const stalls = watchdog({
    stall,
    position: () => seen,
    isBehind: async () => (await store.head(filter, signal)) > seen,
  })
  const ends = AbortSignal.any([signal, stalls.signal])
  const read = reading(work, signal, ends)
  try {
    members = await applyLog(db, members, read, {
      size,
      signal,
      notification,
      onApplied: async (running, position) => {
        members = running
        seen = position
        isBehind &&= position < announced
        update({ position, failure: undefined })
        await onSeen(position)
      },
      onHalted: (member, problem) => onHalted(member.projection, problem),
    })
  } catch (error) {
    if (!(error instanceof Overtaken && (await replaced(options, members)))) throw error
    await onLive()
    return false
  } finally {
    update({ applying: false })
    stalls.stop()
  }
  if (signal.aborted || members.length === 0) return false
  log.warn({ filter, seen: seen.toString() }, 'subscription stalled; opening it again')
  return true
}

/**
 * The halted projections of a subscription, and those that are filled for the first time: each is tried on its own,
 * while the others go on.
 */
const openRetries = (work: Omit<Work, 'onHalted'>, signal: AbortSignal, onJoined: () => void) => {
  const { options, assignment, state, update } = work
  const { db, log, instance } = options
  const retried = new Map<Projection, Promise<void>>()
  const withOthers = ({ name }: Projection) => state().halted.filter(({ projection }) => projection !== name)

  const onHalted = async (projection: Projection, problem: Problem) => {
    const halted = { projection: projection.name, position: problem.position, reason: problem.message }
    const before = state().halted.find(({ projection: name }) => name === halted.projection)
    if (before?.reason !== halted.reason) log.error({ filter: assignment.filter, err: problem }, 'projection halted')
    update({ halted: [...withOthers(projection), halted] })
    await recordHalt(db, projection, problem).catch((error: unknown) =>
      log.error({ projection: projection.name, err: error }, 'a halt could not be recorded'),
    )
    add(projection)
  }
  const join = async (projection: Projection) => {
    await db.transaction(async (tx) => {
      await clearHalts(tx, [projection])
      // the caches hold its state from before the halt
      await tx.raw(`select ${notify}`, [encode({ kind: 'replaced', from: instance })])
    })
    retried.delete(projection)
    if (state().halted.some(({ projection: name }) => name === projection.name))
      log.warn({ projection: projection.name }, 'a halted projection goes on')
    update({ halted: withOthers(projection) })
    onJoined()
  }
  const add = (projection: Projection, atOnce = false) => {
    if (retried.has(projection)) return
    retried.set(
      projection,
      keepRetrying({ ...work, onHalted }, projection, atOnce, () => join(projection), signal),
    )
  }
  return {
    onHalted,
    /** Halts of an earlier process are tried at once: this one may be able to apply the events. */
    load: async () => {
      update({ halted: [] })
      for (const { projection: name, position, reason } of haltsOf(await loadHalts(db), assignment.projections)) {
        const projection = assignment.projections.find((one) => one.name === name)!
        update({ halted: [...withOthers(projection), { projection: name, position: BigInt(position), reason }] })
        add(projection, true)
      }
      // filling its tables takes long, and the others have theirs
      const live = (await loadLive(db, assignment.projections)).map(({ projection }) => projection)
      if (live.length > 0)
        for (const projection of assignment.projections)
          if (projection.optional && !live.includes(projection)) add(projection, true)
    },
    running: () => assignment.projections.filter((projection) => !retried.has(projection)),
    ended: () => Promise.all(retried.values()),
  }
}

/**
 * Follows the log until the signal aborts, and starts again from the checkpoint after any failure. Throws `Overtaken`.
 */
export const keepFollowing = async (
  options: FollowOptions,
  assignment: Assignment,
  subscriptions: Subscriptions,
  stop: AbortSignal,
) => {
  const { filter, projections } = assignment
  if (projections.length === 0) return
  const { log, onRestart } = options
  const finished = new AbortController()
  const signal = AbortSignal.any([stop, finished.signal])
  const wait = backOff({ from: 100, to: 5000, signal })
  let joined = new AbortController()

  const state = () => subscriptions.get(filter) ?? { filter, position: 0n, halted: [] }
  const update = (change: Partial<Subscription>) => void subscriptions.set(filter, { ...state(), ...change })
  const parts = { options, assignment, size: batchSize(), state, update }
  const retries = openRetries(parts, signal, () => joined.abort())
  const work = { ...parts, onHalted: retries.onHalted }
  let loaded = false

  const attempt = async (ends: AbortSignal) => {
    if (!loaded) await retries.load()
    loaded = true
    const running = retries.running()
    if (running.length > 0) return follow(work, running, ends)
    if (!ends.aborted) await once(ends, 'abort')
    return false
  }

  try {
    while (!signal.aborted) {
      joined = new AbortController()
      const before = state().position
      let lost = true
      try {
        lost = await attempt(AbortSignal.any([signal, joined.signal]))
        wait.reset()
      } catch (error) {
        if (error instanceof Overtaken) throw error
        if (signal.aborted) return
        update({ failure: describe(error) })
        log.error({ filter, err: error }, 'subscription failed; trying again')
        if (state().position !== before) wait.reset()
      }
      await wait.pause()
      if (lost && !signal.aborted) onRestart?.(filter)
    }
  } finally {
    finished.abort()
    await retries.ended()
  }
}
