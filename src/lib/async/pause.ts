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
