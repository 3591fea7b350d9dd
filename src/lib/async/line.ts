import { isUnavailable } from '../unavailable.ts'

/**
 * Returns what runs work on the same thing one after another, in the order in which it was asked for. Once a store is
 * away for one, it is for all who wait in that line: each of them would wait for its timeout.
 */
export const createLines = () => {
  const last = new Map<string, Promise<unknown>>()
  return async <T>(key: string, work: () => Promise<T>): Promise<T> => {
    const before = last.get(key)
    const done = before ? before.then(work) : work()
    const next = done.catch((error: unknown) => {
      if (isUnavailable(error)) throw error
    })
    // whoever waits hears of it
    next.catch(() => {})
    last.set(key, next)
    try {
      return await done
    } finally {
      if (last.get(key) === next) last.delete(key)
    }
  }
}
