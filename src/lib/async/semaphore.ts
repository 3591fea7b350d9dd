import { Unavailable } from '../unavailable.ts'

/** Acquires a permit for a key, at once or in turn. Resolves with a function that releases it. */
export type Acquire<K> = (key: K) => Promise<() => void>

export interface SemaphoreOptions {
  /** permits in all */
  readonly total: number
  /** permits of one key */
  readonly perKey: number
  /** permits that only keys without one get */
  readonly kept: number
  /** requests of one key that wait at most */
  readonly waiting: number
}

/** Runs something with a permit of a key. */
export const within = async <K, T>(acquire: Acquire<K>, key: K, run: () => Promise<T>): Promise<T> => {
  const release = await acquire(key)
  try {
    return await run()
  } finally {
    release()
  }
}

/** Runs something for a key, once for all who ask before it begins: none gets what was read before it has asked. */
export const shared = <K, T>(acquire: Acquire<K>, run: (key: K) => Promise<T>): ((key: K) => Promise<T>) => {
  const waiting = new Map<K, Promise<T>>()
  return (key) => {
    const next =
      waiting.get(key) ??
      within(
        async (of) => acquire(of).finally(() => waiting.delete(of)),
        key,
        async () => run(key),
      )
    waiting.set(key, next)
    return next
  }
}

interface Queue {
  acquired: number
  readonly next: (() => void)[]
}

/**
 * Returns a semaphore in which keys take turns: who has the fewest permits comes first, so that a few with many
 * requests leave some to each of the others. Throws `Unavailable` when too many of a key wait.
 */
export const createSemaphore = <K>({ total, perKey, kept, waiting }: SemaphoreOptions): Acquire<K> => {
  /** those that have permits or wait, in the order of their turns */
  const queues = new Map<K, Queue>()
  let free = total
  let asking = 0

  const mayTake = ({ acquired }: Queue) => acquired < perKey && free > (acquired === 0 ? 0 : kept)
  const take = (queue: Queue) => {
    queue.acquired++
    free--
  }
  const handOn = () => {
    while (asking > 0) {
      let found: readonly [K, Queue] | undefined
      for (const [key, one] of queues)
        if (one.next.length > 0 && mayTake(one) && one.acquired < (found?.[1].acquired ?? Infinity)) found = [key, one]
      if (!found) return
      const [key, queue] = found
      take(queue)
      asking--
      queue.next.shift()?.()
      // behind others that have as few
      queues.delete(key)
      queues.set(key, queue)
    }
  }

  return async (key) => {
    const queue = queues.get(key) ?? { acquired: 0, next: [] }
    queues.set(key, queue)
    if (queue.next.length === 0 && mayTake(queue)) take(queue)
    else if (queue.next.length >= waiting) throw new Unavailable('too many requests of one account wait')
    else {
      asking++
      await new Promise<void>((resolve) => queue.next.push(resolve))
    }

    let released = false
    return () => {
      if (released) return
      released = true
      free++
      queue.acquired--
      if (queue.acquired === 0 && queue.next.length === 0) queues.delete(key)
      handOn()
    }
  }
}
