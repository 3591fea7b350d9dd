/** Runs `work` with a signal that aborts at Ctrl-C or SIGTERM. Returns whether it was stopped by one. */
export const untilStopped = async (work: (signal: AbortSignal) => Promise<void>): Promise<boolean> => {
  const stopped = new AbortController()
  const stop = () => stopped.abort()
  process.on('SIGINT', stop)
  process.on('SIGTERM', stop)
  try {
    await work(stopped.signal)
  } catch (error) {
    if (!stopped.signal.aborted) throw error
  } finally {
    process.off('SIGINT', stop)
    process.off('SIGTERM', stop)
  }
  return stopped.signal.aborted
}
