/** Wakes whoever waits for something new. A reader notes `count` before it looks, so that a ring between look and wait is not slept through. */
export interface Signal {
  readonly notify: () => void
  readonly count: () => number
  /** Resolves once it has rung more often than `count`, or the signal aborts. */
  readonly after: (count: number, signal: AbortSignal) => Promise<void>
}

export const createSignal = (): Signal => {
  let rung = 0
  const waiting = new Set<() => void>()
  return {
    notify: () => {
      rung++
      waiting.forEach((wake) => wake())
    },
    count: () => rung,
    after: (count, signal) =>
      new Promise((resolve) => {
        if (rung > count || signal.aborted) return resolve()
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
