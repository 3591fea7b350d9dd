import { appendFile, readdir, readFile, rename } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { Log } from '../report.ts'
import type { Piece } from './segment.ts'

/** Damaged parts of a spool, kept for an operator to look at until they delete the `quarantine` files. */
export interface Quarantine {
  /** Copies a damaged part, unless it was copied before. */
  readonly copy: (path: string, piece: Piece) => Promise<void>
  /** Moves a whole segment aside. */
  readonly moveAside: (path: string) => Promise<void>
  /** the highest number of a segment that anything in quarantine came from, 0 without any */
  readonly lastSegment: () => number
  /** how many damaged parts and segments there are */
  readonly count: () => number
}

/** For a folder that must not be changed. */
export const noQuarantine: Quarantine = {
  copy: async () => {},
  moveAside: async () => {},
  lastSegment: () => 0,
  count: () => 0,
}

/** Name of the file with damaged parts of segments. */
export const quarantineName = 'quarantine'
const asidePrefix = `${quarantineName}-`

export const openQuarantine = async (dir: string, log: Log): Promise<Quarantine> => {
  const file = join(dir, quarantineName)
  const text = await readFile(file, 'latin1').catch(() => '')
  const places = new Set((await readdir(dir)).filter((name) => name.startsWith(asidePrefix)))
  for (const line of text.split('\n')) if (line !== '') places.add(line.slice(0, line.lastIndexOf(' ')))

  return {
    copy: async (path, { offset, bytes }) => {
      const place = `${basename(path)} ${offset}`
      if (places.has(place)) return
      places.add(place)
      log('warn', 'a damaged part of the spool was copied to quarantine', { path, offset, bytes: bytes.length })
      try {
        await appendFile(file, `${place} ${bytes.toString('base64')}\n`, { mode: 0o600 })
      } catch (error) {
        log('warn', 'a damaged part of the spool could not be copied to quarantine', { path, offset, err: error })
      }
    },

    moveAside: async (path) => {
      const aside = asidePrefix + basename(path)
      places.add(aside)
      log('error', 'a segment of the spool has no readable header and was moved aside', { path, aside })
      await rename(path, join(dir, aside))
    },

    lastSegment: () => Math.max(0, ...[...places].map((place) => Number(/(\d{10})\.spool/.exec(place)?.[1] ?? 0))),

    count: () => places.size,
  }
}
