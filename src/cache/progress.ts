import { parseStreamId } from '../events/streams.ts'

/**
 * The log position up to which this process knows the read tables to be complete, apart from those of halted
 * projections.
 */
export interface Position {
  readonly seen: () => bigint
  /** Returns whether the tables that show a stream contain the position. Those of a halted projection do not move. */
  readonly shows: (stream: string, position: bigint) => boolean
  /** Sets which kinds of streams are shown by a halted projection, and the last position that it contains. */
  readonly hold: (held: ReadonlyMap<string, bigint>) => void
  /** Moves to a later position and resolves the waits for it. */
  readonly reach: (position: bigint) => void
  /** Resolves true once the position is seen, false after `ms`. */
  readonly wait: (position: bigint, ms: number) => Promise<boolean>
}

/**
 * The same position for the rest of the process, which moves it with `advance`: a write waits here until it can be
 * read.
 */
export interface Progress extends Pick<Position, 'seen' | 'shows' | 'hold' | 'wait'> {
  /** The tables contain this position. Resolves when outdated cache entries are dropped and the position is seen. */
  readonly advance: (position: bigint) => Promise<void>
}

interface Waiter {
  readonly position: bigint
  readonly resolve: (seen: boolean) => void
}

export const openPosition = (start: bigint): Position => {
  let seen = start
  let held: ReadonlyMap<string, bigint> = new Map()
  let waiters: Waiter[] = []
  return {
    seen: () => seen,
    shows: (stream, position) => position <= seen && position <= (held.get(parseStreamId(stream).kind) ?? position),
    hold: (next) => void (held = next),
    reach: (position) => {
      seen = position
      waiters.filter((waiter) => waiter.position <= seen).forEach(({ resolve }) => resolve(true))
      waiters = waiters.filter((waiter) => waiter.position > seen)
    },
    wait: (position, ms) =>
      new Promise((resolve) => {
        if (position <= seen) return resolve(true)
        const waiter = {
          position,
          resolve: (outcome: boolean) => {
            clearTimeout(timer)
            resolve(outcome)
          },
        }
        const timer = setTimeout(() => {
          waiters = waiters.filter((other) => other !== waiter)
          resolve(false)
        }, ms)
        waiters.push(waiter)
      }),
  }
}

/**
 * `invalidate(after, upTo)` drops the cached state of everything that changed between two positions. It runs before the
 * later one counts as seen.
 */
export const openProgress = (
  { seen, shows, hold, reach, wait }: Position,
  invalidate: (after: bigint, upTo: bigint) => Promise<void>,
): Progress => {
  let wanted = seen()
  let running: Promise<void> | undefined

  const catchUp = async () => {
    while (seen() < wanted) {
      const target = wanted
      await invalidate(seen(), target)
      reach(target)
    }
  }

  return {
    seen,
    shows,
    hold,
    wait,
    advance: async (position) => {
      if (position > wanted) wanted = position
      // the run in progress may have read `wanted` for the last time already: then another one is needed
      while (seen() < position) await (running ??= catchUp().finally(() => (running = undefined)))
    },
  }
}
