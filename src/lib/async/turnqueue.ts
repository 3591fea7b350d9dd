import QuickLRU from 'quick-lru'
import type { FairQueueOptions } from './fairqueue.ts'

/**
 * A queue in which each item has several sources, such as the client and the owner of the page. The next item is the
 * one whose sources have all waited longest for a turn, so a source does not delay others, whether it has many items or
 * takes part in many items of others. Each turn looks at all items, so use it for some thousand at most.
 */
export interface TurnQueue<T> {
  readonly size: () => number
  /** Returns false when the share of a source is full, or when the queue is full and no other source has more. */
  readonly push: (sources: readonly string[], item: T) => boolean
  readonly shift: () => T | undefined
}

interface Waiting<T> {
  readonly sources: readonly string[]
  readonly item: T
}

/** sources whose last turn is known */
const mostKnown = 10_000

export const createTurnQueue = <T>({ total, perSource, onLeft }: FairQueueOptions<T>): TurnQueue<T> => {
  const waiting: Waiting<T>[] = []
  const counts = new Map<string, number>()
  const turns = new QuickLRU<string, number>({ maxSize: mostKnown })
  let turn = 0

  const countOf = (source: string) => counts.get(source) ?? 0
  const add = (sources: readonly string[], n: number) => {
    for (const source of sources)
      if (countOf(source) + n > 0) counts.set(source, countOf(source) + n)
      else counts.delete(source)
  }
  const take = (at: number) => {
    const [taken] = waiting.splice(at, 1)
    if (taken) add(taken.sources, -1)
    return taken
  }
  const mostOf = (sources: readonly string[]) => Math.max(0, ...sources.map(countOf))
  /** Drops the newest item of the source that has most, to make room for a source with fewer. */
  const makeRoom = (own: number) => {
    const most = Math.max(...counts.values())
    if (most <= own + 1) return false
    const left = take(waiting.findLastIndex(({ sources }) => mostOf(sources) === most))
    if (left) onLeft(left.item)
    return left !== undefined
  }
  const lastTurn = ({ sources }: Waiting<T>) => Math.max(...sources.map((source) => turns.get(source) ?? 0))

  return {
    size: () => waiting.length,
    push: (sources, item) => {
      const own = mostOf(sources)
      if (own >= perSource || (waiting.length >= total && !makeRoom(own))) return false
      waiting.push({ sources, item })
      add(sources, 1)
      return true
    },
    shift: () => {
      let [first, longestAgo] = [-1, Infinity]
      for (const [at, one] of waiting.entries()) {
        const last = lastTurn(one)
        if (last < longestAgo) [first, longestAgo] = [at, last]
        if (last === 0) break
      }
      const next = first < 0 ? undefined : take(first)
      if (!next) return undefined
      turn++
      for (const source of next.sources) turns.set(source, turn)
      return next.item
    },
  }
}
