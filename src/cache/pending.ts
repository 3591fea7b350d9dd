import type { Progress } from './progress.ts'

/** Streams whose newest events are not in the read tables yet, though somebody was told that they are stored: these are read from the log. */
export interface Late {
  readonly note: (stream: string, position: bigint) => void
  readonly is: (stream: string) => boolean
  /** the tables are late with something, or with streams that begin so */
  readonly any: (prefix?: string) => boolean
}

export const openLate = (
  progress: Pick<Progress, 'seen' | 'wait'>,
  on: (stream: string, position: bigint) => void,
): Late => {
  const positions = new Map<string, bigint>()
  const is = (stream: string) => {
    const position = positions.get(stream)
    if (position === undefined) return false
    if (position > progress.seen()) return true
    positions.delete(stream)
    return false
  }
  return {
    is,
    any: (prefix = '') => [...positions.keys()].some((stream) => stream.startsWith(prefix) && is(stream)),
    note: (stream, position) => {
      if (position <= progress.seen() || position <= (positions.get(stream) ?? 0n)) return
      positions.set(stream, position)
      on(stream, position)
    },
  }
}
