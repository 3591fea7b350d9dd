import type { Visit } from '../visit.ts'
import type { Journal } from './journal.ts'
import type { Tally } from './tally.ts'

/** The visits that wait in memory to be written, and the number of those that find no room in it. */
export interface Backlog {
  /** Queues a visit, or only counts it when the backlog is full. Calls `answer` when it is written. */
  readonly push: (visit: Visit, answer: () => void) => void
  /**
   * Writes the first `max` visits to the journal, or once none waits the number of dropped ones, and answers them.
   * Throws when the disk refuses.
   */
  readonly write: (max: number) => void
  /** Counts everything in the backlog on disk, and answers it without removing it. */
  readonly answerAll: () => void
  /** entries to be written */
  readonly size: () => number
  /** visits that are not written */
  readonly visits: () => number
  readonly full: () => boolean
}

export interface BacklogOptions {
  readonly capacity: number
  readonly journal: Pick<Journal, 'append' | 'entries'>
  readonly tally: Pick<Tally, 'wait' | 'drop' | 'dropped' | 'hasDropped' | 'dropsAt' | 'clear'>
}

export const createBacklog = ({ capacity, journal, tally }: BacklogOptions): Backlog => {
  const waiting: { readonly visit: Visit; readonly answer: () => void }[] = []
  let answered = 0
  const size = () => waiting.length + (tally.hasDropped() ? 1 : 0)
  const full = () => waiting.length >= capacity

  /** Until the journal has the number of dropped visits, the tally does. */
  const writeDropped = (): void => {
    const dropped = tally.dropped()
    if (!dropped) return journal.append([])
    tally.dropsAt(journal.entries() + 1)
    try {
      journal.append([{ dropped }])
    } catch (error) {
      tally.dropsAt(0)
      throw error
    }
    tally.clear()
  }

  return {
    push: (visit, answer) => {
      if (full()) tally.drop(visit)
      else waiting.push({ visit, answer })
    },
    write: (max) => {
      if (waiting.length === 0) return writeDropped()
      const batch = waiting.slice(0, max)
      journal.append(batch.map(({ visit }) => ({ visit })))
      waiting.splice(0, batch.length)
      answered = Math.max(0, answered - batch.length)
      for (const { answer } of batch) answer()
      if (size() === 0) tally.clear()
    },
    answerAll: () => {
      for (; answered < waiting.length; answered++) {
        const { visit, answer } = waiting[answered]!
        tally.wait(journal.entries() + answered + 1, visit)
        answer()
      }
    },
    size,
    visits: () => waiting.length + (tally.dropped()?.count ?? 0),
    full,
  }
}
