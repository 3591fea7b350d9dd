/** Wraps work to report its outcome to the readiness of the process and its metrics. */
export type Watching = <T>(work: () => Promise<T>) => () => Promise<T>
/** For work whose outcome is not reported. */
export const unwatched: Watching = (work) => work

/** ms until failed work is tried again, doubled each time */
const soon = 2000

/**
 * Repeats work every `ms`, one run at a time, and sooner after a failure, so that a recovered system is not reported as
 * failing for long. Returns a function that stops it after the current run.
 */
export const repeat = (work: () => Promise<unknown>, ms: number, onError: (error: unknown) => void, first = soon) => {
  let running: Promise<unknown> = Promise.resolve()
  let [wait, isStopped] = [first, false]
  let again: NodeJS.Timeout | undefined
  const attempt = async () => {
    clearTimeout(again)
    try {
      await work()
      wait = first
    } catch (error) {
      onError(error)
      if (wait < ms && !isStopped) again = setTimeout(run, wait)
      wait = Math.min(2 * wait, ms)
    }
  }
  const run = () => {
    running = running.then(attempt)
  }
  const timer = setInterval(run, ms)
  return async () => {
    isStopped = true
    clearInterval(timer)
    await running
    clearTimeout(again)
  }
}
