import { isUnavailable } from '../unavailable.ts'

/**
 * Returns a function that runs work with the same key one after another, in the order of its calls. Work that has
 * waited gets the result of the work before it; undefined when that failed. When work fails because a store is away,
 * the work that waits behind it fails with the same error: else each would wait for a timeout.
 */
export const createLines = <T>() => {
  const last = new Map<string, Promise<T | undefined>>()
  return async <R extends T>(key: string, work: (before?: T) => Promise<R>): Promise<R> => {
    const before = last.get(key)
    const done = before ? before.then(work) : work()
    const next = done.catch((error: unknown) => {
      if (isUnavailable(error)) throw error
      return undefined
    })
    // no unhandled rejection where no work waits
    next.catch(() => {})
    last.set(key, next)
    try {
      return await done
    } finally {
      if (last.get(key) === next) last.delete(key)
    }
  }
}
