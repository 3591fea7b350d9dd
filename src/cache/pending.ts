import type { Progress } from './progress.ts'

/** Streams whose newest events are not in the read tables yet, though somebody was told that they are stored: these are read from the log. */
export interface PendingStreams {
  readonly add: (stream: string, position: bigint) => void
  readonly has: (stream: string) => boolean
  /** the tables are late with something, or with streams that begin so */
  readonly any: (prefix?: string) => boolean
}

export const openPendingStreams = (
  progress: Pick<Progress, 'seen' | 'wait'>,
  on: (stream: string, position: bigint) => void,
): PendingStreams => {
  const positions = new Map<string, bigint>()
  const has = (stream: string) => {
    const position = positions.get(stream)
    if (position === undefined) return false
    if (position > progress.seen()) return true
    positions.delete(stream)
    return false
  }
  return {
    has,
    any: (prefix = '') => [...positions.keys()].some((stream) => stream.startsWith(prefix) && has(stream)),
    add: (stream, position) => {
      if (position <= progress.seen() || position <= (positions.get(stream) ?? 0n)) return
      positions.set(stream, position)
      on(stream, position)
    },
  }
}
