/** Returns the same work, whose outcome somebody watches: the readiness of the process and its metrics. */
export type Watching = <T>(work: () => Promise<T>) => () => Promise<T>
/** For work that nobody watches. */
export const unwatched: Watching = (work) => work

/** ms after which work that has failed is tried again, twice as long each time */
const soon = 2000

/**
 * Repeats work every `ms`, one run at a time, and sooner after a failure, so that nothing is said to fail for long that
 * would work again. Returns a function that stops it, after the run in progress.
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
