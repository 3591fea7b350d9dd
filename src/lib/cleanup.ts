type Close = () => Promise<unknown>

/** How to close what has been opened so far. */
export interface Cleanup {
  readonly defer: (close: Close) => void
  /** Closes everything, the last opened first. A failure is passed to `onError` and does not keep the rest open. */
  readonly run: () => Promise<void>
}

export const createCleanup = (onError: (error: unknown) => void): Cleanup => {
  const steps: Close[] = []
  return {
    defer: (close) => void steps.push(close),
    run: async () => {
      for (const close of steps.splice(0).toReversed()) await close().catch(onError)
    },
  }
}

/** Returns what `open` returns. When it throws, everything it has opened until then is closed first. */
export const openAll = async <T>(cleanup: Cleanup, open: () => Promise<T>): Promise<T> => {
  try {
    return await open()
  } catch (error) {
    await cleanup.run()
    throw error
  }
}
