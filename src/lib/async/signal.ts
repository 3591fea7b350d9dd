/**
 * Wakes waiting readers when there may be something new. A reader takes `count` before it looks, so that a notification
 * between looking and waiting is not lost. A reader of a topic is not woken by what concerns other topics only; a
 * reader without a topic hears everything.
 */
export interface Signal {
  /** Wakes the readers of these topics; without any, all readers. */
  readonly notify: (...topics: readonly string[]) => void
  /** number of notifications so far that concern the topic */
  readonly count: (topic?: string) => number
  /** Resolves once there were more than `count` notifications that concern the topic, or the signal aborts. */
  readonly after: (count: number, signal: AbortSignal, topic?: string) => Promise<void>
}

export const createSignal = (): Signal => {
  let notified = 0
  /** notifications that did not name any topic, and so concern all */
  let general = 0
  const named = new Map<string, number>()
  const count = (topic?: string) => (topic === undefined ? notified : general + (named.get(topic) ?? 0))
  const waiting = new Map<() => void, string | undefined>()
  return {
    notify: (...topics) => {
      notified++
      if (topics.length === 0) general++
      for (const topic of new Set(topics)) named.set(topic, (named.get(topic) ?? 0) + 1)
      for (const [wake, topic] of [...waiting])
        if (topic === undefined || topics.length === 0 || topics.includes(topic)) wake()
    },
    count,
    after: (known, signal, topic) =>
      new Promise((resolve) => {
        if (count(topic) > known || signal.aborted) return resolve()
        const wake = () => {
          waiting.delete(wake)
          signal.removeEventListener('abort', wake)
          resolve()
        }
        waiting.set(wake, topic)
        signal.addEventListener('abort', wake)
      }),
  }
}
