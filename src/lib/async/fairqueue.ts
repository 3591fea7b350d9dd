export interface FairQueueOptions<T> {
  /** maximum number of items */
  readonly total: number
  /** maximum number of items of one source */
  readonly perSource: number
  /** Gets an item that leaves the queue without its turn, because it is full and another source has fewer. */
  readonly onLeft: (item: T) => void
}

/** A queue in which sources take turns, so that one with many items does not delay the others. */
export interface FairQueue<T> {
  readonly size: () => number
  /** Returns false when the part of the source is full, or the queue is and no other source has more. */
  readonly push: (source: string, item: T) => boolean
  readonly shift: () => T | undefined
}

/** Returns those of the source that has most. */
const largestOf = <T>(sources: ReadonlyMap<string, T[]>) =>
  [...sources.values()].reduce<T[]>((most, items) => (items.length > most.length ? items : most), [])

export const createFairQueue = <T>({ total, perSource, onLeft }: FairQueueOptions<T>): FairQueue<T> => {
  // in the order of their turns
  const sources = new Map<string, T[]>()
  let size = 0
  const makeRoom = (own: number) => {
    const items = largestOf(sources)
    if (items.length <= own + 1) return false
    size--
    onLeft(items.pop()!)
    return true
  }
  return {
    size: () => size,
    push: (source, item) => {
      const items = sources.get(source) ?? []
      if (items.length >= perSource || (size >= total && !makeRoom(items.length))) return false
      items.push(item)
      sources.set(source, items)
      size++
      return true
    },
    shift: () => {
      const [next] = sources
      if (!next) return undefined
      const [source, items] = next
      sources.delete(source)
      const item = items.shift()
      if (items.length > 0) sources.set(source, items)
      size--
      return item
    },
  }
}
