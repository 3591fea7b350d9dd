import type { Limiter } from '../../src/http/api/limits/limiter.ts'

/** Returns a limiter whose windows never end. */
export const memoryLimiter = (): Limiter => {
  const counts = new Map<string, number>()
  const add = (key: string, n: number) => counts.set(key, (counts.get(key) ?? 0) + n).get(key)!
  return {
    count: async (key, limit) => {
      const count = add(key, 1)
      return { limit, remaining: limit - count, reset: 0, over: count > limit, wait: 60 }
    },
    uncount: async (key) => void add(key, -1),
  }
}
