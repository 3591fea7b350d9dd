import type { Dropped, Visit } from '../visit.ts'

export type Content = { readonly visit: Visit } | { readonly dropped: Dropped }

export interface Backlog {
  /** Takes a visit, or counts it when there is no room; `answer` is called when it is written or given up. */
  readonly push: (visit: Visit, answer: () => void) => void
  readonly head: (most: number) => readonly Content[]
  /** The first `count` are written. */
  readonly shift: (count: number) => void
  /** Everything stays, but nobody waits for it any longer. */
  readonly answerAll: () => void
  readonly size: () => number
  readonly full: () => boolean
  /** visits that found no room */
  readonly dropped: () => number
}

const nobody = (): void => {}

const countIn = (before: Dropped | undefined, { at }: Visit): Dropped =>
  before ? { count: before.count + 1, from: before.from, to: at } : { count: 1, from: at, to: at }

/** The visits on their way to the disk. Those that do not fit are one record of their number, at its place in the order. */
export const createBacklog = (capacity: number): Backlog => {
  const waiting: { readonly content: Content; readonly answer: () => void }[] = []
  let dropped = 0

  const drop = (visit: Visit): void => {
    dropped += 1
    const tail = waiting.at(-1)?.content
    const before = tail && 'dropped' in tail ? tail.dropped : undefined
    if (before) waiting.pop()
    waiting.push({ content: { dropped: countIn(before, visit) }, answer: nobody })
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
    head: (most) => waiting.slice(0, most).map(({ content }) => content),
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
