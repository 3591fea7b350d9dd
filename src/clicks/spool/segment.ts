import type { FileHandle } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import type { SpoolEntry } from '../visit.ts'

/** Where the entries go: a click log and its number of partitions. A segment belongs to one route for ever. */
export interface Route {
  readonly log: string
  readonly partitions: number
}

export interface Header {
  readonly spool: string
  readonly route: Route
  /** the last sequence number of each partition before this segment */
  readonly last: readonly number[]
}

/** `n` counts the entries of a segment from 1: it tells how many a damaged place held. */
export type Entry = SpoolEntry & { readonly n: number }

type Line = Header | Entry

/** A piece of a segment: a line that its checksum vouches for, or bytes that are none. */
export interface Piece {
  readonly offset: number
  readonly end: number
  readonly bytes: Buffer
  readonly line: Line | undefined
}

export interface Segment {
  readonly number: number
  readonly path: string
  readonly header: Header
  /** bytes of whole lines; what a failed write left behind them does not count */
  size: number
  /** bytes that are safe on the disk: no reader sees more */
  synced: number
  /** where a reader stood when it had seen all of it; damage can keep that below the header of the next segment */
  reached: readonly number[] | undefined
}

const newline = 10
const chunkBytes = 64 * 1024

export const segmentName = (number: number): string => `${String(number).padStart(10, '0')}.spool`

export const segmentNumber = (name: string): number => Number(/^(\d{10})\.spool$/.exec(name)?.[1] ?? 0)

/** One line: a checksum, so that damage shows, and JSON, which has no raw newline, so that reading finds its feet at the next one. */
export const encode = (line: Line): string => {
  const json = JSON.stringify(line)
  return `${crc32(json).toString(16).padStart(8, '0')} ${json}\n`
}

/** Twice, because the sequence numbers of the partitions hang on it. */
export const encodeHeader = (header: Header): Buffer => Buffer.from(encode(header).repeat(2))

const decode = (bytes: Buffer): Line | undefined => {
  if (bytes.length < 10 || parseInt(bytes.toString('latin1', 0, 8), 16) !== crc32(bytes.subarray(9))) return undefined
  // The checksum says that encode() wrote it.
  return JSON.parse(bytes.toString('utf8', 9)) as Line
}

const readFully = async (file: FileHandle, from: number, length: number): Promise<Buffer> => {
  const bytes = Buffer.allocUnsafe(length)
  let filled = 0
  while (filled < length) {
    const { bytesRead } = await file.read(bytes, filled, length - filled, from + filled)
    if (bytesRead === 0) break
    filled += bytesRead
  }
  return bytes.subarray(0, filled)
}

/**
 * The pieces between two offsets, some at a time: go on where the last one ends. Bytes without a newline at the very end
 * are a piece without a line; none are left over.
 */
export const readPieces = async (file: FileHandle, from: number, to: number, length = chunkBytes): Promise<Piece[]> => {
  const chunk = await readFully(file, from, Math.min(length, to - from))
  const complete = chunk.length < length || from + length === to
  const pieces: Piece[] = []
  let start = 0
  for (let stop; (stop = chunk.indexOf(newline, start)) >= 0; start = stop + 1) {
    const bytes = chunk.subarray(start, stop)
    pieces.push({ offset: from + start, end: from + stop + 1, bytes, line: decode(bytes) })
  }
  if (complete && start < chunk.length) {
    pieces.push({ offset: from + start, end: from + chunk.length, bytes: chunk.subarray(start), line: undefined })
  }
  return pieces.length === 0 && !complete ? await readPieces(file, from, to, length * 2) : pieces
}

/** Whether sequence numbers by partition reach no further than others. */
export const isWithin = (last: readonly number[], upTo: Readonly<Record<number, number>>): boolean =>
  last.every((seq, partition) => seq <= (upTo[partition] ?? 0))
