import type { Row } from './events.ts'

/** JSON of the newest batches of clicks that this process has appended, by the ids of their events. */
export interface RecentClicks {
  readonly add: (event: Pick<Row, 'id' | 'type' | 'data'>) => void
  /** Returns what is remembered now: it does not change when others are added. */
  readonly known: () => ReadonlyMap<string, string>
}

/** About what two seconds of a full load append. The readers of clicks follow within one. */
const mostBytes = 4 * 1024 * 1024

/**
 * Remembers batches of clicks until the readers of this process have had them: most are read twice within a second, and
 * decompressing and sending them is most of what reading them costs PostgreSQL. An id is random and given to one
 * content only, so that the memory cannot be wrong; which events there are, and where, only the log says.
 */
export const recentClicks = (limit = mostBytes): RecentClicks => {
  const batches = new Map<string, string>()
  let bytes = 0
  return {
    add: ({ id, type, data }) => {
      if (type !== 'LinkClicked' || data.length > limit || batches.has(id)) return
      batches.set(id, data)
      bytes += data.length
      for (const [oldest, text] of batches) {
        if (bytes <= limit) break
        batches.delete(oldest)
        bytes -= text.length
      }
    },
    known: () => new Map(batches),
  }
}
