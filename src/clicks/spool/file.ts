import { closeSync, fdatasync, ftruncateSync, openSync, readSync, unlinkSync, writeSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { encodeHeader, type Header, type Segment, segmentName } from './segment.ts'

/** The part of node:fs that fails when the disk does; tests replace it. */
export interface Io {
  readonly open: (path: string, flags: string, mode: number) => number
  readonly write: (fd: number, bytes: Uint8Array, offset: number, length: number, position: number) => number
  readonly truncate: (fd: number, length: number) => void
  readonly fdatasync: (fd: number) => Promise<void>
}

export const disk: Io = {
  open: openSync,
  write: writeSync,
  truncate: ftruncateSync,
  fdatasync: promisify(fdatasync),
}

/** A segment that is open for writing. */
export interface SegmentFile {
  readonly segment: Segment
  /**
   * Writes all of the bytes at the end of the segment, or throws; a part of them may then follow the segment's `size`.
   */
  readonly append: (bytes: Uint8Array) => void
  /** Removes what a failed append left behind. Returns false when the disk refuses that too. */
  readonly discardTail: () => boolean
  /** Makes durable what is written now. Rejects when the disk fails. */
  readonly sync: () => Promise<void>
  readonly close: () => void
}

/** Makes durable which files a folder holds. */
export const syncFolder = async (dir: string): Promise<void> => {
  const folder = await open(dir, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

export const writeAt = (io: Io, fd: number, bytes: Uint8Array, position: number): void => {
  for (let done = 0; done < bytes.length;) {
    done += io.write(fd, bytes, done, bytes.length - done, position + done)
  }
}

const segmentFile = (io: Io, fd: number, segment: Segment): SegmentFile => {
  // A failed sync may leave pages marked clean that never reached the disk.
  let needsRewrite = false

  /** Makes such pages dirty again: a second fdatasync alone would succeed and mean nothing. */
  const rewrite = (size: number): void => {
    const bytes = Buffer.alloc(size - segment.synced)
    readSync(fd, bytes, 0, bytes.length, segment.synced)
    writeAt(io, fd, bytes, segment.synced)
  }

  return {
    segment,

    append: (bytes) => {
      writeAt(io, fd, bytes, segment.size)
      segment.size += bytes.length
    },

    discardTail: () => {
      try {
        io.truncate(fd, segment.size)
        return true
      } catch {
        return false
      }
    },

    sync: async () => {
      const { size } = segment
      if (needsRewrite) rewrite(size)
      needsRewrite = true
      await io.fdatasync(fd)
      if (segment.synced === 0) await syncFolder(dirname(segment.path))
      needsRewrite = false
      segment.synced = size
    },

    close: () => closeSync(fd),
  }
}

/** Creates a segment with its header. Throws, and leaves no file behind, when the disk refuses it. */
export const createSegmentFile = (io: Io, dir: string, number: number, header: Header): SegmentFile => {
  const path = join(dir, segmentName(number))
  const bytes = encodeHeader(header)
  const fd = io.open(path, 'wx+', 0o600)
  try {
    writeAt(io, fd, bytes, 0)
  } catch (error) {
    closeSync(fd)
    unlinkSync(path)
    throw error
  }
  return segmentFile(io, fd, { number, path, header, size: bytes.length, synced: 0, readUpTo: undefined })
}
