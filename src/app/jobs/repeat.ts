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
