import { setTimeout as sleep } from 'node:timers/promises'
import pLimit from 'p-limit'
import type { WebhookOptions } from './options.ts'

/** ms of the longest pause between two attempts */
const longestPauseMs = 900_000

/**
 * Returns the ms until a message is sent again: `first`, then twice as long each time, 15 minutes at most, and up to a
 * tenth more, so that receivers are not tried at once. A receiver may ask for longer.
 */
export const pauseAfter = (tries: number, first: number, retryAfterMs: number) =>
  Math.max(Math.min(first * 2 ** Math.min(tries - 1, 20), longestPauseMs) * (1 + Math.random() / 10), retryAfterMs)

/** ms between two looks at the projector while it works, and looks after which a message is sent anyway */
const [lookAgain, looks] = [5, 10]

/**
 * Returns what each message waits for before it is read and sent: many of them must not take the thread from the
 * projector. All go at once while that has nothing to apply, and one after another while it has.
 */
export const afterProjector = ({
  isProjecting = () => false,
  signal,
}: Pick<WebhookOptions, 'isProjecting'> & { readonly signal: AbortSignal }) => {
  const lane = pLimit(1)
  return () =>
    lane(async () => {
      for (let n = 0; n < looks && isProjecting() && !signal.aborted; n++) await sleep(lookAgain)
    })
}
