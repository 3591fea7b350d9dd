import type { FileHandle } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import type { SeqByPartition } from '../entry.ts'
import type { DroppedVisits, Visit } from '../visit.ts'

/** Where a spool's entries go: a click log and its number of partitions. A segment belongs to one route permanently. */
export interface Route {
  readonly log: string
  readonly partitions: number
}

/** A visit, or the number of visits that could not be kept at this place in the order. */
export type SpoolContent = { readonly visit: Visit } | { readonly dropped: DroppedVisits }

/** An entry as a spool delivers it. `seq` counts up by one from 1 within (spool, partition); a gap is a loss. */
export type SpoolEntry = { readonly partition: number; readonly seq: number } & SpoolContent

export interface Header {
  /** names the spool for ever: only the process that has chosen this id writes under it */
  readonly spool: string
  /** id of the event log that the entries belong to; version 0.1.0 did not write it */
  readonly logId?: string | undefined
  readonly route: Route
  /** the last sequence number of each partition before this segment */
  readonly last: readonly number[]
}

/** `n` counts the entries of a segment from 1, so that recovery knows how many entries a damaged part held. */
export type StoredEntry = SpoolEntry & { readonly n: number }

type Line = Header | StoredEntry

/** A part of a segment: a line with a valid checksum, or damaged bytes (`line` is undefined). */
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
  /** bytes that are durable on disk: readers see no more than these */
  synced: number
  /**
   * sequence numbers of a reader that has read the whole segment; damage can keep them below the next segment's header
   */
  readUpTo: readonly number[] | undefined
}

const newline = 10
const chunkBytes = 64 * 1024

export const segmentName = (number: number): string => `${String(number).padStart(10, '0')}.spool`

/** Returns the number in a segment's file name, 0 when the name is not a segment's. */
export const segmentNumber = (name: string): number => Number(/^(\d{10})\.spool$/.exec(name)?.[1] ?? 0)

/** 32 bits as hex, and a space */
const checksum = (json: string | Buffer): string => `${crc32(json).toString(16).padStart(8, '0')} `

/**
 * Encodes one line: a checksum that reveals damage, then JSON. JSON has no raw newline, so a reader can resume at the
 * next line.
 */
export const encodeLine = (line: Line): string => {
  const json = JSON.stringify(line)
  return `${checksum(json)}${json}\n`
}

/** Encodes the header twice, because the sequence numbers of all partitions depend on it. */
export const encodeHeader = (header: Header): Buffer => Buffer.from(encodeLine(header).repeat(2))

const decodeLine = (bytes: Buffer): Line | undefined => {
  if (bytes.length < 10 || bytes.toString('latin1', 0, 9) !== checksum(bytes.subarray(9))) return undefined
  // the checksum proves that encodeLine() wrote it
  return JSON.parse(bytes.toString('utf8', 9)) as Line
}

/**
 * Returns the lines on both sides of a newline that a flipped bit turned into another byte; undefined when there are
 * none.
 */
const splitLine = (offset: number, bytes: Buffer): Piece[] | undefined => {
  const text = bytes.toString('latin1')
  for (const { index } of text.matchAll(/[^](?=[\da-f]{8} \{)/g)) {
    const [before, after] = [bytes.subarray(0, index), bytes.subarray(index + 1)]
    const [first, second] = [decodeLine(before), decodeLine(after)]
    if (!first && !second) continue
    const middle = offset + index + 1
    return [
      { offset, end: middle, bytes: before, line: first },
      { offset: middle, end: offset + bytes.length + 1, bytes: after, line: second },
    ]
  }
  return undefined
}

/** Returns the pieces of the bytes before a newline: one line, unless the newline in the middle of two is damaged. */
const toPieces = (offset: number, bytes: Buffer): Piece[] => {
  const line = decodeLine(bytes)
  const one = { offset, end: offset + bytes.length + 1, bytes, line }
  return line ? [one] : (splitLine(offset, bytes) ?? [one])
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
 * Returns the next pieces between two offsets, about `length` bytes of them; continue at the `end` of the last one.
 * Bytes without a newline at the very end become a piece of their own.
 */
export const readPieces = async (file: FileHandle, from: number, to: number, length = chunkBytes): Promise<Piece[]> => {
  const chunk = await readFully(file, from, Math.min(length, to - from))
  const complete = chunk.length < length || from + length === to
  const pieces: Piece[] = []
  let start = 0
  for (let stop; (stop = chunk.indexOf(newline, start)) >= 0; start = stop + 1) {
    pieces.push(...toPieces(from + start, chunk.subarray(start, stop)))
  }
  if (complete && start < chunk.length) {
    const bytes = chunk.subarray(start)
    // the last byte may be the newline, damaged
    pieces.push({ offset: from + start, end: from + chunk.length, bytes, line: decodeLine(bytes.subarray(0, -1)) })
  }
  // a line longer than the chunk: read more at once
  return pieces.length === 0 && !complete ? await readPieces(file, from, to, length * 2) : pieces
}

/** Whether no partition's sequence number exceeds the given one. */
export const isWithin = (last: readonly number[], upTo: SeqByPartition): boolean =>
  last.every((seq, partition) => seq <= (upTo[partition] ?? 0))
