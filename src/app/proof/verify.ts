import { availableParallelism } from 'node:os'
import { clockAfter, countClicks, leavesOf, type StoredEvent } from '../../events/proof/leaf.ts'
import type { RawText } from '../../events/rawtext.ts'
import { readToHead, type StoredLog } from '../../events/store.ts'
import { ahead, mapAhead } from '../../lib/async/ahead.ts'
import { growingTree, hashSize } from '../../lib/transparency/merkle.ts'
import { placeInTile } from '../../lib/transparency/tiles.ts'
import { treeEnd } from '../../projections/proof/tree.ts'
import { checkpointCheck, type CheckpointOptions, readCheckpoints } from './checkpointcheck.ts'
import type { Counter } from './counter.ts'
import type { Finding } from './finding.ts'
import type { Invalid } from './leafhash.ts'
import { openLeafThreads } from './leafthreads.ts'
import { openPlaceCheck } from './placecheck.ts'
import { type Named, type TreeHash, treeCheck } from './treecheck.ts'

interface VerifyOptions extends CheckpointOptions {
  /** knows which checkpoints are missing */
  readonly counter?: Pick<Counter, 'check'>
  readonly stored: StoredLog
  readonly onProgress?: (position: bigint, head: bigint) => void
  /** threads that hash events; by default one for each core */
  readonly threads?: number
}

export interface Verified {
  readonly events: number
  readonly clicks: number
  readonly checkpoints: number
  /** how many events the largest signed checkpoint has, whether it holds or not */
  readonly signed: number
  /** sizes of the checkpoints that are not those of this log */
  readonly broken: readonly number[]
  /** the first one comes first */
  readonly findings: readonly Finding[]
}

/** Events of the log, in its order, and what is found out about them. */
interface Batch {
  readonly events: readonly Named[]
  readonly leaves: readonly Buffer[]
  readonly invalid: readonly Invalid[]
  readonly clicks: number
}
type ReadLog = Pick<VerifyOptions, 'stored' | 'threads'> & { readonly head: bigint }

/** events that are read at a time */
const limit = 2000
/** threads at most: reading keeps no more of them busy */
const mostThreads = 4

/** Reads the log up to its head, and hashes its events in threads, a bounded number of batches at a time. */
const readBatches = async function* ({ stored, head, threads = availableParallelism() }: ReadLog) {
  const range = { after: 0n, filter: 'all', limit, head } as const
  let place = { size: 0, at: '' }
  const take = <E extends Pick<StoredEvent, 'at'>>(events: readonly E[]) => {
    const task = { events, place }
    place = { size: place.size + events.length, at: clockAfter(events, place.at) }
    return task
  }
  const { texts } = stored
  if (!texts) {
    for await (const events of ahead(readToHead(stored, range))) {
      const invalid: Invalid[] = []
      const leaves = leavesOf(events, take(events).place, (index, why) => invalid.push({ index, why }))
      yield { events, leaves, invalid, clicks: countClicks(events) }
    }
    return
  }
  const pool = openLeafThreads(Math.min(threads, mostThreads))
  const hash = async (events: readonly RawText[]): Promise<Batch> => {
    const { leaves, ...rest } = await pool.run(take(events))
    return { events, leaves: splitHashes(Buffer.from(leaves.buffer)), ...rest }
  }
  try {
    yield* mapAhead(readToHead({ head: stored.head, subscribe: texts }, range), pool.tasks, hash)
  } finally {
    await pool.close()
  }
}

/** Returns where the tree of this log ends. The service drops that of another log or engine. */
const treeEndOf = async ({ db, stored }: Pick<VerifyOptions, 'db' | 'stored'>) => {
  const end = await treeEnd(db)
  const engine = stored.texts ? 'postgres' : 'eventstoredb'
  return end?.logId === stored.logId && end.engine === engine ? end : undefined
}

const splitHashes = (hashes: Buffer) =>
  Array.from({ length: hashes.length / hashSize }, (_, i) => hashes.subarray(i * hashSize, (i + 1) * hashSize))

/**
 * Reads the whole log again and compares it with its tree, with every signed checkpoint that is kept here, and with
 * those that were kept elsewhere.
 */
export const verifyLog = async (options: VerifyOptions): Promise<Verified> => {
  const { db, stored, onProgress = () => {} } = options
  const findings: Finding[] = []
  const report = (finding: Finding) => void findings.push(finding)
  const checkpoints = await readCheckpoints(options, report)
  const roots = checkpointCheck(checkpoints, report)
  const tree = treeCheck(db, await treeEndOf(options), report)
  const head = await stored.head('all')
  const places = await openPlaceCheck(options, report)
  const hashes: TreeHash[] = []
  let [next, clicks] = [0, 0]
  const growing = growingTree((level, hash) => {
    const place = placeInTile({ level, index: (next + 1) / 2 ** level - 1 })
    if (place) hashes.push({ ...place, ordinal: next, hash })
  })
  if (roots.sizes.has(0)) roots.at(0, growing.root())

  for await (const { events, leaves, invalid, clicks: more } of readBatches({ ...options, head })) {
    clicks += more
    const first = next
    const found: (readonly [size: number, root: Buffer])[] = []
    for (const leaf of leaves) {
      growing.add(leaf)
      next++
      if (roots.sizes.has(next)) found.push([next, growing.root()])
    }
    const wrong = await tree.compare(hashes.splice(0), first, events)
    for (const [size, root] of found) {
      tree.take(wrong, roots.holds(), size)
      roots.at(size, root)
      if (roots.holds() === size) tree.clear()
    }
    tree.take(wrong, roots.holds(), next)
    places.take(first, events, invalid)
    onProgress(events.at(-1)!.position, head)
  }
  const signed = checkpoints.at(-1)?.size ?? 0
  tree.end(next, signed)
  await places.end()
  for (const missing of (await options.counter?.check(db)) ?? []) report(missing)
  roots.end(next)
  return {
    events: next,
    clicks,
    checkpoints: checkpoints.length,
    signed,
    broken: roots.broken,
    findings: findings.toSorted((a, b) => Number('until' in a) - Number('until' in b) || a.ordinal - b.ordinal),
  }
}
