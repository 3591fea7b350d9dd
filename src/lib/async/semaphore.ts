import { Unavailable } from '../unavailable.ts'

/**
 * Acquires a permit for a key, at once or in turn. Resolves with a function that releases it. `network` is where the
 * key is used, if that takes turns, too: of several keys in one hand, none has what is left for others.
 */
export type Acquire<K> = (key: K, network?: string) => Promise<() => void>

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
export const within = async <K, T>(
  acquire: Acquire<K>,
  key: K,
  run: () => Promise<T>,
  network?: string,
): Promise<T> => {
  const release = await acquire(key, network)
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
  readonly next: { readonly network: string | undefined; readonly resolve: () => void }[]
}

/**
 * Returns a semaphore in which keys take turns: who has the fewest permits comes first, so that a few with many
 * requests leave some to each of the others. Throws `Unavailable` when too many of a key wait.
 */
export const createSemaphore = <K>({ total, perKey, kept, waiting }: SemaphoreOptions): Acquire<K> => {
  /** those that have permits or wait, in the order of their turns */
  const queues = new Map<K, Queue>()
  /** permits that networks have */
  const networks = new Map<string, number>()
  let free = total
  let asking = 0

  const count = (network: string | undefined, n: number) => {
    if (network === undefined) return
    const now = (networks.get(network) ?? 0) + n
    if (now > 0) networks.set(network, now)
    else networks.delete(network)
  }
  /** Returns how many permits a key has, or its network, if that is more. */
  const most = ({ acquired }: Queue, network: string | undefined) =>
    Math.max(acquired, (network !== undefined && networks.get(network)) || 0)
  const mayTake = (queue: Queue, network: string | undefined) =>
    queue.acquired < perKey && free > (most(queue, network) === 0 ? 0 : kept)
  const take = (queue: Queue, network: string | undefined) => {
    queue.acquired++
    count(network, 1)
    free--
  }
  const handOn = () => {
    while (asking > 0) {
      let found: readonly [K, Queue, number] | undefined
      for (const [key, one] of queues) {
        const [first] = one.next
        if (!first || !mayTake(one, first.network)) continue
        const has = most(one, first.network)
        if (has < (found?.[2] ?? Infinity)) found = [key, one, has]
      }
      if (!found) return
      const [key, queue] = found
      const next = queue.next.shift()
      take(queue, next?.network)
      asking--
      next?.resolve()
      // behind others that have as few
      queues.delete(key)
      queues.set(key, queue)
    }
  }

  return async (key, network) => {
    const queue = queues.get(key) ?? { acquired: 0, next: [] }
    queues.set(key, queue)
    if (queue.next.length === 0 && mayTake(queue, network)) take(queue, network)
    else if (queue.next.length >= waiting) throw new Unavailable('too many requests of one account wait')
    else {
      asking++
      await new Promise<void>((resolve) => queue.next.push({ network, resolve }))
    }

    let released = false
    return () => {
      if (released) return
      released = true
      free++
      queue.acquired--
      count(network, -1)
      if (queue.acquired === 0 && queue.next.length === 0) queues.delete(key)
      handOn()
    }
  }
}
