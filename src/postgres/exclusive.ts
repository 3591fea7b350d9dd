import { setTimeout as sleep } from 'node:timers/promises'
import type { openLocks } from './listen.ts'

type Locks = Pick<Awaited<ReturnType<typeof openLocks>>, 'acquire' | 'lost' | 'close'>

interface ExclusiveOptions {
  /** Opens a connection for the lock. */
  readonly open: () => Promise<Locks>
  /** key of the advisory lock */
  readonly key: bigint
  /** Ends when the signal aborts. It is started again after it has ended or failed. */
  readonly work: (signal: AbortSignal) => Promise<unknown>
  /** Called when the work has failed, once for each message in a row. */
  readonly onFailed: (error: unknown) => void
  /** Called each time when the work has ended without a failure. */
  readonly onWorked?: () => void
  /** ms between two attempts */
  readonly interval?: number
}

/** Runs work in one process at a time: the one that holds the lock. Returns a function that stops it. */
export const startExclusive = ({
  open,
  key,
  work,
  onFailed,
  onWorked = () => {},
  interval = 1000,
}: ExclusiveOptions) => {
  const stopped = new AbortController()
  const pause = (signal: AbortSignal) => sleep(interval, undefined, { signal }).catch(() => {})
  let failure: string | undefined

  const session = async () => {
    const locks = await open()
    try {
      const ends = AbortSignal.any([stopped.signal, locks.lost])
      while (!ends.aborted) {
        if ((await locks.acquire([key])).has(key)) await work(ends)
        failure = undefined
        onWorked()
        await pause(ends)
      }
    } finally {
      await locks.close().catch(() => {})
    }
  }
  const run = async () => {
    while (!stopped.signal.aborted) {
      await session().catch((error: unknown) => {
        const message = String(error)
        if (!stopped.signal.aborted && message !== failure) onFailed(error)
        failure = message
      })
      await pause(stopped.signal)
    }
  }
  const running = run()
  return async () => {
    stopped.abort()
    await running
  }
}
