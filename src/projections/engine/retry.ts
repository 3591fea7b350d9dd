import { readToHead } from '../../events/store.ts'
import { backOff } from '../../lib/async/backoff.ts'
import { batchSize } from './batchsize.ts'
import { applyLog } from './pass.ts'
import type { Projection } from './projection.ts'
import { membersWithTables, type Work } from './work.ts'

/**
 * Brings a halted projection to the head of the log on its own, while the others go on. Returns whether it got there.
 */
const catchUp = async (work: Work, projection: Projection, signal: AbortSignal): Promise<boolean> => {
  const { options, assignment, onHalted } = work
  const { db, store, limit = 1000 } = options
  // how far it is says nothing about the others
  const members = await membersWithTables({ ...work, update: () => {} }, [projection], signal)
  if (members.length === 0) return false
  const read = (after: bigint) => readToHead(store, { after, filter: assignment.filter, limit, signal, trusted: true })
  const running = await applyLog(db, members, read, {
    size: batchSize(),
    signal,
    onHalted: (member, problem) => onHalted(member.projection, problem),
  })
  return running.length > 0 && !signal.aborted
}

/**
 * Tries a halted projection after a pause, and whenever `retries` is notified, until it has caught up: `onCaughtUp` is
 * called then.
 */
export const keepRetrying = async (
  work: Work,
  projection: Projection,
  atOnce: boolean,
  onCaughtUp: () => Promise<void>,
  signal: AbortSignal,
) => {
  const { log, retries } = work.options
  const wait = backOff({ from: 100, to: 30_000, signal })
  let now = atOnce
  let known = retries?.count() ?? 0
  while (!signal.aborted) {
    if (!now) {
      const pause = new AbortController()
      const ends = AbortSignal.any([signal, pause.signal])
      const called = retries?.after(known, ends)
      await Promise.race([wait.pause(Infinity, ends), ...(called ? [called] : [])])
      pause.abort()
    }
    now = false
    if (signal.aborted) return
    // a request during the attempt leads to another one: what it is about may have been read already
    known = retries?.count() ?? 0
    try {
      if (await catchUp(work, projection, signal)) return await onCaughtUp()
    } catch (error) {
      log.error({ projection: projection.name, err: error }, 'a halted projection could not be tried again')
    }
  }
}
