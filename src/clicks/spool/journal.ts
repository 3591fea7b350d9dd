import { unlink } from 'node:fs/promises'
import type { SeqByPartition } from '../entry.ts'
import type { Visit } from '../visit.ts'
import { encodeLine, type Header, isWithin, type Route, type Segment, type SpoolContent } from './segment.ts'
import { createSegmentFile, type Io, type SegmentFile } from './file.ts'

/**
 * The files of a spool. Writing is synchronous: it puts a few hundred bytes into the kernel's cache, in a tenth of the
 * time that the thread pool takes.
 */
export interface Journal {
  /** oldest first */
  readonly segments: readonly Segment[]
  /** Writes all of the contents, or throws and leaves nothing behind. When it returns, the kernel has them. */
  readonly append: (contents: readonly SpoolContent[]) => void
  /** Makes durable what is written now. Rejects when the disk fails. */
  readonly sync: () => Promise<void>
  readonly hasUnsynced: () => boolean
  /** Deletes the oldest segments that hold nothing after these sequence numbers. */
  readonly release: (upTo: SeqByPartition) => Promise<void>
  /**
   * Begins a new segment when entries of the newest one are recorded: with the rest, it can be released then. Returns
   * whether it did; throws when the disk refuses it.
   */
  readonly renew: (upTo: SeqByPartition) => boolean
  /** Deletes all segments of a closed journal. */
  readonly remove: () => Promise<void>
  readonly bytes: () => number
  /** entries of all partitions that were appended so far */
  readonly entries: () => number
  /** the last sequence number of each partition */
  readonly lastSeq: () => readonly number[]
  /** the last sequence number of each partition whose segment is deleted */
  readonly releasedUpTo: () => readonly number[]
  readonly close: () => void
}

export interface JournalOptions extends Omit<Header, 'last'> {
  readonly dir: string
  readonly io: Io
  readonly segmentBytes: number
  /** all segments in the folder together */
  readonly maxBytes: number
  /** bytes of other spools in the folder */
  readonly otherBytes: () => number
  /** the highest number that a segment in this folder has had */
  readonly number: number
}

/** How far entries are numbered: by partition, and within the newest segment. */
interface Numbering {
  readonly last: readonly number[]
  readonly entries: number
}

/** The clicks of one link keep their order, and so do the scans of one QR code that leads to no link. */
const partitionOf = ({ link, source }: Pick<Visit, 'link' | 'source'>, { partitions }: Route): number =>
  (link || source.id) % partitions

/** Returns the last entry that a spool has of the partition of a link. */
export const spooledUpTo = (link: number, route: Route, last: readonly number[]) => {
  const partition = partitionOf({ link, source: { kind: 'link', id: link } }, route)
  return { partition, seq: last[partition] ?? 0 }
}

const encodeNext = (contents: readonly SpoolContent[], { last, entries }: Numbering, route: Route) => {
  const next = [...last]
  const lines = contents.map((content, i) => {
    const partition = 'visit' in content ? partitionOf(content.visit, route) : 0
    const seq = (next[partition] ?? 0) + 1
    next[partition] = seq
    return encodeLine({ n: entries + i + 1, partition, seq, ...content })
  })
  const numbering: Numbering = { last: next, entries: entries + contents.length }
  return { bytes: Buffer.from(lines.join('')), numbering }
}

/**
 * Deletes the oldest segments that hold nothing after these sequence numbers; never the newest, or one that is open.
 */
export const releaseSegments = async (
  segments: Segment[],
  upTo: SeqByPartition,
  isOpen: (segment: Segment) => boolean = () => false,
): Promise<void> => {
  const count = segments.findIndex((segment, i) => {
    const next = segments[i + 1]
    const isDone =
      next !== undefined &&
      !isOpen(segment) &&
      (isWithin(next.header.last, upTo) || (segment.readUpTo !== undefined && isWithin(segment.readUpTo, upTo)))
    return !isDone
  })
  await removeFiles(segments.splice(0, Math.max(0, count)))
}

const removeFiles = async (segments: readonly Segment[]): Promise<void> => {
  for (const { path } of segments) await unlink(path)
}

/** Whether an entry of a segment is up to these sequence numbers. */
const hasRecorded = ({ header }: Segment, upTo: SeqByPartition): boolean =>
  header.last.some((seq, partition) => (upTo[partition] ?? 0) > seq)

/** Begins a spool: its sequence numbers start at 1. */
export const createJournal = (options: JournalOptions): Journal => {
  const { dir, spool, logId, route, io, segmentBytes, maxBytes, otherBytes } = options
  const segments: Segment[] = []
  /** the newest segment, and older ones that are not synced yet */
  const files: SegmentFile[] = []
  let numbering: Numbering = { last: Array.from({ length: route.partitions }, () => 0), entries: 0 }
  let { number } = options
  let current: SegmentFile | undefined

  const beginSegment = (): SegmentFile => {
    number += 1
    const file = createSegmentFile(io, dir, number, { spool, logId, route, last: numbering.last })
    segments.push(file.segment)
    files.push(file)
    numbering = { ...numbering, entries: 0 }
    return file
  }

  const totalBytes = (): number => segments.reduce((sum, { size }) => sum + size, 0)
  const hasUnsynced = ({ segment }: SegmentFile): boolean => segment.synced < segment.size

  return {
    segments,

    append: (contents) => {
      if (!current || current.segment.size >= segmentBytes) current = beginSegment()
      const next = encodeNext(contents, numbering, route)
      if (otherBytes() + totalBytes() + next.bytes.length > maxBytes)
        throw new Error(`the spool has reached its limit of ${maxBytes} bytes`)
      try {
        current.append(next.bytes)
      } catch (error) {
        // Where the torn write cannot be removed, the segment ends here; the next one's header says with which numbers.
        if (!current.discardTail()) current = undefined
        throw error
      }
      numbering = next.numbering
    },

    sync: async () => {
      for (const file of files.slice()) {
        if (hasUnsynced(file)) await file.sync()
        if (file === current || hasUnsynced(file)) continue
        file.close()
        files.splice(files.indexOf(file), 1)
      }
    },

    hasUnsynced: () => files.some((file) => file !== current || hasUnsynced(file)),

    release: async (upTo) => {
      const open = new Set(files.map(({ segment }) => segment))
      await releaseSegments(segments, upTo, (segment) => open.has(segment))
    },

    renew: (upTo) => {
      const isDue = segments.length === 1 && hasRecorded(segments[0]!, upTo)
      if (isDue) current = beginSegment()
      return isDue
    },

    remove: () => removeFiles(segments.splice(0)),

    bytes: totalBytes,
    entries: () => numbering.last.reduce((sum, seq) => sum + seq, 0),
    lastSeq: () => numbering.last,
    releasedUpTo: () => segments[0]?.header.last ?? numbering.last,

    close: () => {
      for (const file of files.splice(0)) file.close()
    },
  }
}
