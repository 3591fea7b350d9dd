import { closeSync, fdatasync, ftruncateSync, openSync, readSync, unlinkSync, writeSync } from 'node:fs'
import { unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Visit } from '../visit.ts'
import type { Content } from './backlog.ts'
import type { Recovered } from './recover.ts'
import { syncFolder } from './recover.ts'
import type { Route, Segment } from './segment.ts'
import { encode, encodeHeader, isWithin, segmentName } from './segment.ts'

/** What is asked of the disk to write: the part of node:fs that fails when the disk does. */
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

export interface Journal {
  /** Writes all of it, or throws and leaves nothing behind. When it returns, the kernel has it. */
  readonly append: (contents: readonly Content[]) => void
  /** Makes safe on the disk what is written now. */
  readonly sync: () => Promise<void>
  readonly unsynced: () => boolean
  readonly release: (upTo: Readonly<Record<number, number>>) => Promise<void>
  readonly bytes: () => number
  /** the last sequence number of each partition, and the last one that is kept no longer */
  readonly last: () => readonly number[]
  readonly gone: () => readonly number[]
  readonly close: () => void
}

export interface JournalOptions {
  readonly dir: string
  readonly route: Route
  readonly io: Io
  readonly segmentBytes: number
  readonly maxBytes: number
}

interface Writing {
  readonly segment: Segment
  readonly fd: number
  /** a sync was begun and has not succeeded: the kernel may take pages for clean that never reached the disk */
  suspect: boolean
}

/** One link's clicks keep their order, and so do one QR code's, which go to no link. */
const partitionOf = ({ link, source }: Visit, { partitions }: Route) => (link || source.id) % partitions

/**
 * The files of a spool: numbers, writes, syncs, deletes. Writing is synchronous: it puts a few hundred bytes into the
 * kernel's cache, in a tenth of the time that the way through the thread pool takes.
 */
export const createJournal = (
  { id, segments, ...recovered }: Recovered,
  { dir, route, io, segmentBytes, maxBytes }: JournalOptions,
): Journal => {
  const writing: Writing[] = []
  let { last, number } = recovered
  let entries = recovered.entries ?? 0
  let current: Writing | undefined

  const bytes = (): number => segments.reduce((sum, { size }) => sum + size, 0)

  const start = (segment: Segment, fd: number): Writing => {
    const file = { segment, fd, suspect: false }
    writing.push(file)
    return file
  }

  const writeAt = (fd: number, content: Uint8Array, position: number): void => {
    for (let done = 0; done < content.length;) {
      done += io.write(fd, content, done, content.length - done, position + done)
    }
  }

  const begin = (): Writing => {
    number += 1
    const path = join(dir, segmentName(number))
    const header = { spool: id, route, last }
    const content = encodeHeader(header)
    const fd = io.open(path, 'wx+', 0o600)
    try {
      writeAt(fd, content, 0)
    } catch (error) {
      closeSync(fd)
      unlinkSync(path)
      throw error
    }
    const segment = { number, path, header, size: content.length, synced: 0, reached: undefined }
    segments.push(segment)
    entries = 0
    return start(segment, fd)
  }

  /** Takes back what a failed write left; where that fails too, the segment ends here and the next one's header says so. */
  const cut = ({ segment, fd }: Writing): void => {
    try {
      io.truncate(fd, segment.size)
    } catch {
      current = undefined
    }
  }

  /** Makes pages dirty again that the kernel may have given up: a second fdatasync alone would succeed and mean nothing. */
  const rewrite = ({ segment, fd }: Writing, size: number): void => {
    const content = Buffer.alloc(size - segment.synced)
    readSync(fd, content, 0, content.length, segment.synced)
    writeAt(fd, content, segment.synced)
  }

  const syncOne = async (file: Writing): Promise<void> => {
    const { segment, fd } = file
    const { size } = segment
    if (file.suspect) rewrite(file, size)
    file.suspect = true
    await io.fdatasync(fd)
    if (segment.synced === 0) await syncFolder(dir)
    file.suspect = false
    segment.synced = size
  }

  const newest = segments.at(-1)
  if (newest && recovered.entries !== undefined) current = start(newest, io.open(newest.path, 'r+', 0o600))

  return {
    append: (contents) => {
      if (!current || current.segment.size >= segmentBytes) current = begin()
      const { segment, fd } = current
      const reached = [...last]
      let n = entries
      const lines = contents.map((content) => {
        const partition = 'visit' in content ? partitionOf(content.visit, route) : 0
        const seq = (reached[partition] ?? 0) + 1
        reached[partition] = seq
        return encode({ n: ++n, partition, seq, ...content })
      })
      const content = Buffer.from(lines.join(''))
      if (bytes() + content.length > maxBytes) throw new Error(`the spool may not grow beyond ${maxBytes} bytes`)
      try {
        writeAt(fd, content, segment.size)
      } catch (error) {
        cut(current)
        throw error
      }
      segment.size += content.length
      last = reached
      entries = n
    },

    sync: async () => {
      for (const file of writing.slice()) {
        const { segment, fd } = file
        if (segment.synced < segment.size) await syncOne(file)
        if (file === current || segment.synced < segment.size) continue
        closeSync(fd)
        writing.splice(writing.indexOf(file), 1)
      }
    },

    unsynced: () => writing.some((file) => file !== current || file.segment.synced < file.segment.size),

    release: async (upTo) => {
      const busy = new Set(writing.map(({ segment }) => segment))
      const isDone = (segment: Segment, next: Segment | undefined): boolean =>
        next !== undefined &&
        !busy.has(segment) &&
        (isWithin(next.header.last, upTo) || (segment.reached !== undefined && isWithin(segment.reached, upTo)))
      const count = segments.findIndex((segment, i) => !isDone(segment, segments[i + 1]))
      for (const { path } of segments.splice(0, count)) await unlink(path)
    },

    bytes,
    last: () => last,
    gone: () => segments[0]?.header.last ?? last,

    close: () => {
      for (const { fd } of writing.splice(0)) closeSync(fd)
    },
  }
}
