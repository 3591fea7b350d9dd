import { Unavailable } from '../unavailable.ts'

/** Gives a key a turn, at once or after those that asked before. Resolves with what ends the turn. */
export type TakeTurn<K> = (key: K) => Promise<() => void>

/**
 * Lets each key have `most` turns at the same time; `waiting` more wait. Beyond that, taking a turn throws
 * `Unavailable`.
 */
export const createTurns = <K>(most: number, waiting: number): TakeTurn<K> => {
  const queues = new Map<K, { running: number; readonly next: (() => void)[] }>()

  return async (key) => {
    const queue = queues.get(key) ?? { running: 0, next: [] }
    queues.set(key, queue)
    if (queue.running < most) queue.running++
    else if (queue.next.length >= waiting) throw new Unavailable('too many requests of one account wait')
    // whose turn ends passes it on
    else await new Promise<void>((resolve) => queue.next.push(resolve))

    let ended = false
    return () => {
      if (ended) return
      ended = true
      const next = queue.next.shift()
      if (next) return next()
      queue.running--
      if (queue.running === 0) queues.delete(key)
    }
  }
}
