import { existsSync } from 'node:fs'
import { unlink } from 'node:fs/promises'
import type { Log } from '../report.ts'
import { releaseSegments } from './journal.ts'
import { openQuarantine, type Quarantine } from './quarantine.ts'
import { type FoundSpool, peek, recover } from './recover.ts'
import type { Route } from './segment.ts'
import type { SpoolSource } from './source.ts'
import { tail } from './tail.ts'

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

/** Opens a spool that was found in a folder. */
export const earlierSpool = ({ segments, header, last }: FoundSpool, quarantine: Quarantine): EarlierSpool => ({
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

/** Opens all spools of a folder that takes no more visits. */
export const openEarlier = async (dir: string, log: Log): Promise<readonly EarlierSpool[]> => {
  const { spools, quarantine } = await recover(dir, log)
  return spools.map((found) => earlierSpool(found, quarantine))
}

/** Opens all spools of a folder without changing it when they are read; the newest may still be written to. */
export const peekAtSpools = async (dir: string, log: Log): Promise<readonly EarlierSpool[]> => {
  const quarantine = await openQuarantine(dir, log)
  return (await peek(dir)).map((found) => earlierSpool(found, { ...quarantine, copy: async () => {} }))
}
