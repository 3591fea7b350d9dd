/**
 * Wakes waiting readers when there may be something new. A reader takes `count` before it looks, so that a notification between looking and
 * waiting is not lost.
 */
export interface Signal {
  readonly notify: () => void
  /** number of notifications so far */
  readonly count: () => number
  /** Resolves once there were more than `count` notifications, or the signal aborts. */
  readonly after: (count: number, signal: AbortSignal) => Promise<void>
}

export const createSignal = (): Signal => {
  let notified = 0
  const waiting = new Set<() => void>()
  return {
    notify: () => {
      notified++
      waiting.forEach((wake) => wake())
    },
    count: () => notified,
    after: (count, signal) =>
      new Promise((resolve) => {
        if (notified > count || signal.aborted) return resolve()
        const wake = () => {
          waiting.delete(wake)
          signal.removeEventListener('abort', wake)
          resolve()
        }
        waiting.add(wake)
        signal.addEventListener('abort', wake)
      }),
  }
}
