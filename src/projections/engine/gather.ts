import { setTimeout as sleep } from 'node:timers/promises'
import type { Recorded } from '../../events/event.ts'
import type { LogEvent } from '../../events/index.ts'
import { most, weightOf } from './batchsize.ts'

/** clicks per ms from which on transactions wait for more of them */
const busy = 2
/** ms that a transaction waits at most */
const longest = 250

/** Returns how many ms to wait for a full transaction, when so many clicks have come in so many ms. */
export const waitFor = (clicks: number, ms: number): number => {
  const rate = clicks / ms
  return rate < busy || clicks >= most ? 0 : Math.min(longest, (most - clicks) / rate)
}

/**
 * Returns a pause between two reads of the log. While many clicks arrive, it lasts until about a full transaction of
 * them is there: a click costs PostgreSQL a third less in a full one. Otherwise each click is shown at once.
 */
export const gathering = (signal: AbortSignal) => {
  let before = performance.now()
  return async (events: readonly Recorded<LogEvent>[]) => {
    const now = performance.now()
    const wait = waitFor(
      events.reduce((sum, event) => sum + weightOf(event), 0),
      now - before,
    )
    before = now
    if (wait > 0) await sleep(wait, undefined, { signal }).catch(() => {})
  }
}
