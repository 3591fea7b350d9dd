import type { Knex } from 'knex'
import type { Logger } from 'pino'
import type { Recorded } from '../../events/event.ts'
import type { LogEvent } from '../../events/index.ts'
import { type EventStore, type Filter, isOpening, readToHead } from '../../events/store.ts'
import { ahead } from '../../lib/async/ahead.ts'
import { durableNow } from '../../postgres/database.ts'
import { encode, notify } from '../../postgres/notifications.ts'
import { batchSize, weightOf } from './batchsize.ts'
import { clearHalts } from './halts.ts'
import type { Member } from './members.ts'
import { loadParked } from './parked.ts'
import { applyLog, least, type PassOptions } from './pass.ts'
import type { Projection, TableNames } from './projection.ts'
import {
  type Checkpoint,
  checkpoints,
  createLastIndexes,
  dropGeneration,
  newGeneration,
  settle,
  tableNames,
} from './tables.ts'

export interface FillOptions {
  readonly db: Knex
  readonly store: EventStore
  readonly log: Logger
  /** identifies this process in its notifications */
  readonly instance: string
  /** events in one batch at most */
  readonly limit?: number
  /** Clicks that this release has written are not validated one by one. */
  readonly trusted?: boolean
}

export interface FillHandlers {
  readonly onProgress?: (position: bigint, head: bigint) => void
  /** Called when a projection cannot apply an event: its new tables are dropped. Without it, the error is thrown. */
  readonly onHalted?: PassOptions['onHalted']
}

const filters: readonly Filter[] = ['domain', 'clicks', 'all']

const ofFilter = (filter: Filter, projections: readonly Projection[]) =>
  projections.filter((projection) => projection.filter === filter)

/**
 * Fills new generations of the projections' tables next to the live ones, in one pass over the log for each filter, and
 * makes them live once they have caught up. If the signal aborts, the new tables are dropped and the live ones stay as
 * they were.
 */
export const fill = async (
  options: FillOptions,
  projections: readonly Projection[],
  signal: AbortSignal,
  handlers: FillHandlers = {},
) => {
  for (const filter of filters) {
    const own = ofFilter(filter, projections)
    if (own.length > 0) await fillInOnePass(options, filter, own, signal, handlers)
  }
}

const newMembers = async ({ db, store }: FillOptions, projections: readonly Projection[]) => {
  const members: Member[] = []
  const parked = await Promise.all(projections.map(({ name }) => loadParked(store, name)))
  for (const [i, projection] of projections.entries())
    members.push({
      projection,
      checkpoint: await newGeneration(db, projection, store.logId, { withIndexes: false }),
      parked: parked[i]!,
    })
  return members
}

/** Events and clicks from which on a plan that is made without knowing the tables costs more than to look at them. */
const many = 1000

/** Creates the indexes of filled tables, and analyzes large ones. */
const index = async ({ db }: FillOptions, members: readonly Member[], work: number, signal: AbortSignal) => {
  for (const { projection, checkpoint } of members) {
    if (!signal.aborted) await createLastIndexes(db, projection, checkpoint)
    if (!signal.aborted && work >= many) await settle(db, projection, checkpoint)
  }
}

interface ApplierHandlers extends Pick<PassOptions, 'onHalted'> {
  readonly onProgress: (position: bigint, head: bigint) => void
  readonly onRead?: (events: readonly Recorded<LogEvent>[]) => unknown
}

/**
 * Returns a function that applies to members what the log has for them at the time of its call, and returns those that
 * got to its end.
 */
const applierToHead = (
  { store, limit = 2000, trusted = false }: FillOptions,
  filter: Filter,
  signal: AbortSignal,
  { onHalted, onProgress, onRead = () => {} }: ApplierHandlers,
) => {
  const size = batchSize()
  return async (tx: Knex, members: readonly Member[]): Promise<readonly Member[]> => {
    if (members.length === 0) return members
    const head = await store.head(filter, signal)
    const read = async function* (after: bigint) {
      for await (const events of ahead(readToHead(store, { after, filter, limit, head, signal, trusted }))) {
        onRead(events)
        yield events
      }
    }
    const onApplied = (running: readonly Member[]) => onProgress(least(running), head)
    return applyLog(tx, members, read, { size, signal, onApplied, onHalted, isDurable: false })
  }
}

/** Creates tables of projections in a schema of their own, to be filled. Returns what fills them, and their names. */
export const newTables = async (
  options: FillOptions,
  projections: readonly Projection[],
): Promise<{ readonly members: readonly Member[]; readonly table: TableNames }> => {
  const names = new Map<string, string>()
  const members = await newMembers(options, projections)
  for (const { projection, checkpoint } of members) {
    const physical = tableNames(projection, checkpoint.generation)
    for (const table of Object.keys(projection.tables)) names.set(table, physical(table))
  }
  const table: TableNames = (name) => {
    const found = names.get(name)
    if (found === undefined) throw new Error(`there is no table ${name}`)
    return found
  }
  return { members, table }
}

/**
 * Applies the log up to its head to new tables, in one pass for each filter. Returns the members with their
 * checkpoints.
 */
export const fillNew = async (
  options: FillOptions,
  members: readonly Member[],
  signal: AbortSignal,
  { onProgress = () => {}, onHalted = () => {} }: FillHandlers = {},
): Promise<readonly Member[]> => {
  const filled: Member[] = []
  for (const filter of filters) {
    const own = members.filter(({ projection }) => projection.filter === filter)
    filled.push(...(await applierToHead(options, filter, signal, { onProgress, onHalted })(options.db, own)))
  }
  return filled
}

/**
 * Fills tables of projections in a schema of their own, up to the head of the log, and returns their names. A
 * projection that cannot apply an event keeps what it has up to there: `onHalted` is called. When the signal aborts,
 * they are not complete.
 */
export const fillOnce = async (
  options: FillOptions,
  projections: readonly Projection[],
  signal: AbortSignal,
  handlers: FillHandlers = {},
): Promise<TableNames> => {
  const { members, table } = await newTables(options, projections)
  await fillNew(options, members, signal, handlers)
  return table
}

const fillInOnePass = async (
  options: FillOptions,
  filter: Filter,
  projections: readonly Projection[],
  signal: AbortSignal,
  { onProgress = () => {}, onHalted = (_, problem) => Promise.reject(problem) }: FillHandlers,
) => {
  const { db, log } = options
  const started = await newMembers(options, projections)
  let members: readonly Member[] = started
  let live: readonly Member[] = []
  let isUnused = true
  let work = 0
  const apply = applierToHead({ ...options, trusted: true }, filter, signal, {
    onHalted,
    onProgress,
    onRead: (events) => {
      isUnused &&= events.every(isOpening)
      work += events.reduce((sum, event) => sum + weightOf(event), 0)
    },
  })
  const applyToHead = async (tx: Knex) => (members = await apply(tx, members))

  try {
    await applyToHead(db)
    await index(options, members, work, signal)
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
    const filled = live.map(
      ({ projection: { name, version }, checkpoint: { generation } }) => `${name} ${version}.${generation}`,
    )
    // at the first start there is nothing else that could be read
    if (filled.length > 0) log[isUnused ? 'debug' : 'info']({ tables: filled }, 'new read tables are live')
  } finally {
    const isLive = ({ projection }: Member) => live.some((member) => member.projection === projection)
    for (const { projection, checkpoint } of started.filter((member) => !isLive(member)))
      await dropGeneration(db, projection, checkpoint.generation).catch(() => {})
  }
}

const goLive = async (tx: Knex, members: readonly Member[], instance: string) => {
  // this commit, and all commits before it, are on disk before a query reads the tables
  await tx.raw(durableNow)
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
