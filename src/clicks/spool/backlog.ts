import type { DroppedVisits, Visit } from '../visit.ts'
import type { SpoolContent } from './segment.ts'

/** The visits that wait in memory to be written. Each has a callback that answers its visitor. */
export interface Backlog {
  /**
   * Queues a visit, or only counts it when the backlog is full. Calls `answer` when the visit is written or dropped.
   */
  readonly push: (visit: Visit, answer: () => void) => void
  readonly head: (max: number) => readonly SpoolContent[]
  /** Removes the first `count`, which are written now, and answers them. */
  readonly shift: (count: number) => void
  /** Answers everything in the backlog without removing it. */
  readonly answerAll: () => void
  readonly size: () => number
  readonly full: () => boolean
  /** visits that found no room so far */
  readonly dropped: () => number
}

const noAnswer = (): void => {}

const countIn = (before: DroppedVisits | undefined, { at }: Visit): DroppedVisits =>
  before ? { count: before.count + 1, from: before.from, to: at } : { count: 1, from: at, to: at }

/** Visits beyond the capacity become one record of their number, at their place in the order. */
export const createBacklog = (capacity: number): Backlog => {
  const waiting: { readonly content: SpoolContent; readonly answer: () => void }[] = []
  let dropped = 0

  const drop = (visit: Visit): void => {
    dropped += 1
    const last = waiting.at(-1)?.content
    const before = last && 'dropped' in last ? last.dropped : undefined
    if (before) waiting.pop()
    waiting.push({ content: { dropped: countIn(before, visit) }, answer: noAnswer })
  }

  return {
    push: (visit, answer) => {
      if (waiting.length < capacity) {
        waiting.push({ content: { visit }, answer })
      } else {
        drop(visit)
        answer()
      }
    },
    head: (max) => waiting.slice(0, max).map(({ content }) => content),
    shift: (count) => {
      for (const { answer } of waiting.splice(0, count)) answer()
    },
    answerAll: () => {
      for (const { answer } of waiting) answer()
    },
    size: () => waiting.length,
    full: () => waiting.length >= capacity,
    dropped: () => dropped,
  }
}
