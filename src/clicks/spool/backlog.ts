import type { Visit } from '../visit.ts'
import type { Journal } from './journal.ts'
import type { Tally } from './tally.ts'

/** Visits that wait in memory to be written, and the number of visits that did not fit in. */
export interface Backlog {
  /** Queues a visit. A full backlog only counts it, unless its visitor must be refused then. */
  readonly push: (waiting: Waiting) => void
  /**
   * Writes the first `max` visits to the journal, or the number of dropped ones when none is left, and answers them.
   * Throws when the disk refuses.
   */
  readonly write: (max: number) => void
  /** Answers everything in the backlog: what may wait is counted on disk and stays, the rest is refused. */
  readonly answerAll: () => void
  /** entries to be written */
  readonly size: () => number
  /** visits that are not written */
  readonly visits: () => number
  readonly full: () => boolean
}

/** A visit whose visitor waits for an answer. */
export interface Waiting {
  readonly visit: Visit
  /** The visitor must not be let through while the visit is in memory only. */
  readonly mustBeWritten: boolean
  /** Called with whether the visit is written, or is counted while it waits. */
  readonly answer: (isKept: boolean) => void
}

export interface BacklogOptions {
  readonly capacity: number
  readonly journal: Pick<Journal, 'append' | 'entries'>
  readonly tally: Pick<Tally, 'wait' | 'drop' | 'dropped' | 'hasDropped' | 'dropsAt' | 'clear'>
}

export const createBacklog = ({ capacity, journal, tally }: BacklogOptions): Backlog => {
  const waiting: Waiting[] = []
  let answered = 0
  const size = () => waiting.length + (tally.hasDropped() ? 1 : 0)
  const full = () => waiting.length >= capacity

  /** The tally keeps the number of dropped visits until the journal has it. */
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
    push: (one) => {
      if (!full()) waiting.push(one)
      else if (one.mustBeWritten) one.answer(false)
      else tally.drop(one.visit)
    },
    write: (max) => {
      if (waiting.length === 0) return writeDropped()
      const batch = waiting.slice(0, max)
      journal.append(batch.map(({ visit }) => ({ visit })))
      waiting.splice(0, batch.length)
      answered = Math.max(0, answered - batch.length)
      for (const { answer } of batch) answer(true)
      if (size() === 0) tally.clear()
    },
    answerAll: () => {
      for (const one of waiting.splice(answered)) {
        if (!one.mustBeWritten) {
          waiting.push(one)
          tally.wait(journal.entries() + waiting.length, one.visit)
        }
        one.answer(!one.mustBeWritten)
      }
      answered = waiting.length
    },
    size,
    visits: () => waiting.length + (tally.dropped()?.count ?? 0),
    full,
  }
}
