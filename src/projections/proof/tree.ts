import { setTimeout as sleep } from 'node:timers/promises'
import type { Knex } from 'knex'
import { clickTexts, clockAfter, type LeafPlace, leafOf, type StoredEvent } from '../../events/proof/leaf.ts'
import { readToHead, type StoredLog } from '../../events/store.ts'
import { ahead } from '../../lib/async/ahead.ts'
import { NotCanonical } from '../../lib/transparency/canonical.ts'
import { hashLeaf, hashLeaves, hashSize } from '../../lib/transparency/merkle.ts'
import { type Edge, emptyEdge, growEdge, type GrownTile, keyOfTile, widthIn } from '../../lib/transparency/tiles.ts'
import { migrationLock } from '../../postgres/migrate.ts'
import { column } from '../engine/columns.ts'
import type { Engine } from '../engine/origin.ts'

/** The size of the tree over the log. */
export interface Tree {
  readonly edge: Edge
  /** of the last event, 0n when there is none */
  readonly position: bigint
  /** the clock of the log: the latest time of an event so far */
  readonly at: string
}
export const emptyTree: Tree = { edge: emptyEdge, position: 0n, at: '' }

interface Checkpoint {
  readonly log_id: string
  readonly engine: Engine
  /** a string, as the driver returns a bigint */
  readonly size: string
  readonly position: string
  readonly event_id: string
  /** a number when another program has stored `infinity` */
  readonly at: Date | number
}
const checkpoint = 'read.tree'
export const tiles = 'read.tiles'

/** Creates the tables of the tree: its hashes in tiles, and its size. */
export const ensureTree = (db: Knex) =>
  db.raw(`
    select pg_advisory_xact_lock(${migrationLock});
    create table if not exists ${tiles} (level int, number bigint, hashes bytea not null, primary key (level, number));
    alter table ${tiles} alter hashes set storage external;
    create table if not exists ${checkpoint} (
      only_row bool primary key default true, log_id uuid not null, engine text not null, size bigint not null, position bigint not null,
      event_id uuid not null, at timestamptz not null)`)

/**
 * Empties the tree: it grows again from the log. Signed checkpoints are kept, and compared with it. Locks the tables in
 * the order in which growing writes them, to avoid a deadlock.
 */
export const dropTree = (db: Knex) => db.raw(`truncate ${checkpoint}, ${tiles}`)

/** Returns the number of events in the tree. */
export const treeSize = async (db: Knex): Promise<number> =>
  Number((await db<Checkpoint>(checkpoint).select('size'))[0]?.size ?? 0)

/** The end of the tree: the number of events, and the position, id and time of the last one. */
export interface TreeEnd extends Pick<Tree, 'position' | 'at'> {
  readonly size: number
  readonly logId: string
  readonly engine: Engine
  readonly id: string
}

const toEnd = (row: Checkpoint): TreeEnd => ({
  size: Number(row.size),
  position: BigInt(row.position),
  at: new Date(row.at).toJSON() ?? String(row.at),
  logId: row.log_id,
  engine: row.engine,
  id: row.event_id,
})

/** Returns the end of the tree, undefined for one without events. */
export const treeEnd = async (db: Knex): Promise<TreeEnd | undefined> =>
  (await db<Checkpoint>(checkpoint).select()).map(toEnd)[0]

/**
 * The log does not have the last event of the tree at its position: events were changed or removed, or the log was
 * restored.
 */
export class TreeMismatch extends Error {
  override readonly name = 'TreeMismatch'
  constructor(size: number) {
    super(
      `the log does not have event ${size - 1}, the last one of its Merkle tree, where it was: \`linkledger verify\` finds what has changed; after the log was restored from an older backup, \`linkledger proof restart\` begins the tree again`,
    )
  }
}

/** The tree lacks hashes of its right edge, on which it grows. */
class TreeIncomplete extends Error {
  override readonly name = 'TreeIncomplete'
  constructor(size: number) {
    super(
      `the tree over the log has ${size} events, and not all of their hashes: \`linkledger rebuild\` makes it again, after \`linkledger verify\` has shown that no event was changed`,
    )
  }
}

type Log = Pick<StoredLog, 'logId' | 'idAt' | 'head' | 'subscribe'>
interface TreeOptions {
  readonly db: Knex
  readonly store: Log
  readonly engine: Engine
}

/**
 * Returns the stored tree, and drops that of another log. A copy on another engine has the same leaves at other
 * positions.
 */
const openTree = async ({ db, store, engine }: TreeOptions): Promise<Tree> => {
  const end = await treeEnd(db)
  if (!end) return emptyTree
  const { size, position, at } = end
  if (end.logId !== store.logId || end.engine !== engine) {
    await dropTree(db)
    return emptyTree
  }
  if ((await store.idAt(position)) !== end.id) throw new TreeMismatch(size)
  return { edge: { size, tiles: await readEdge(db, size) }, position, at }
}

const readEdge = async (db: Knex, size: number): Promise<readonly Buffer[]> => {
  const names: { readonly level: number; readonly number: number }[] = []
  for (let level = 0; size >= 256 ** level; level++)
    names.push({ level, number: Math.floor(size / 256 ** (level + 1)) })
  const found = await readTiles(db, names)
  return names.map((name) => {
    const width = widthIn(size, name)
    const hashes = (found.get(keyOfTile(name)) ?? Buffer.alloc(0)).subarray(0, width * hashSize)
    if (hashes.length < width * hashSize) throw new TreeIncomplete(size)
    return Buffer.from(hashes)
  })
}

/** Returns the hashes of tiles by `keyOfTile`; those that do not exist are missing. */
export const readTiles = async (
  db: Knex,
  names: readonly { readonly level: number; readonly number: number }[],
): Promise<ReadonlyMap<string, Buffer>> => {
  const { rows } = await db.raw<{ rows: { level: number; number: string; hashes: Buffer }[] }>(
    `select t.* from unnest(?::int[], ?::bigint[]) as w (level, number) join ${tiles} t on (t.level, t.number) = (w.level, w.number)`,
    [names.map(({ level }) => level), names.map(({ number }) => number)],
  )
  return new Map(rows.map(({ level, number, hashes }) => [keyOfTile({ level, number: Number(number) }), hashes]))
}

/** Returns the hash of the clicks of an event; undefined for clicks without a canonical form. */
const hashClicks = (event: StoredEvent): Buffer | undefined => {
  try {
    return hashLeaves([...clickTexts(event)])
  } catch (error) {
    if (error instanceof NotCanonical) return undefined
    throw error
  }
}

/** Returns the hashes of the leaves of the next events. */
const hashEvents = (events: readonly StoredEvent[], { size, at: before }: LeafPlace) => {
  let at = before
  return events.map((event, i) => {
    at = clockAfter([event], at)
    return hashLeaf(leafOf(event, size + i, at, { hashes: hashClicks(event) }))
  })
}

/**
 * Adds the next events. The checkpoint moves in the same transaction. Returns undefined, and adds nothing, when another
 * process has moved it.
 */
const grow = async (
  { db, store, engine }: TreeOptions,
  before: Tree,
  events: readonly StoredEvent[],
): Promise<Tree | undefined> => {
  const { edge, grown } = growEdge(before.edge, hashEvents(events, { size: before.edge.size, at: before.at }))
  const at = clockAfter(events, before.at)
  const { position, id } = events.at(-1)!
  const isAdded = await db.transaction(async (tx) => {
    const { rows } = await tx.raw<{ rows: unknown[] }>(
      before.edge.size === 0
        ? `insert into ${checkpoint} (size, position, event_id, at, log_id, engine) values (?, ?, ?, ?, ?, ?) on conflict do nothing returning 1`
        : `update ${checkpoint} set size = ?, position = ?, event_id = ?, at = ? where log_id = ? and engine = ? and size = ? returning 1`,
      [
        ...[edge.size, position.toString(), id, at, store.logId, engine],
        ...(before.edge.size === 0 ? [] : [before.edge.size]),
      ],
    )
    if (rows.length > 0) await writeTiles(tx, grown)
    return rows.length > 0
  })
  return isAdded ? { edge, position, at } : undefined
}

const writeTiles = (tx: Knex, grown: readonly GrownTile[]) =>
  tx.raw(
    `insert into ${tiles} (level, number, hashes) select * from unnest(?::int[], ?::bigint[], ?::bytea[])
     on conflict (level, number) do update set hashes = excluded.hashes`,
    [
      column(grown, ({ level }) => level),
      column(grown, ({ number }) => number),
      column(grown, ({ hashes }) => `\\\\x${hashes.toString('hex')}`),
    ],
  )

/** events per read */
const limit = 2000
/** ms between two reads of the log: the tree follows, and appends never wait for it */
const interval = 1000

/**
 * Adds the events of the log to its tree, existing and new ones, until the signal aborts. Calls `onRead` with its size
 * each time it has caught up. Several processes may do so, and `linkledger rebuild` may drop the tree meanwhile. Throws
 * `TreeMismatch`.
 */
export const followTree = async (
  options: TreeOptions,
  onRead: (size: number) => Promise<void>,
  signal: AbortSignal,
) => {
  const { store } = options
  let tree: Tree | undefined
  while (!signal.aborted) {
    tree ??= await openTree(options)
    for await (const events of ahead(readToHead(store, { after: tree.position, filter: 'all', limit, signal }))) {
      tree = await grow(options, tree, events)
      if (!tree) break
    }
    if (tree && !signal.aborted) await onRead(tree.edge.size)
    await sleep(interval, undefined, { signal }).catch(() => {})
  }
}
