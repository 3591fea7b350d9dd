import { expect } from 'chai'
import { fstatSync, readdirSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openEarlier } from '../../../src/clicks/spool/earlier.ts'
import type { SpoolEntry } from '../../../src/clicks/spool/segment.ts'
import { disk, type Io } from '../../../src/clicks/spool/file.ts'
import { heed, openShared, shareSpool } from '../../../src/clicks/spool/shared.ts'
import type { SpoolSource } from '../../../src/clicks/spool/source.ts'
import { openSpool, type Spool, type SpoolOptions } from '../../../src/clicks/spool/spool.ts'
import type { Log } from '../../../src/clicks/report.ts'
import type { DroppedVisits } from '../../../src/clicks/visit.ts'
import { route, visit } from './visits.ts'

/** Returns whole numbers from `from` up to `to`, which is not included. */
export const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, i) => from + i)

export const addAll = (spool: Spool, numbers: readonly number[]): Promise<boolean[]> =>
  Promise.all(numbers.map((number) => spool.add(visit(number))))

/** Reads the next `count` entries, or those that come before the spool is closed. */
export const take = async (spool: SpoolSource, count = Infinity, after = {}, limit = 100): Promise<SpoolEntry[]> => {
  const taken: SpoolEntry[] = []
  if (count === 0) return taken
  for await (const batch of spool.read(after, limit, new AbortController().signal)) {
    expect(batch.length).to.be.within(1, limit)
    taken.push(...batch)
    if (taken.length >= count) break
  }
  return taken
}

export const numbersOf = (entries: readonly SpoolEntry[]): number[] =>
  entries.flatMap((entry) => ('visit' in entry ? [entry.visit.revision] : []))

export const dropsOf = (entries: readonly SpoolEntry[]): DroppedVisits[] =>
  entries.flatMap((entry) => ('dropped' in entry ? [entry.dropped] : []))

export const sequenceOf = (entries: readonly SpoolEntry[], partition: number): number[] =>
  entries.filter((entry) => entry.partition === partition).map(({ seq }) => seq)

/** Returns the last sequence number of each partition. */
export const lastOf = (entries: readonly SpoolEntry[]): Record<number, number> =>
  Object.fromEntries(entries.map(({ partition, seq }) => [partition, seq]))

/** Reads the spools of a folder that no process writes to, oldest first. */
export const spoolsIn = async (folder: string, log: Log = () => {}): Promise<SpoolEntry[][]> => {
  const spools: SpoolEntry[][] = []
  for (const spool of await openEarlier(folder, log)) spools.push(await take(spool))
  return spools
}

/** Expects the numbers of each partition to count up from 1 without a gap. */
export const expectContiguous = (entries: readonly SpoolEntry[]): void => {
  for (const partition of range(0, route.partitions)) {
    const numbers = sequenceOf(entries, partition)
    expect(numbers, `partition ${partition}`).to.deep.equal(range(1, numbers.length + 1))
  }
}

/** Reads the folder in this turn: an asynchronous read would also see files that one turn makes and removes again. */
export const segmentsIn = async (folder: string): Promise<string[]> =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.spool') && !name.startsWith('quarantine'))
    .sort()

/** Returns the path of the newest segment. */
export const newestIn = async (folder: string): Promise<string> => join(folder, (await segmentsIn(folder)).at(-1) ?? '')

/** Returns a disk with some functions replaced by the test. */
export const scripted = (script: Partial<Io>): Io => ({ ...disk, ...script })

export const noSpace = (): never => {
  throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' })
}

/** Returns a disk with `room` free bytes. As on a real one, a part of a write may still fit. */
export const smallDisk = (): { io: Io; room: number } => {
  const state = {
    room: Infinity,
    io: scripted({
      write: (fd, bytes, offset, length, position) => {
        // what is written in place takes no room
        const inPlace = Math.max(0, fstatSync(fd).size - position)
        const fits = Math.min(length, inPlace + state.room)
        if (fits === 0) noSpace()
        state.room -= Math.max(0, fits - inPlace)
        return disk.write(fd, bytes, offset, fits, position)
      },
    }),
  }
  return state
}

/** Returns a spool that is read as another thread reads it. What crosses is copied, and heeded before a release ends. */
const fromAnotherThread = (spool: Spool, log: Log): Spool => {
  const handle = (isNew: boolean) =>
    structuredClone({ id: spool.id, isNew, found: spool.found, files: spool.files(), stats: spool.stats() })
  let heeding = Promise.resolve()
  const shared = openShared(handle(true), (reply) => {
    heeding = heeding.then(() => heed(spool, structuredClone(reply), log))
  })
  const update: typeof shared.update = (...news) => shared.update(...structuredClone(news))
  void shareSpool(spool, update, new AbortController().signal)
  const heeded =
    (release: SpoolSource['release']): SpoolSource['release'] =>
    async (upTo) => {
      await release(upTo)
      await heeding
    }
  return {
    ...spool,
    read: shared.spool.read,
    release: heeded(shared.spool.release),
    earlier: shared.spool.earlier.map((one) => ({ ...one, release: heeded(one.release) })),
  }
}

/** The ways in which a relay reads a spool. */
export const ways = [
  { where: 'in its thread', inAnotherThread: false },
  { where: 'in another thread', inAnotherThread: true },
]

/** Gives each test of the suite a folder of its own, closes the spools it has opened, and removes the folder. */
export const useSpoolFolder = ({ inAnotherThread = false } = {}) => {
  let home = ''
  const opened: Spool[] = []
  const dir = () => join(home, 'spool')

  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'linkledger-spool-'))
  })
  afterEach(async () => {
    for (const spool of opened.splice(0)) await spool.close()
    await rm(home, { recursive: true, force: true })
  })

  const open = async (options: Partial<SpoolOptions> = {}): Promise<Spool> => {
    const spool = await openSpool({ dir: dir(), route, log: () => {}, syncMs: 2, retryMs: 5, ...options })
    opened.push(spool)
    return inAnotherThread ? fromAnotherThread(spool, options.log ?? (() => {})) : spool
  }

  return {
    /** the parent of the spool's folder */
    home: () => home,
    dir,
    open,
    /** Reads everything that a folder holds. */
    readOut: async (folder = dir()): Promise<SpoolEntry[]> => (await spoolsIn(folder)).flat(),
  }
}
