import { closeSync, rmSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import type { Log } from '../report.ts'
import { countAccount, type DroppedVisits, droppedVisits } from '../visit.ts'
import { type Io, syncFolder, writeAt } from './file.ts'
import { encodeHeader, type Header, readPieces } from './segment.ts'

/**
 * The file begins with a header like a segment's, of a spool whose only entry is the count. Then come numbers of 64
 * bits: which entry of the journal has the dropped visits; when the first and the last of them were answered; a row for
 * each of their accounts; and a ring with a row for each visit that waits. No row lies across two pages: what a killed
 * process has written of one is all of it or nothing.
 */
const headerBytes = 4096
export const [entryAt, fromAt, toAt, accountsAt, waitingAt] = [0, 1, 2, 4, 2048] as const
export const [accountSize, waitingSize] = [2, 4] as const

const prefix = 'tally-'
export const tallyName = (spool: string): string => prefix + spool
/** Returns the id of the spool that a file counts for; undefined when its name is not that of a tally. */
export const talliedSpool = (path: string): string | undefined =>
  basename(path).startsWith(prefix) ? basename(path).slice(prefix.length) : undefined

/** Empties the rows of what the journal has with so many entries. */
const forget = (numbers: Float64Array, entries: number): void => {
  const droppedAt = numbers[entryAt] ?? 0
  if (droppedAt > 0 && droppedAt <= entries) numbers.fill(0, fromAt, waitingAt)
  numbers[entryAt] = 0
  for (let at = waitingAt; at < numbers.length; at += waitingSize)
    if ((numbers[at] ?? 0) <= entries) numbers.fill(0, at, at + waitingSize)
}

const timeOf = (ms: number): string => new Date(ms).toISOString()

/** Returns the visits that found no room in memory. */
export const droppedIn = (numbers: Float64Array): DroppedVisits | undefined => {
  const accounts = new Map<number, number>()
  for (let at = accountsAt; (numbers[at + 1] ?? 0) > 0 && at < waitingAt; at += accountSize)
    countAccount(accounts, numbers[at] ?? 0, numbers[at + 1])
  return accounts.size === 0
    ? undefined
    : droppedVisits(accounts, timeOf(numbers[fromAt] ?? 0), timeOf(numbers[toAt] ?? 0))
}

/** Returns everything that is counted. */
const lostIn = (numbers: Float64Array): DroppedVisits | undefined => {
  const dropped = droppedIn(numbers)
  const accounts = new Map(dropped?.accounts?.map(({ account, count }) => [account, count]))
  const times = dropped ? [dropped.from, dropped.to] : []
  for (let at = waitingAt; at < numbers.length; at += waitingSize) {
    const [entry = 0, account = 0, time = 0] = numbers.subarray(at, at + waitingSize)
    if (entry === 0) continue
    countAccount(accounts, account)
    times.push(timeOf(time))
  }
  const [from, to] = [times.toSorted()[0], times.toSorted().at(-1)]
  return from === undefined || to === undefined ? undefined : droppedVisits(accounts, from, to)
}

/** Returns the numbers of a tally without visits. */
export const emptyNumbers = (capacity: number) => new Float64Array(waitingAt + capacity * waitingSize)

/** A tally that a process has left behind. */
export interface FoundTally {
  readonly path: string
  readonly header: Header
  readonly dropped: DroppedVisits
}

/**
 * Reads what a tally counts beyond this entry of the journal; undefined when that is nothing, and 'damaged' when it
 * cannot be read. With `settle`, what the journal has is taken out of the file: it may outlive the journal.
 */
export const readTally = async (path: string, entries: number, settle: boolean) => {
  const file = await open(path, settle ? 'r+' : 'r')
  try {
    const { size } = await file.stat()
    if (size < headerBytes + waitingAt * 8) return undefined // nothing counted yet: it was being allocated
    const pieces = await readPieces(file, 0, headerBytes)
    const header = pieces.map(({ line }) => line).find((line): line is Header => line !== undefined && 'spool' in line)
    if (!header) return 'damaged'
    const bytes = Buffer.alloc(Math.floor((size - headerBytes) / 8) * 8)
    await file.read(bytes, 0, bytes.length, headerBytes)
    const numbers = new Float64Array(bytes.buffer, bytes.byteOffset, bytes.length / 8)
    if (!numbers.every((number) => Number.isSafeInteger(number) && number >= 0)) return 'damaged'
    forget(numbers, entries)
    if (settle) {
      await file.write(bytes, 8, bytes.length - 8, headerBytes + 8)
      await file.write(bytes, 0, 8, headerBytes)
      await file.datasync()
    }
    const dropped = lostIn(numbers)
    return dropped && { path, header, dropped }
  } finally {
    await file.close()
  }
}

export interface FixedFileOptions {
  readonly path: string
  readonly io: Io
  readonly log: Log
  readonly header: Header
  readonly numbers: Float64Array<ArrayBuffer>
}

/** Writes zeros: what is written in their place later takes no room. Leaves no file behind when it throws. */
const allocateFile = async (path: string, io: Io, header: Header, length: number): Promise<number> => {
  const empty = Buffer.alloc(headerBytes + length)
  encodeHeader(header).copy(empty)
  const fd = io.open(path, 'wx+', 0o600)
  try {
    writeAt(io, fd, empty, 0)
    await io.fdatasync(fd)
    await syncFolder(dirname(path))
    return fd
  } catch (error) {
    closeSync(fd)
    rmSync(path, { force: true })
    throw error
  }
}

const messages = {
  refused: 'no file could be allocated that counts visits in memory',
  uncounted: 'visits wait in memory and are not counted on disk: a killed process loses them without a trace',
} as const

/** Logs an error once, until it is withdrawn. */
const complaint = (log: Log, dir: string, message: string) => {
  let isMade = false
  return {
    make: (error: unknown): void => {
      if (!isMade) log('error', message, { dir, err: error })
      isMade = true
    },
    withdraw: (): void => {
      isMade = false
    },
  }
}

/** The file of a tally: it is written in place, a few numbers at a time. What fails is logged. */
export const fixedFile = ({ path, io, log, header, numbers }: FixedFileOptions) => {
  const dir = dirname(path)
  const bytes = Buffer.from(numbers.buffer)
  let fd: number | undefined
  let allocating: Promise<void> | undefined
  const refused = complaint(log, dir, messages.refused)
  const uncounted = complaint(log, dir, messages.uncounted)
  let isUnsynced = false

  const write = (at: number, length: number): void => {
    try {
      if (fd === undefined) throw new Error(`${path} could not be allocated`)
      writeAt(io, fd, bytes.subarray(at * 8, (at + length) * 8), headerBytes + at * 8)
      isUnsynced = true
    } catch (error) {
      uncounted.make(error)
    }
  }

  /** The rows go first: while the entry of the journal is there, those that are left mean nothing. */
  const writeAll = (): void => {
    write(fromAt, numbers.length - fromAt)
    write(entryAt, 1)
  }

  const allocate = async (): Promise<void> => {
    try {
      fd = await allocateFile(path, io, header, bytes.length)
      refused.withdraw()
      if (lostIn(numbers)) writeAll()
    } catch (error) {
      refused.make(error)
    }
  }

  return {
    allocate: async () => {
      if (fd === undefined) await (allocating ??= allocate().finally(() => (allocating = undefined)))
      return fd !== undefined
    },
    write,
    clear: () => {
      numbers.fill(0)
      writeAll()
      uncounted.withdraw()
    },
    sync: async () => {
      if (fd === undefined || !isUnsynced) return
      isUnsynced = false
      await io.fdatasync(fd)
    },
    close: (entries: number) => {
      if (fd === undefined) return
      forget(numbers, entries)
      const isEmpty = !lostIn(numbers)
      if (!isEmpty) writeAll()
      closeSync(fd)
      fd = undefined
      if (isEmpty) rmSync(path, { force: true })
    },
  }
}
