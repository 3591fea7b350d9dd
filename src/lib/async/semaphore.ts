import { Unavailable } from '../unavailable.ts'

/** Acquires a permit of a key, at once or after those that asked before. Resolves with a function that releases it. */
export type Acquire<K> = (key: K) => Promise<() => void>

/**
 * Returns a semaphore that has so many permits for each key. `waiting` more wait; beyond that, throws `Unavailable`.
 */
export const createSemaphore = <K>(permits: number, waiting: number): Acquire<K> => {
  const queues = new Map<K, { acquired: number; readonly next: (() => void)[] }>()

  return async (key) => {
    const queue = queues.get(key) ?? { acquired: 0, next: [] }
    queues.set(key, queue)
    if (queue.acquired < permits) queue.acquired++
    else if (queue.next.length >= waiting) throw new Unavailable('too many requests of one account wait')
    // a release hands the permit on
    else await new Promise<void>((resolve) => queue.next.push(resolve))

    let released = false
    return () => {
      if (released) return
      released = true
      const next = queue.next.shift()
      if (next) return next()
      queue.acquired--
      if (queue.acquired === 0) queues.delete(key)
    }
  }
}
