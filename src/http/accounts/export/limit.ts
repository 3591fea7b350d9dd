import type { EventStore } from '../../../events/store.ts'
import type { Reader } from '../../../queries/reader.ts'
import type { ImageStore } from '../../../security/images.ts'
import { problem } from '../../../lib/problems/problem.ts'
import { fail, Failure } from '../../api/errors.ts'
import { type Places, sharePlaces } from '../../api/limits/places.ts'

/** The source of exports, and their limits. */
export interface Exports {
  /** with few separate connections: exports wait for each other, and other requests never wait for them */
  readonly reader: Reader
  readonly readStream: EventStore['read']
  readonly findImage: ImageStore['find']
  /**
   * Waits a short time for the read tables. Returns the position that they contain, and that of the newest event at the
   * begin of the wait.
   */
  readonly caughtUp: () => Promise<{ readonly position: bigint; readonly head: bigint }>
  /**
   * Begins an export and returns a function that ends it. Fails with 409 while the account has one, with 503 while the
   * process has too many.
   */
  readonly begin: Places['take']
}

/** ms: a slow reader blocks exports of others for at most this long */
const longestMs = 600_000

/** Limits exports to one of each account and `most` in all, of this process. */
export const limitExports = (most: number): Exports['begin'] => {
  const running = new Set<number>()
  const busy = () => new Failure(503, problem('busy', { what: 'exports' }), retryLater)
  const places = sharePlaces({ most, longestMs, busy })
  return (wanting, lose) => {
    const { account } = wanting
    if (running.has(account)) fail(409, 'still_running', { what: 'export' }, { 'Retry-After': '10' })
    const leave = places.take(wanting, lose)
    running.add(account)
    return () => {
      leave()
      running.delete(account)
    }
  }
}

const retryLater = { 'Retry-After': '30' }
