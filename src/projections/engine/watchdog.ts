export interface WatchdogOptions {
  /** ms without a new position after which the subscription counts as stalled, if there is something to read */
  readonly stall: number
  readonly position: () => bigint
  /** Resolves whether the log has events after the position. */
  readonly isBehind: () => Promise<boolean>
}

/**
 * Detects a subscription that stalls silently: the signal aborts then, so that the subscription can be opened again.
 */
export const watchdog = ({ stall, position, isBehind }: WatchdogOptions) => {
  const stalled = new AbortController()
  let last = position()
  let since = performance.now()
  const check = async () => {
    const now = position()
    if (now !== last) [last, since] = [now, performance.now()]
    else if (performance.now() - since > stall) {
      if (await isBehind()) stalled.abort()
      else since = performance.now()
    }
  }
  const timer = setInterval(() => void check().catch(() => {}), stall / 6).unref()
  return { signal: stalled.signal, stop: () => clearInterval(timer) }
}
