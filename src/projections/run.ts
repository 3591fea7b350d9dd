import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Knex } from 'knex'
import type { Logger } from 'pino'
import { Unreadable } from '../events/codec.ts'
import type { EventStore, Filter } from '../events/store.ts'
import { encode, notify } from '../postgres/notifications.ts'
import { applyBatch, type Member, Overtaken, Poison } from './apply.ts'
import type { Projection } from './projection.ts'
import { type Checkpoint, checkpoints, dropGeneration, newGeneration, prune } from './tables.ts'

/** A connection that holds advisory locks for as long as it lives. */
export interface Locks {
  /** Those of the keys that this process now holds. */
  readonly hold: (keys: readonly bigint[]) => Promise<ReadonlySet<bigint>>
  /** Aborts when the connection, and with it every lock, is gone. */
  readonly lost: AbortSignal
  readonly close: () => Promise<void>
}

export interface Subscription {
  readonly filter: Filter
  readonly position: bigint
  readonly halted: { readonly position: bigint; readonly reason: string } | undefined
}
export interface Projector {
  readonly state: () => { readonly active: boolean; readonly subscriptions: readonly Subscription[] }
  readonly stop: () => Promise<void>
}
export interface ProjectorOptions {
  readonly db: Knex
  readonly store: EventStore
  readonly projections: readonly Projection[]
  readonly openLocks: () => Promise<Locks>
  /** names this process in its notifications */
  readonly instance: string
  readonly log: Logger
  /** Told after each commit, and for what was seen without being handled. */
  readonly onSeen: (filter: Filter, position: bigint) => Promise<void>
  /** Other tables are read from now on. */
  readonly onLive: () => Promise<void>
  /** A subscription has failed or stalled, and is opened again. */
  readonly onRestart?: (filter: Filter) => void
  /** events in a batch */
  readonly limit?: number
  /** ms until a stalled subscription is opened again */
  readonly stall?: number
}

const filters: readonly Filter[] = ['domain', 'clicks']
const lockKey = ({ name, version }: Projection) =>
  createHash('sha256').update(`linkledger projector ${name} ${version}`).digest().readBigInt64BE()

export const loadMembers = async (
  db: Knex,
  store: EventStore,
  projections: readonly Projection[],
): Promise<Member[]> => {
  const rows = await db<Checkpoint>(checkpoints).where({ live: true })
  const members = projections.flatMap((projection) => {
    const mine = rows.filter((row) => row.projection === projection.name && row.version === projection.version)
    const newest = mine.toSorted((a, b) => b.generation - a.generation)[0]
    return newest ? [{ projection, checkpoint: newest }] : []
  })
  for (const { checkpoint } of members) await sameLog(store, checkpoint)
  return members
}

/** Tables are only continued from the log they were filled from. */
const sameLog = async (store: EventStore, { projection, log_id, position, event_id }: Checkpoint) => {
  const problem =
    log_id !== store.logId
      ? `were filled from the log ${log_id}, and this log is ${store.logId}`
      : event_id !== null && (await store.idAt(BigInt(position))) !== event_id
        ? `stand at position ${position}, where this log has another event or none: was it restored from an older backup?`
        : undefined
  if (problem) throw new WrongLog(`the tables of ${projection} ${problem}; \`linkledger rebuild\` builds them anew`)
}
export class WrongLog extends Error {}

/** Fills new tables beside those that are read, and makes them the ones that are read once they have caught up; else nothing of them stays. */
export const fill = async (
  { db, store, log, instance, limit = 2000 }: Pick<ProjectorOptions, 'db' | 'store' | 'log' | 'instance' | 'limit'>,
  projection: Projection,
  signal: AbortSignal,
  onProgress: (position: bigint, head: bigint) => void = () => {},
) => {
  const checkpoint = await newGeneration(db, projection, store.logId)
  const { filter, name, version } = projection
  const { generation } = checkpoint
  let members: readonly Member[] = [{ projection, checkpoint }]
  let head = await store.head(filter)
  let seen = 0n
  let live = false
  const advance = async (until: () => boolean) => {
    if (until()) return
    for await (const events of store.subscribe({ after: seen, filter, limit, signal })) {
      members = await applyBatch(db, members, events)
      seen = events.at(-1)!.position
      onProgress(seen, head)
      if (until()) return
    }
  }
  const goLive = async (tx: Knex) => {
    // from here on nobody moves a checkpoint of this projection, so the new tables cannot fall behind the old ones
    const rows = await tx<Checkpoint>(checkpoints).where({ projection: name, version }).forUpdate()
    const read = rows.filter((row) => row.live).reduce((max, { position }) => Math.max(max, Number(position)), 0)
    // the old ones may have been filled from a longer log, before this one was restored
    const end = Math.min(read, Number(await store.head(filter)))
    for await (const events of upTo(store, filter, seen, BigInt(end), limit, signal))
      members = await applyBatch(tx, members, events)
    if (signal.aborted) return false
    await tx(checkpoints).where({ projection: name, version, live: true }).update({ live: false })
    await tx(checkpoints).where({ projection: name, version, generation }).update({ live: true })
    await tx.raw(`select ${notify}`, [encode({ kind: 'replaced', from: instance })])
    return true
  }
  try {
    await advance(() => seen >= head)
    head = await store.head(filter)
    await advance(() => seen >= head)
    if (!signal.aborted) live = await db.transaction(goLive)
    if (live) log.info({ projection: name, version, generation }, 'new read tables are in use')
  } finally {
    if (!live) await dropGeneration(db, projection, generation).catch(() => {})
  }
}

const upTo = async function* (
  store: EventStore,
  filter: Filter,
  after: bigint,
  end: bigint,
  limit: number,
  signal: AbortSignal,
) {
  if (after >= end) return
  for await (const events of store.subscribe({ after, filter, limit, signal })) {
    yield events
    if (events.at(-1)!.position >= end) return
  }
}

/** The loops that bring events into the read tables. One process works for a projection, the others stand by. */
export const startProjector = (options: ProjectorOptions): Projector => {
  const { db, store, projections, openLocks, instance, log, onSeen, onLive, onRestart } = options
  const { limit = 1000, stall = 30_000 } = options
  const stopped = new AbortController()
  const state = new Map<Filter, Subscription>()
  let active = false

  const follow = async (filter: Filter, projected: readonly Projection[], signal: AbortSignal) => {
    // who works on some of the projections only (an older program has the rest) does not know how far all of them have come
    const whole = projected.length === projections.filter((projection) => projection.filter === filter).length
    const tell = whole
      ? (position: bigint) => encode({ kind: 'projected', from: instance, filter, position })
      : undefined
    const saw = whole ? (position: bigint) => onSeen(filter, position) : () => Promise.resolve()
    let members: readonly Member[] = await loadMembers(db, store, projected)
    const missing = projected.filter((projection) => !members.some((member) => member.projection === projection))
    for (const projection of missing) {
      await fill(options, projection, signal)
      await onLive()
    }
    if (missing.length > 0) members = await loadMembers(db, store, projected)
    if (members.length === 0) return

    const after = members.map(({ checkpoint }) => BigInt(checkpoint.position)).reduce((a, b) => (a < b ? a : b))
    let seen = after
    // what was halted is not any more if there is nothing left to be halted at
    const caughtUp = seen >= (await store.head(filter))
    state.set(filter, { filter, position: seen, halted: caughtUp ? undefined : state.get(filter)?.halted })
    await saw(seen)
    const watched = watchdog(
      async () => (await store.head(filter)) > seen,
      () => seen,
      stall,
      signal,
    )
    try {
      for await (const events of store.subscribe({ after, filter, limit, signal: watched.signal })) {
        members = await applyBatch(db, members, events, tell)
        seen = events.at(-1)!.position
        state.set(filter, { filter, position: seen, halted: undefined })
        await saw(seen)
      }
    } catch (error) {
      // tables of a new generation may have taken the place of ours: then we go on with those
      if (!(error instanceof Overtaken && (await replaced(members)))) throw error
      return await onLive()
    } finally {
      watched.stop()
    }
    if (!signal.aborted) log.warn({ filter, seen: seen.toString() }, 'a subscription stalled and is opened again')
  }

  const replaced = async (members: readonly Member[]) => {
    const now = await loadMembers(
      db,
      store,
      members.map(({ projection }) => projection),
    )
    return now.some(({ checkpoint }, i) => checkpoint.generation !== members[i]?.checkpoint.generation)
  }

  /** Follows until told to stop; whatever goes wrong, it starts again from the checkpoint. */
  const keepFollowing = async (filter: Filter, held: readonly Projection[], signal: AbortSignal) => {
    const projected = held.filter((projection) => projection.filter === filter)
    for (let wait = 100; !signal.aborted && projected.length > 0; wait = Math.min(wait * 2, 5000)) {
      const before = state.get(filter)?.position
      try {
        await follow(filter, projected, signal)
        wait = 50
      } catch (error) {
        if (error instanceof Overtaken) throw error
        const position = state.get(filter)?.position ?? 0n
        const halts = error instanceof Poison || error instanceof Unreadable || error instanceof WrongLog
        if (halts) {
          const at = error instanceof WrongLog ? position : error.position
          state.set(filter, { filter, position, halted: { position: at, reason: error.message } })
        }
        log.error(
          { filter, err: error },
          halts ? 'a subscription is halted' : 'a subscription failed and is tried again',
        )
        if (state.get(filter)?.position !== before) wait = 100
      }
      await sleep(wait, undefined, { signal }).catch(() => {})
      if (!signal.aborted) onRestart?.(filter)
    }
  }

  const work = async () => {
    let locks: Locks | undefined
    while (!stopped.signal.aborted) {
      const session = new AbortController()
      try {
        locks = await openLocks()
        const ends = AbortSignal.any([stopped.signal, locks.lost, session.signal])
        while (!ends.aborted) {
          const keys = await locks.hold(projections.map(lockKey))
          const held = projections.filter((projection) => keys.has(lockKey(projection)))
          if (held.length > 0) {
            active = true
            const rest = new AbortController()
            const signal = AbortSignal.any([ends, rest.signal])
            const all = held.length === projections.length
            if (!all) void retry(locks, held.length, rest, signal)
            await Promise.all(filters.map((filter) => keepFollowing(filter, held, signal))).finally(() => rest.abort())
          } else await sleep(1000, undefined, { signal: ends }).catch(() => {})
        }
      } catch (error) {
        log.error({ err: error }, 'the projector stands by')
      } finally {
        active = false
        session.abort()
        await locks?.close().catch(() => {})
        locks = undefined
      }
      await sleep(1000, undefined, { signal: stopped.signal }).catch(() => {})
    }
  }

  /** Holding some of the locks only (an older program holds the rest): starts again with more as soon as more can be had. */
  const retry = async (locks: Locks, have: number, restart: AbortController, signal: AbortSignal) => {
    while (!signal.aborted) {
      await sleep(1000, undefined, { signal }).catch(() => {})
      const keys = await locks.hold(projections.map(lockKey)).catch(() => new Set<bigint>())
      if (keys.size > have) restart.abort()
    }
  }

  const working = work()
  const pruning = setInterval(() => void (active && prune(db, projections).catch(() => {})), 60_000).unref()

  return {
    state: () => ({ active, subscriptions: filters.flatMap((filter) => state.get(filter) ?? []) }),
    stop: async () => {
      clearInterval(pruning)
      stopped.abort()
      await working
    },
  }
}

/** Aborts when something is there to be seen and nothing was seen for `stall` ms: a client can stall in silence. */
const watchdog = (behind: () => Promise<boolean>, seen: () => bigint, stall: number, signal: AbortSignal) => {
  const stalled = new AbortController()
  let [position, since] = [seen(), Date.now()]
  const timer = setInterval(() => {
    if (seen() !== position) [position, since] = [seen(), Date.now()]
    else if (Date.now() - since > stall)
      void behind()
        .then((late) => (late ? stalled.abort() : (since = Date.now())))
        .catch(() => {})
  }, stall / 6).unref()
  return { signal: AbortSignal.any([signal, stalled.signal]), stop: () => clearInterval(timer) }
}
