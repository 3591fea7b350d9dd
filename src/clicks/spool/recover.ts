import { mkdir, open, readdir, readFile, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Log } from '../report.ts'
import { noQuarantine, openQuarantine, type Quarantine } from './quarantine.ts'
import {
  type Header,
  type Piece,
  readPieces,
  type Segment,
  segmentName,
  segmentNumber,
  type StoredEntry,
} from './segment.ts'
import { syncFolder } from './file.ts'
import { type FoundTally, readTally, talliedSpool } from './fixedfile.ts'

/** The segments of one spool, oldest first, all of them synced. */
export interface FoundSpool {
  readonly segments: Segment[]
  readonly header: Header
  /** the last sequence number of each partition */
  readonly last: readonly number[]
}

export interface Recovered {
  /** oldest first */
  readonly spools: readonly FoundSpool[]
  readonly tallies: readonly FoundTally[]
  /** the highest number that a segment in this folder has had */
  readonly number: number
  readonly quarantine: Quarantine
}

const makeFolder = async (dir: string): Promise<void> => {
  if ((await mkdir(dir, { recursive: true, mode: 0o700 })) !== undefined) await syncFolder(dirname(dir))
}

/**
 * Reads a segment's header; undefined when it is unreadable. Syncs the segment first, because what a killed process
 * left in the kernel's cache is about to be read.
 */
const inspect = async (path: string, number: number): Promise<Segment | undefined> => {
  const file = await open(path, 'r')
  try {
    await file.datasync()
    const { size } = await file.stat()
    const pieces = await readPieces(file, 0, size)
    const header = pieces.map(({ line }) => line).find((line): line is Header => line !== undefined && 'spool' in line)
    return header && { number, path, header, size, synced: size, readUpTo: undefined }
  } finally {
    await file.close()
  }
}

/** Moves a segment without a readable header aside. Without one whole line, it was cut off while it was created. */
const dispose = async (path: string, quarantine: Quarantine): Promise<void> => {
  const mayHoldEntries = (await readFile(path)).includes('\n')
  await (mayHoldEntries ? quarantine.moveAside(path) : unlink(path))
}

/**
 * Scans a segment: where its last whole line ends, and the last sequence numbers. Damage that a whole line follows is
 * copied to quarantine; damage at the end is a torn write.
 */
const scan = async (segment: Segment, quarantine: Quarantine) => {
  const file = await open(segment.path, 'r')
  try {
    const damaged: Piece[] = []
    let newest: StoredEntry | undefined
    let end = 0
    const last = [...segment.header.last]
    for (let offset = 0; offset < segment.size;) {
      const pieces = await readPieces(file, offset, segment.size)
      for (const piece of pieces) {
        if (!piece.line) {
          damaged.push(piece)
          continue
        }
        for (const place of damaged.splice(0)) await quarantine.copy(segment.path, place)
        end = piece.end
        if (!('seq' in piece.line)) continue
        newest = piece.line
        last[newest.partition] = newest.seq
      }
      offset = pieces.at(-1)?.end ?? segment.size
    }
    return { end: Math.min(end, segment.size), last }
  } finally {
    await file.close()
  }
}

const cutOff = async ({ path, size }: Segment, end: number, log: Log): Promise<void> => {
  log('warn', 'the torn end of the spool was cut off', { path, bytes: size - end })
  const file = await open(path, 'r+')
  try {
    await file.truncate(end)
    await file.datasync()
  } finally {
    await file.close()
  }
}

const numbersIn = async (dir: string): Promise<number[]> =>
  (await readdir(dir)).flatMap((name) => segmentNumber(name) || []).sort((a, b) => a - b)

/** Groups segments by the spool and the route that their headers name, in the order of their first segments. */
const bySpool = (segments: readonly Segment[]): (readonly [Segment, ...Segment[]])[] => {
  const groups = new Map<string, [Segment, ...Segment[]]>()
  for (const segment of segments) {
    const { spool, route } = segment.header
    const key = `${spool} ${route.log} ${route.partitions}`
    const group = groups.get(key)
    if (group) group.push(segment)
    else groups.set(key, [segment])
  }
  return [...groups.values()]
}

/** Reads what the tallies in a folder count that no journal has. With a quarantine, the folder may be changed. */
const readTallies = async (dir: string, spools: readonly FoundSpool[], quarantine?: Quarantine) => {
  const tallies: FoundTally[] = []
  for (const name of await readdir(dir)) {
    const of = talliedSpool(name)
    if (of === undefined) continue
    const path = join(dir, name)
    const last = spools.find(({ header }) => header.spool === of)?.last ?? []
    const tally = await readTally(path, total(last), quarantine !== undefined)
    if (tally === 'damaged') await quarantine?.moveAside(path)
    else if (tally) tallies.push(tally)
    else if (quarantine) await unlink(path)
  }
  return tallies
}

const total = (last: readonly number[]): number => last.reduce((sum, seq) => sum + seq, 0)

/**
 * Opens a spool folder in any state after a crash: finds its spools, moves segments without a readable header aside,
 * and cuts off torn ends.
 */
export const recover = async (dir: string, log: Log): Promise<Recovered> => {
  await makeFolder(dir)
  const quarantine = await openQuarantine(dir, log)
  const numbers = await numbersIn(dir)
  const segments: Segment[] = []
  for (const number of numbers) {
    const path = join(dir, segmentName(number))
    const segment = await inspect(path, number)
    if (segment) segments.push(segment)
    else await dispose(path, quarantine)
  }
  const spools: FoundSpool[] = []
  for (const group of bySpool(segments)) {
    const newest = group.at(-1) ?? group[0]
    const { end, last } = await scan(newest, quarantine)
    if (end < newest.size) await cutOff(newest, end, log)
    newest.size = newest.synced = end
    spools.push({ segments: [...group], header: newest.header, last })
  }
  const tallies = await readTallies(dir, spools, quarantine)
  // a number is not reused while quarantine has a file with it
  return { spools, tallies, number: Math.max(numbers.at(-1) ?? 0, quarantine.lastSegment()), quarantine }
}

/** Finds the spools in a folder without changing it, because a running service may write to it. */
export const peek = async (dir: string): Promise<Pick<Recovered, 'spools' | 'tallies'>> => {
  const segments: Segment[] = []
  for (const number of await numbersIn(dir)) {
    // a running service deletes what is recorded
    const segment = await inspect(join(dir, segmentName(number)), number).catch(() => undefined)
    if (segment) segments.push(segment)
  }
  const spools = await Promise.all(
    bySpool(segments).map(async (group) => {
      const newest = group.at(-1) ?? group[0]
      const { end, last } = await scan(newest, noQuarantine)
      newest.size = newest.synced = end
      return { segments: [...group], header: newest.header, last }
    }),
  )
  return { spools, tallies: await readTallies(dir, spools) }
}
