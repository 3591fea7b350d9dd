import type { Knex } from 'knex'
import type { Logger } from 'pino'
import { type EventStore, type Filter, isOpening, readToHead } from '../events/store.ts'
import { ahead } from '../lib/ahead.ts'
import { encode, notify } from '../postgres/notifications.ts'
import { batchSize } from './batchsize.ts'
import { clearHalts } from './halts.ts'
import type { Member } from './members.ts'
import { loadParked } from './parked.ts'
import { applyLog, least, type PassOptions } from './pass.ts'
import type { Projection } from './projection.ts'
import { type Checkpoint, checkpoints, dropGeneration, newGeneration } from './tables.ts'

export interface FillOptions {
  readonly db: Knex
  readonly store: EventStore
  readonly log: Logger
  /** identifies this process in its notifications */
  readonly instance: string
  /** events in one batch at most */
  readonly limit?: number
}

export interface FillHandlers {
  readonly onProgress?: (position: bigint, head: bigint) => void
  /** Called when a projection cannot apply an event: its new tables are dropped. Without it, the error is thrown. */
  readonly onHalted?: PassOptions['onHalted']
}

const ofFilter = (filter: Filter, projections: readonly Projection[]) =>
  projections.filter((projection) => projection.filter === filter)

/**
 * Fills new generations of the projections' tables next to the live ones, in one pass over the log for each filter, and makes them live
 * once they have caught up. If the signal aborts, the new tables are dropped and the live ones stay as they were.
 */
export const fill = async (
  options: FillOptions,
  projections: readonly Projection[],
  signal: AbortSignal,
  handlers: FillHandlers = {},
) => {
  for (const filter of ['domain', 'clicks', 'all'] as const) {
    const own = ofFilter(filter, projections)
    if (own.length > 0) await fillTogether(options, filter, own, signal, handlers)
  }
}

const newMembers = async ({ db, store }: FillOptions, projections: readonly Projection[]) => {
  const members: Member[] = []
  const parked = await Promise.all(projections.map(({ name }) => loadParked(store, name)))
  for (const [i, projection] of projections.entries())
    members.push({ projection, checkpoint: await newGeneration(db, projection, store.logId), parked: parked[i]! })
  return members
}

const fillTogether = async (
  options: FillOptions,
  filter: Filter,
  projections: readonly Projection[],
  signal: AbortSignal,
  { onProgress = () => {}, onHalted = (_, problem) => Promise.reject(problem) }: FillHandlers,
) => {
  const { db, store, log, limit = 2000 } = options
  const started = await newMembers(options, projections)
  let members: readonly Member[] = started
  let live: readonly Member[] = []
  let isUnused = true
  const size = batchSize()

  const applyToHead = async (tx: Knex) => {
    if (members.length === 0) return
    const head = await store.head(filter, signal)
    const read = async function* (after: bigint) {
      for await (const events of ahead(readToHead(store, { after, filter, limit, head, signal }))) {
        isUnused &&= events.every(isOpening)
        yield events
      }
    }
    const onApplied = (running: readonly Member[]) => onProgress(least(running), head)
    members = await applyLog(tx, members, read, { size, signal, onApplied, onHalted })
  }

  try {
    await applyToHead(db)
    // the log has grown meanwhile: catching up again keeps the lock of the last step short
    await applyToHead(db)
    if (!signal.aborted && members.length > 0)
      live = await db.transaction(async (tx) => {
        // keeps the live checkpoints where they are, so that the new tables cannot be behind the old ones
        await tx.raw(`lock table ${checkpoints} in exclusive mode`)
        await applyToHead(tx)
        if (signal.aborted) return []
        await goLive(tx, members, options.instance)
        return members
      })
    for (const { projection, checkpoint } of live) {
      const line = { projection: projection.name, version: projection.version, generation: checkpoint.generation }
      // at the first start, a line per projection would hide the lines that matter
      log[isUnused ? 'debug' : 'info'](line, 'new read tables are live')
    }
  } finally {
    const isLive = ({ projection }: Member) => live.some((member) => member.projection === projection)
    for (const { projection, checkpoint } of started.filter((member) => !isLive(member)))
      await dropGeneration(db, projection, checkpoint.generation).catch(() => {})
  }
}

const goLive = async (tx: Knex, members: readonly Member[], instance: string) => {
  for (const { checkpoint } of members) {
    const { projection, version, generation } = checkpoint
    await tx<Checkpoint>(checkpoints).where({ projection, version, live: true }).update({ live: false })
    await tx<Checkpoint>(checkpoints).where({ projection, version, generation }).update({ live: true })
  }
  await clearHalts(
    tx,
    members.map(({ projection }) => projection),
  )
  await tx.raw(`select ${notify}`, [encode({ kind: 'replaced', from: instance })])
}
