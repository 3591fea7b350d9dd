import { availableParallelism } from 'node:os'
import { clockAfter, countClicks, leavesOf, type StoredEvent } from '../../events/proof/leaf.ts'
import type { RawText } from '../../events/rawtext.ts'
import { readToHead, type StoredLog } from '../../events/store.ts'
import { ahead, mapAhead } from '../../lib/async/ahead.ts'
import { growingTree, hashSize } from '../../lib/merkle.ts'
import { type Checkpoint, parseCheckpoint, parseNote, type Verifier } from '../../lib/note.ts'
import { keyOfTile, tileWidth } from '../../lib/tiles.ts'
import type { Database } from '../../postgres/database.ts'
import { keptCheckpoints } from '../../postgres/checkpoints.ts'
import { readTiles, treeSize } from '../../projections/proof/tree.ts'
import { rootsOf } from '../../queries/proof/tree.ts'
import { openLeafThreads } from './leafthreads.ts'

/** Something that does not hold, and the ordinal of the first event that it is about. */
export interface Finding {
  readonly ordinal: number
  readonly text: string
  /** the first event is not known exactly: it is this one at the latest */
  readonly until?: number
}

interface VerifyOptions {
  readonly db: Database
  readonly stored: StoredLog
  readonly verifier: Verifier
  /** signed checkpoints that were kept elsewhere */
  readonly outside?: readonly string[]
  readonly onProgress?: (position: bigint, head: bigint) => void
  /** threads that hash events; by default one for each core */
  readonly threads?: number
}

export interface Verified {
  readonly events: number
  readonly clicks: number
  readonly checkpoints: number
  /** how many events the largest checkpoint has that holds */
  readonly signed: number
  /** sizes of the checkpoints that are not those of this log */
  readonly broken: readonly number[]
  /** the first one comes first */
  readonly findings: readonly Finding[]
}

/** Events of the log, in its order, and what is found out about them. */
interface Batch {
  readonly events: readonly Pick<RawText, 'position' | 'type' | 'stream' | 'revision'>[]
  readonly leaves: readonly Buffer[]
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
    for await (const events of ahead(readToHead(stored, range)))
      yield { events, leaves: leavesOf(events, take(events).place), clicks: countClicks(events) }
    return
  }
  const pool = openLeafThreads(Math.min(threads, mostThreads))
  const hash = async (events: readonly RawText[]): Promise<Batch> => {
    const { leaves, clicks } = await pool.run(take(events))
    return { events, leaves: splitHashes(Buffer.from(leaves.buffer)), clicks }
  }
  try {
    yield* mapAhead(readToHead({ head: stored.head, subscribe: texts }, range), pool.tasks, hash)
  } finally {
    await pool.close()
  }
}

const splitHashes = (hashes: Buffer) =>
  Array.from({ length: hashes.length / hashSize }, (_, i) => hashes.subarray(i * hashSize, (i + 1) * hashSize))

const describe = ({ position, type, stream, revision }: Batch['events'][number]) =>
  `position ${position}, ${type}, ${stream}@${revision}`

/**
 * Reads the checkpoints whose roots are to be found again, the smallest first. What is not signed by the key is a
 * finding.
 */
const readCheckpoints = async ({ db, verifier, outside = [] }: VerifyOptions, report: (finding: Finding) => void) => {
  const kept = await keptCheckpoints(db)
  const notes = [...kept.map(({ note }) => note), ...outside]
  const checkpoints = notes.flatMap((text): Checkpoint[] => {
    const note = parseNote(text)
    const checkpoint = note && parseCheckpoint(note.text)
    if (note && checkpoint?.origin === verifier.name && verifier.verifies(note)) return [checkpoint]
    report({
      ordinal: 0,
      text: `a checkpoint of ${checkpoint?.size ?? '?'} events is not signed by the key of this log`,
    })
    return []
  })
  return checkpoints.toSorted((a, b) => a.size - b.size)
}

/** Compares leaves with those in the tiles. Returns the index of the first that differs, -1 when none does. */
const compareLeaves = async (db: Database, first: number, leaves: readonly Buffer[]): Promise<number> => {
  const numbers = new Set(leaves.map((_, i) => Math.floor((first + i) / tileWidth)))
  const tiles = await readTiles(
    db,
    [...numbers].map((number) => ({ level: 0, number })),
  )
  return leaves.findIndex((leaf, i) => {
    const ordinal = first + i
    const at = (ordinal % tileWidth) * hashSize
    const tile = tiles.get(keyOfTile({ level: 0, number: Math.floor(ordinal / tileWidth) }))
    return !tile?.subarray(at, at + hashSize).equals(leaf)
  })
}

/** Compares the root of the log after each event with the checkpoints of that size. */
const checkpointCheck = (checkpoints: readonly Checkpoint[], report: (finding: Finding) => void) => {
  let next = 0
  let holds = 0
  const broken: number[] = []
  return {
    broken,
    signed: () => holds,
    sizes: new Set(checkpoints.map(({ size }) => size)),
    at: (size: number, root: Buffer) => {
      for (; checkpoints[next]?.size === size; next++) {
        if (checkpoints[next]!.root.equals(root)) {
          holds = size
          continue
        }
        broken.push(size)
        report({
          ordinal: holds,
          until: size - 1,
          text: `the log was changed between event ${holds} and event ${size - 1}: the signed checkpoint of its first ${size} events has another root`,
        })
      }
    },
    end: (size: number) => {
      for (const checkpoint of checkpoints.slice(next)) {
        broken.push(checkpoint.size)
        report({
          ordinal: size,
          text: `event ${size} is missing: the log ends before it, and there is a signed checkpoint of ${checkpoint.size} events. If it was restored from an older backup: \`linkledger proof restart\``,
        })
      }
    },
  }
}

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
  const size = await treeSize(db)
  const [treeRoot] = await rootsOf(db, [[0, size]]).catch(() => [])
  const head = await stored.head('all')
  const growing = growingTree()
  let [next, clicks, differs] = [0, 0, false]
  if (size === 0) roots.at(0, growing.root())

  for await (const { events, leaves, clicks: more } of readBatches({ ...options, head })) {
    clicks += more
    const inTree = leaves.slice(0, Math.max(0, size - next))
    const wrong = differs ? -1 : await compareLeaves(db, next, inTree)
    if (wrong >= 0) {
      differs = true
      report({
        ordinal: next + wrong,
        text: `event ${next + wrong} (${describe(events[wrong]!)}) is not the one that was added to the tree`,
      })
    }
    for (const leaf of leaves) {
      growing.add(leaf)
      next++
      if (roots.sizes.has(next)) roots.at(next, growing.root())
      if (next === size && !differs && !treeRoot?.equals(growing.root()))
        report({
          ordinal: 0,
          text: 'the upper levels of the tree do not fit its leaves: `linkledger rebuild` makes it again',
        })
    }
    onProgress(events.at(-1)!.position, head)
  }
  if (next < size)
    report({ ordinal: next, text: `event ${next} is missing: the log ends before it, and its tree has ${size}` })
  roots.end(next)
  return {
    events: next,
    clicks,
    checkpoints: checkpoints.length,
    signed: roots.signed(),
    broken: roots.broken,
    findings: findings.toSorted((a, b) => Number('until' in a) - Number('until' in b) || a.ordinal - b.ordinal),
  }
}
