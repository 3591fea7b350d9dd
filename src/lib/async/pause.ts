import { setImmediate as nextTurn } from 'node:timers/promises'
import pLimit from 'p-limit'

/**
 * Returns a function that tells whether this turn of the event loop has lasted long enough. A caller with more work
 * then yields with `setImmediate` of `node:timers/promises`. Call it once for each piece of the work.
 */
export const turnTimer = (ms = 5) => {
  let began = performance.now()
  return () => {
    if (performance.now() - began < ms) return false
    began = performance.now()
    return true
  }
}

/**
 * Returns a function that concurrent pieces of work await before each step: when the turn has lasted long enough, all
 * of them wait for the next one.
 */
export const turnsForAll = () => {
  const [lane, isLong] = [pLimit(1), turnTimer()]
  return () => lane(async () => (isLong() ? nextTurn() : undefined))
}
