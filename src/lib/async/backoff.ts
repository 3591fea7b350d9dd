import { setTimeout as sleep } from 'node:timers/promises'

export interface BackOffOptions {
  /** ms of the first pause */
  readonly from: number
  /** ms of the longest pause */
  readonly to: number
  /** ends a pause early */
  readonly signal?: AbortSignal | undefined
}

export interface BackOff {
  /**
   * Resolves after the current pause, cut to `longest` ms, or at once when `ends` aborts, by default the signal. The
   * next pause is twice as long.
   */
  readonly pause: (longest?: number, ends?: AbortSignal) => Promise<void>
  /** Starts again with the first pause. */
  readonly reset: () => void
}

/** Exponential back-off for the loops that try until they succeed or are stopped. */
export const backOff = ({ from, to, signal }: BackOffOptions): BackOff => {
  let ms = from
  return {
    pause: async (longest = Infinity, ends = signal) => {
      const current = Math.max(0, Math.min(ms, longest))
      ms = Math.min(ms * 2, to)
      await sleep(current, undefined, { signal: ends }).catch(() => {})
    },
    reset: () => {
      ms = from
    },
  }
}
