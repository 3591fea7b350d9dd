import { setImmediate as nextTurn } from 'node:timers/promises'
import pLimit from 'p-limit'

/**
 * Returns what says whether this turn of the event loop has lasted long enough: whoever has more to do lets others run
 * then, with `setImmediate` of `node:timers/promises`. It is asked once for each piece of the work.
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
 * Returns what several pieces of work at the same time wait for before each step: when the turn has lasted long enough,
 * all of them wait for the next one.
 */
export const turnsForAll = () => {
  const [lane, isLong] = [pLimit(1), turnTimer()]
  return () => lane(async () => (isLong() ? nextTurn() : undefined))
}
