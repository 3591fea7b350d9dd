import { appendFile, readdir, readFile, rename } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { Piece } from './segment.ts'

export type Log = (level: 'warn' | 'error', message: string, details: object) => void

export interface Quarantine {
  /** Keeps a copy of a damaged place; known ones are passed over. */
  readonly copy: (path: string, piece: Piece) => Promise<void>
  /** Puts a whole segment aside. */
  readonly putAside: (path: string) => Promise<void>
  readonly count: () => number
}

const asidePrefix = 'quarantine-'

/** What was found damaged in a spool, for people to look at; it stays until they delete it. */
export const openQuarantine = async (dir: string, log: Log): Promise<Quarantine> => {
  const file = join(dir, 'quarantine')
  const text = await readFile(file, 'latin1').catch(() => '')
  const places = new Set((await readdir(dir)).filter((name) => name.startsWith(asidePrefix)))
  for (const line of text.split('\n')) if (line !== '') places.add(line.slice(0, line.lastIndexOf(' ')))

  return {
    copy: async (path, { offset, bytes }) => {
      const place = `${basename(path)} ${offset}`
      if (places.has(place)) return
      places.add(place)
      log('warn', 'a damaged place in the spool was put into quarantine', { path, offset, bytes: bytes.length })
      try {
        await appendFile(file, `${place} ${bytes.toString('base64')}\n`, { mode: 0o600 })
      } catch (error) {
        log('warn', 'the damaged place could not be copied', { path, offset, error })
      }
    },

    putAside: async (path) => {
      const aside = asidePrefix + basename(path)
      places.add(aside)
      log('error', 'a segment of the spool has no readable header and was put aside', { path, aside })
      await rename(path, join(dir, aside))
    },

    count: () => places.size,
  }
}
