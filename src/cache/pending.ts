import type { Position } from './progress.ts'

/** Streams with acknowledged events that are not in the read tables yet. They are read from the log meanwhile. */
export interface PendingStreams {
  /** `again`: a projection was found to be halted, so a position that counted as projected is not. */
  readonly add: (stream: string, position: bigint, again?: boolean) => void
  readonly has: (stream: string) => boolean
  /** Whether any stream is pending, or any whose name starts with the prefix. */
  readonly any: (prefix?: string) => boolean
  /** Returns the pending streams whose names start with the prefix. */
  readonly list: (prefix: string) => readonly string[]
}

/** `onAdded` is called for each new position of a stream that is not projected yet. */
export const openPendingStreams = (
  { shows }: Pick<Position, 'shows'>,
  onAdded: (stream: string, position: bigint) => void,
): PendingStreams => {
  const positions = new Map<string, bigint>()
  const has = (stream: string) => {
    const position = positions.get(stream)
    if (position === undefined) return false
    if (!shows(stream, position)) return true
    positions.delete(stream)
    return false
  }
  return {
    has,
    list: (prefix) => [...positions.keys()].filter((stream) => stream.startsWith(prefix) && has(stream)),
    any: (prefix = '') => [...positions.keys()].some((stream) => stream.startsWith(prefix) && has(stream)),
    add: (stream, position, again = false) => {
      const before = positions.get(stream) ?? 0n
      if (shows(stream, position) || position < before || (position === before && !again)) return
      positions.set(stream, position)
      onAdded(stream, position)
    },
  }
}
