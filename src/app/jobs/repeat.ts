/** Returns the same work, whose outcome somebody watches: the readiness of the process and its metrics. */
export type Watching = <T>(work: () => Promise<T>) => () => Promise<T>
/** For work that nobody watches. */
export const unwatched: Watching = (work) => work

/** Repeats work every `ms`, one run at a time. Returns a function that stops it, after the run in progress. */
export const repeat = (work: () => Promise<unknown>, ms: number, onError: (error: unknown) => void) => {
  let running: Promise<unknown> = Promise.resolve()
  const run = () => {
    running = running.then(work).catch(onError)
  }
  const timer = setInterval(run, ms)
  return async () => {
    clearInterval(timer)
    await running
  }
}
