import type { EventStore } from '../../events/store.ts'
import { deleteUnusedImages } from '../../queries/qr/image.ts'
import type { Reader } from '../../queries/reader.ts'
import { repeat, unwatched, type Watching } from './repeat.ts'

export interface ImageCleanup {
  readonly reader: Reader
  readonly store: Pick<EventStore, 'head'>
  /** Deletes answers that are no longer kept for their Idempotency-Key. */
  readonly deleteExpiredAnswers: () => Promise<unknown>
  readonly onProblem: (error: unknown, what: string) => void
  readonly watching?: Watching
}

/** ms between runs */
const every = 3_600_000

/** Deletes images whose event was refused or never appended. Returns their number. */
export const cleanUpImages = async (
  { reader, store }: Pick<ImageCleanup, 'reader' | 'store'>,
  signal?: AbortSignal,
): Promise<number> => {
  const head = await store.head('domain', signal)
  let deleted = 0
  for (;;) {
    const n = await deleteUnusedImages(reader, head)
    if (n === 0) return deleted
    deleted += n
  }
}

/** Starts the cleanup and returns a function that stops it, after the run in progress. */
export const startImageCleanup = (options: ImageCleanup) => {
  const stopped = new AbortController()
  const stop = repeat(
    (options.watching ?? unwatched)(async () => {
      await options.deleteExpiredAnswers()
      await cleanUpImages(options, stopped.signal)
    }),
    every,
    (error) => stopped.signal.aborted || options.onProblem(error, 'deleting unused images and expired answers failed'),
  )
  return () => {
    stopped.abort()
    return stop()
  }
}
