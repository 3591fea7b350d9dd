import { isUnavailable } from '../unavailable.ts'

/**
 * Returns a function that runs work with the same key one after another, in the order of its calls. When work fails
 * because a store is away, the work that waits behind it fails with the same error: else each would wait for a timeout.
 */
export const createLines = () => {
  const last = new Map<string, Promise<unknown>>()
  return async <T>(key: string, work: () => Promise<T>): Promise<T> => {
    const before = last.get(key)
    const done = before ? before.then(work) : work()
    const next = done.catch((error: unknown) => {
      if (isUnavailable(error)) throw error
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
