/** How far the read tables have come, as this process knows; whoever wrote something waits here until it can be read. */
export interface Progress {
  readonly seen: () => bigint
  /** The tables have this position in them. What must not be served any more is forgotten before anyone is told. */
  readonly advance: (position: bigint) => Promise<void>
  /** Resolves true once the position is seen, false after `ms`. */
  readonly wait: (position: bigint, ms: number) => Promise<boolean>
}

interface Waiter {
  readonly position: bigint
  readonly resolve: (seen: boolean) => void
}

/** `forget(after, upTo)` drops what this process remembers of what changed between two positions. */
export const openProgress = (start: bigint, forget: (after: bigint, upTo: bigint) => Promise<void>): Progress => {
  let seen = start
  let wanted = start
  let running: Promise<void> | undefined
  let waiters: Waiter[] = []

  const catchUp = async () => {
    while (seen < wanted) {
      const target = wanted
      await forget(seen, target)
      seen = target
      waiters.filter(({ position }) => position <= seen).forEach(({ resolve }) => resolve(true))
      waiters = waiters.filter(({ position }) => position > seen)
    }
  }

  return {
    seen: () => seen,
    advance: async (position) => {
      if (position > wanted) wanted = position
      // the run under way may have looked for the last time already: then it takes another
      while (seen < position) await (running ??= catchUp().finally(() => (running = undefined)))
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
