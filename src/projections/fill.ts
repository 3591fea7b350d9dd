import type { Knex } from 'knex'
import type { Logger } from 'pino'
import { type EventStore, isOpening, readToHead } from '../events/store.ts'
import { encode, notify } from '../postgres/notifications.ts'
import { applyEvents } from './apply.ts'
import { batchSize } from './batchsize.ts'
import type { Member } from './members.ts'
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

/**
 * Fills a new generation of a projection's tables next to the live one, and makes it live once it has caught up. If the signal aborts or
 * an event cannot be applied, the new tables are dropped and the live ones stay as they were.
 */
export const fill = async (
  { db, store, log, instance, limit = 2000 }: FillOptions,
  projection: Projection,
  signal: AbortSignal,
  onProgress: (position: bigint, head: bigint) => void = () => {},
) => {
  const checkpoint = await newGeneration(db, projection, store.logId)
  const { filter, name, version } = projection
  const { generation } = checkpoint
  let members: readonly Member[] = [{ projection, checkpoint }]
  const size = batchSize()
  let seen = 0n
  let isUnused = true

  const applyToHead = async (tx: Knex, head: bigint) => {
    for await (const events of readToHead(store, { after: seen, filter, limit, head, signal })) {
      const onApplied = (_: readonly Member[], position: bigint) => onProgress((seen = position), head)
      const applied = await applyEvents(tx, members, events, { size, signal, onApplied })
      members = applied.running
      for (const poison of applied.halted) throw poison
      isUnused &&= events.every(isOpening)
    }
  }
  const goLive = async (tx: Knex) => {
    // these locks keep the live checkpoints where they are, so that the new tables cannot be behind the old ones
    await tx<Checkpoint>(checkpoints).where({ projection: name, version }).forUpdate()
    await applyToHead(tx, await store.head(filter))
    if (signal.aborted) return false
    await tx(checkpoints).where({ projection: name, version, live: true }).update({ live: false })
    await tx(checkpoints).where({ projection: name, version, generation }).update({ live: true })
    await tx.raw(`select ${notify}`, [encode({ kind: 'replaced', from: instance })])
    return true
  }

  let live = false
  try {
    await applyToHead(db, await store.head(filter))
    // the log has grown meanwhile: catching up again keeps the locks of the last step short
    await applyToHead(db, await store.head(filter))
    if (!signal.aborted) live = await db.transaction(goLive)
    // at the first start, a line per projection would hide the lines that matter
    if (live) log[isUnused ? 'debug' : 'info']({ projection: name, version, generation }, 'new read tables are live')
  } finally {
    if (!live) await dropGeneration(db, projection, generation).catch(() => {})
  }
}
