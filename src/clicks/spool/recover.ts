import { randomUUID } from 'node:crypto'
import { mkdir, open, readdir, readFile, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Log, Quarantine } from './quarantine.ts'
import { openQuarantine } from './quarantine.ts'
import type { Header, Piece, Route, Segment } from './segment.ts'
import { readPieces, segmentName, segmentNumber } from './segment.ts'

export interface Recovered {
  readonly id: string
  /** the segments of this spool and route, oldest first, all of them synced */
  readonly segments: Segment[]
  /** the last sequence number of each partition */
  readonly last: number[]
  /** how many entries the newest segment holds; undefined when it must not be continued */
  readonly entries: number | undefined
  /** the highest number that a segment ever had */
  readonly number: number
  readonly quarantine: Quarantine
}

export const syncFolder = async (dir: string): Promise<void> => {
  const folder = await open(dir, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

const makeFolder = async (dir: string): Promise<void> => {
  if ((await mkdir(dir, { recursive: true, mode: 0o700 })) !== undefined) await syncFolder(dirname(dir))
}

/** A segment as it lies there, made safe on the disk: what a killed process left to the kernel is about to be read. */
const inspect = async (path: string, number: number): Promise<Segment | undefined> => {
  const file = await open(path, 'r+')
  try {
    await file.datasync()
    const { size } = await file.stat()
    const pieces = await readPieces(file, 0, size)
    const header = pieces.map(({ line }) => line).find((line): line is Header => line !== undefined && 'spool' in line)
    return header && { number, path, header, size, synced: size, reached: undefined }
  } finally {
    await file.close()
  }
}

/** Without one whole line it was cut off while it was made. Otherwise it held entries, and nobody knows which. */
const dispose = async (path: string, quarantine: Quarantine): Promise<boolean> => {
  const held = (await readFile(path)).includes('\n')
  await (held ? quarantine.putAside(path) : unlink(path))
  return held
}

/** Cuts a torn tail off and finds the last sequence numbers. */
const settle = async (
  segment: Segment,
  quarantine: Quarantine,
  log: Log,
): Promise<Pick<Recovered, 'last' | 'entries'>> => {
  const last = [...segment.header.last]
  const damaged: Piece[] = []
  let entries = 0
  let end = 0

  const file = await open(segment.path, 'r+')
  try {
    for (let offset = 0; offset < segment.size;) {
      const pieces = await readPieces(file, offset, segment.size)
      for (const piece of pieces) {
        if (!piece.line) {
          damaged.push(piece)
          continue
        }
        // Something whole follows: the damage before it is no torn tail.
        for (const place of damaged.splice(0)) await quarantine.copy(segment.path, place)
        end = piece.end
        if ('seq' in piece.line) {
          last[piece.line.partition] = piece.line.seq
          entries = piece.line.n
        }
      }
      offset = pieces.at(-1)?.end ?? segment.size
    }
    if (end < segment.size) {
      log('warn', 'the torn end of the spool was cut off', { path: segment.path, bytes: segment.size - end })
      await file.truncate(end)
      await file.datasync()
      segment.size = segment.synced = end
    }
  } finally {
    await file.close()
  }

  // Damaged entries that no later one of their partition shows: any partition may have had them, and they may have been
  // read. All of them jump, because a number that is given twice would hide a click, and a hole only reports one.
  const hidden = entries - last.reduce((sum, seq, partition) => sum + seq - (segment.header.last[partition] ?? 0), 0)
  return hidden > 0 ? { last: last.map((seq) => seq + hidden), entries: undefined } : { last, entries }
}

const sameRoute = (a: Route, b: Route): boolean => a.log === b.log && a.partitions === b.partitions

/**
 * Opens a spool's folder, in whatever state a crash left it. The id lives in the headers, where the numbers live: who loses
 * the numbers loses the id, and begins as another spool instead of giving numbers twice.
 */
export const recover = async (dir: string, route: Route, log: Log): Promise<Recovered> => {
  await makeFolder(dir)
  const quarantine = await openQuarantine(dir, log)
  const numbers = (await readdir(dir)).map(segmentNumber).filter((number) => number > 0)
  numbers.sort((a, b) => a - b)

  const found: Segment[] = []
  const lost: number[] = []
  for (const number of numbers) {
    const path = join(dir, segmentName(number))
    const segment = await inspect(path, number)
    if (segment) found.push(segment)
    else if (await dispose(path, quarantine)) lost.push(number)
  }

  const newest = found.findLast(({ header }) => sameRoute(header.route, route))
  const forgotten = lost.some((number) => number > (newest?.number ?? 0))
  const id = (forgotten ? undefined : (newest ?? found.at(-1))?.header.spool) ?? randomUUID()
  const segments = found.filter(({ header }) => header.spool === id && sameRoute(header.route, route))
  if (segments.length < found.length) {
    log('warn', 'the spool holds segments of another route or id, which are kept and not read', {
      dir,
      segments: found.filter((segment) => !segments.includes(segment)).map(({ path, header }) => ({ path, ...header })),
    })
  }

  const current = segments.at(-1)
  const numbering = current
    ? await settle(current, quarantine, log)
    : { last: Array.from({ length: route.partitions }, () => 0), entries: undefined }
  return { id, segments, ...numbering, number: numbers.at(-1) ?? 0, quarantine }
}
