export interface FairQueueOptions {
  /** maximum number of items */
  readonly total: number
  /** maximum number of items of one source */
  readonly perSource: number
}

/** A queue in which sources take turns, so that one with many items does not delay the others. */
export interface FairQueue<T> {
  readonly size: () => number
  /** Returns false when the queue, or the part of the source, is full. */
  readonly push: (source: string, item: T) => boolean
  readonly shift: () => T | undefined
}

export const createFairQueue = <T>({ total, perSource }: FairQueueOptions): FairQueue<T> => {
  // in the order of their turns
  const sources = new Map<string, T[]>()
  let size = 0
  return {
    size: () => size,
    push: (source, item) => {
      const items = sources.get(source) ?? []
      if (size >= total || items.length >= perSource) return false
      sources.set(source, [...items, item])
      size++
      return true
    },
    shift: () => {
      const [next] = sources
      if (!next) return undefined
      const [source, [item, ...rest]] = next
      sources.delete(source)
      if (rest.length > 0) sources.set(source, rest)
      size--
      return item
    },
  }
}
