import { existsSync } from 'node:fs'
import { unlink } from 'node:fs/promises'
import type { Log } from '../report.ts'
import { releaseSegments } from './journal.ts'
import { openQuarantine, type Quarantine } from './quarantine.ts'
import { type FoundSpool, peek, type Recovered, recover } from './recover.ts'
import type { Route } from './segment.ts'
import type { SpoolSource } from './source.ts'
import { tail } from './tail.ts'
import type { FoundTally } from './fixedfile.ts'

/** A spool whose process has ended: it is only read, and removed once all of it is recorded. */
export interface EarlierSpool extends SpoolSource {
  readonly route: Route
  /** id of the event log that it was written for; undefined when version 0.1.0 wrote it */
  readonly logId: string | undefined
  /** Whether it still has files: a command may have deleted them. */
  readonly exists: () => boolean
  /** Deletes its files. */
  readonly remove: () => Promise<void>
}

/** A spool that is relayed. */
export interface RelayedSpool extends SpoolSource {
  /** the spools that earlier processes left in the folder, oldest first */
  readonly earlier: readonly EarlierSpool[]
  /** Whether nothing of it was delivered before. */
  readonly isNew: boolean
  /** Deletes the files of a closed spool: all of it is recorded. */
  readonly remove: () => Promise<void>
}

/** Opens a spool that was found in a folder. */
const earlierSpool = ({ segments, header, last }: FoundSpool, quarantine: Quarantine): EarlierSpool => ({
  id: header.spool,
  route: header.route,
  logId: header.logId,
  read: (after, limit, signal) => tail({ segments, quarantine, waitForSync: async () => false }, after, limit, signal),
  release: (upTo) => releaseSegments(segments, upTo),
  stats: () => ({
    bytes: segments.reduce((sum, { size }) => sum + size, 0),
    waiting: 0,
    dropped: 0,
    quarantined: 0,
    lastSeq: last,
    releasedUpTo: segments[0]?.header.last ?? last,
  }),
  exists: () => segments.some(({ path }) => existsSync(path)),
  remove: async () => {
    for (const { path } of segments.splice(0)) await unlink(path)
  },
})

/** A spool of one entry: how many visits a process had only in memory when it ended. */
const lostSpool = ({ path, header, dropped }: FoundTally): EarlierSpool => ({
  id: header.spool,
  route: header.route,
  logId: header.logId,
  read: async function* ({ 0: seq = 0 }) {
    if (seq === 0) yield [{ partition: 0, seq: 1, dropped }]
  },
  release: async () => {},
  stats: () => ({ bytes: 0, waiting: 0, dropped: 0, quarantined: 0, lastSeq: [1], releasedUpTo: [0] }),
  exists: () => existsSync(path),
  remove: () => unlink(path),
})

/** Returns the spools that were found in a folder: first those with visits. */
export const earlierSpools = ({ spools, tallies, quarantine }: Omit<Recovered, 'number'>): EarlierSpool[] => [
  ...spools.map((found) => earlierSpool(found, quarantine)),
  ...tallies.map(lostSpool),
]

/** Opens all spools of a folder that takes no more visits. */
export const openEarlier = async (dir: string, log: Log): Promise<readonly EarlierSpool[]> =>
  earlierSpools(await recover(dir, log))

/** Opens all spools of a folder without changing it when they are read; the newest may still be written to. */
export const peekAtSpools = async (dir: string, log: Log): Promise<readonly EarlierSpool[]> => {
  const quarantine = await openQuarantine(dir, log)
  return earlierSpools({ ...(await peek(dir)), quarantine: { ...quarantine, copy: async () => {} } })
}
