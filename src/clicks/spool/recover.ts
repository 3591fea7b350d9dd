import { randomUUID } from 'node:crypto'
import { mkdir, open, readdir, readFile, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Log } from '../report.ts'
import { isSameRoute } from './folders.ts'
import { openQuarantine, type Quarantine } from './quarantine.ts'
import {
  type Header,
  type Piece,
  readPieces,
  type Route,
  type Segment,
  segmentName,
  segmentNumber,
  type StoredEntry,
} from './segment.ts'
import { syncFolder } from './segmentfile.ts'

export interface Recovered {
  readonly id: string
  /** the segments of this spool and route, oldest first, all of them synced */
  readonly segments: Segment[]
  /** the last sequence number of each partition */
  readonly last: readonly number[]
  /** how many entries the newest segment holds; undefined when it must not be continued */
  readonly entries: number | undefined
  /** the highest number that a segment in this folder has had */
  readonly number: number
  readonly quarantine: Quarantine
}

type Numbering = Pick<Recovered, 'last' | 'entries'>

const makeFolder = async (dir: string): Promise<void> => {
  if ((await mkdir(dir, { recursive: true, mode: 0o700 })) !== undefined) await syncFolder(dirname(dir))
}

/**
 * Reads a segment's header; undefined when it is unreadable. Syncs the segment first, because what a killed process left in
 * the kernel's cache is about to be read.
 */
const inspect = async (path: string, number: number): Promise<Segment | undefined> => {
  const file = await open(path, 'r+')
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

/**
 * Removes a segment without a readable header. Returns whether it may have held entries: without one whole line, it was cut
 * off while it was created.
 */
const dispose = async (path: string, quarantine: Quarantine): Promise<boolean> => {
  const mayHoldEntries = (await readFile(path)).includes('\n')
  await (mayHoldEntries ? quarantine.moveAside(path) : unlink(path))
  return mayHoldEntries
}

/** Reads the segments of a folder, and disposes of those without a readable header. */
const readSegments = async (dir: string, numbers: readonly number[], quarantine: Quarantine) => {
  const segments: Segment[] = []
  const lost: number[] = []
  for (const number of numbers) {
    const path = join(dir, segmentName(number))
    const segment = await inspect(path, number)
    if (segment) segments.push(segment)
    else if (await dispose(path, quarantine)) lost.push(number)
  }
  return { segments, lost }
}

/**
 * Scans a segment: where its last whole line ends, and its entries' sequence numbers. Damage that a whole line follows is
 * copied to quarantine; damage at the end is a torn write.
 */
const scan = async (file: Awaited<ReturnType<typeof open>>, segment: Segment, quarantine: Quarantine) => {
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
  return { end, last, entries: newest?.n ?? 0 }
}

/** Cuts off the torn end of the newest segment, and returns where its numbers end. */
const settle = async (segment: Segment, quarantine: Quarantine, log: Log): Promise<Numbering> => {
  const file = await open(segment.path, 'r+')
  try {
    const { end, last, entries } = await scan(file, segment, quarantine)
    if (end < segment.size) {
      log('warn', 'the torn end of the spool was cut off', { path: segment.path, bytes: segment.size - end })
      await file.truncate(end)
      await file.datasync()
      segment.size = segment.synced = end
    }
    return skipHidden(segment.header, last, entries)
  } finally {
    await file.close()
  }
}

/**
 * Damaged entries that no later entry of their partition reveals: any partition may have had them, and they may have been
 * read. All partitions skip that many numbers, because a number that is given twice would hide a click, and a gap only
 * reports one.
 */
const skipHidden = (header: Header, last: readonly number[], entries: number): Numbering => {
  const hidden = entries - last.reduce((sum, seq, partition) => sum + seq - (header.last[partition] ?? 0), 0)
  return hidden > 0 ? { last: last.map((seq) => seq + hidden), entries: undefined } : { last, entries }
}

/**
 * Opens a spool's folder, in whatever state a crash left it. The spool's id is stored where the sequence numbers are, in the
 * segments' headers: a spool that loses its numbers loses its id, and continues as another spool instead of giving a number twice.
 */
export const recover = async (dir: string, route: Route, log: Log): Promise<Recovered> => {
  await makeFolder(dir)
  const quarantine = await openQuarantine(dir, log)
  const numbers = (await readdir(dir)).map(segmentNumber).filter((number) => number > 0)
  numbers.sort((a, b) => a - b)
  const found = await readSegments(dir, numbers, quarantine)

  const newest = found.segments.findLast(({ header }) => isSameRoute(header.route, route))
  const hasLostNumbers = found.lost.some((number) => number > (newest?.number ?? 0))
  const id = (hasLostNumbers ? undefined : (newest ?? found.segments.at(-1))?.header.spool) ?? randomUUID()
  const segments = found.segments.filter(({ header }) => header.spool === id && isSameRoute(header.route, route))
  const others = found.segments.filter((segment) => !segments.includes(segment))
  if (others.length > 0) {
    log('warn', 'the spool folder holds segments of another route or spool, which are kept and not read', {
      dir,
      segments: others.map(({ path, header }) => ({ path, ...header })),
    })
  }

  const current = segments.at(-1)
  const numbering = current
    ? await settle(current, quarantine, log)
    : { last: Array.from({ length: route.partitions }, () => 0), entries: undefined }
  return { id, segments, ...numbering, number: numbers.at(-1) ?? 0, quarantine }
}
