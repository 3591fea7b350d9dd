import { EventEmitter, once } from 'node:events'
import type { Spool } from '../visit.ts'
import { createBacklog } from './backlog.ts'
import type { Io } from './journal.ts'
import { createJournal, disk } from './journal.ts'
import type { Log } from './quarantine.ts'
import { recover } from './recover.ts'
import type { Route } from './segment.ts'
import { tail } from './tail.ts'

export interface SpoolOptions {
  readonly dir: string
  readonly route: Route
  readonly log: Log
  readonly segmentBytes?: number
  readonly syncMs?: number
  /** how many visits wait in memory while the disk refuses */
  readonly ringVisits?: number
  readonly maxBytes?: number
  readonly retryMs?: number
  readonly io?: Io
}

/** visits in one write: bounds how long a full memory holds up the event loop when the disk is back */
const writeVisits = 1000

/** The spool in a folder: one write per turn of the event loop, one sync per `syncMs`. */
export const openSpool = async ({
  dir,
  route,
  log,
  segmentBytes = 16 * 1024 ** 2,
  syncMs = 100,
  ringVisits = 10_000,
  maxBytes = 4 * 1024 ** 3,
  retryMs = 1000,
  io = disk,
}: SpoolOptions): Promise<Spool> => {
  const recovered = await recover(dir, route, log)
  const { id, segments, quarantine } = recovered
  // The newest segment is never released: it must leave room for others.
  const journal = createJournal(recovered, {
    dir,
    route,
    io,
    maxBytes,
    segmentBytes: Math.min(segmentBytes, maxBytes / 4),
  })
  const backlog = createBacklog(ringVisits)
  const news = new EventEmitter().setMaxListeners(0)
  let refusing = false
  let retry: NodeJS.Timeout | undefined
  let scheduled = false
  let syncFails = false
  let syncTimer: NodeJS.Timeout | undefined
  let syncing: Promise<void> = Promise.resolve()
  let closing = false
  let closed = false

  const sync = async (): Promise<void> => {
    try {
      await journal.sync()
      syncFails = false
    } catch (error) {
      if (!syncFails) log('error', 'the disk does not keep the spool: what it holds is not handed on', { dir, error })
      syncFails = true
    }
    news.emit('synced')
  }

  const syncSoon = (ms = syncMs): void => {
    syncTimer ??= setTimeout(() => {
      syncing = sync().then(() => {
        syncTimer = undefined
        if (journal.unsynced() && !closing) syncSoon(syncFails ? retryMs : syncMs)
      })
    }, ms)
  }

  /** The disk refuses: what waits stays in memory, and nobody waits for it. */
  const refuse = (error: unknown): void => {
    if (!refusing) log('error', 'the spool cannot be written: visits wait in memory', { dir, error })
    refusing = true
    backlog.answerAll()
    if (!closing) retry = setTimeout(writeOn, retryMs)
  }

  const write = (): boolean => {
    const batch = backlog.head(writeVisits)
    try {
      journal.append(batch)
    } catch (error) {
      refuse(error)
      return false
    }
    backlog.shift(batch.length)
    if (refusing)
      log('warn', 'the spool is written again', { dir, waiting: backlog.size(), dropped: backlog.dropped() })
    refusing = false
    syncSoon()
    return true
  }

  const writeOn = (): void => {
    if (write() && backlog.size() > 0) writeSoon()
  }

  /** At the end of this turn of the event loop, with everything that arrives in it. */
  const writeSoon = (): void => {
    if (scheduled) return
    scheduled = true
    setImmediate(() => {
      scheduled = false
      if (backlog.size() > 0 && !refusing && !closing) writeOn()
    })
  }

  const more = async (signal: AbortSignal): Promise<boolean> => {
    if (closed) return false
    try {
      await once(news, 'synced', { signal })
      return true
    } catch {
      return false // aborted
    }
  }

  write() // begins the first segment, if there is none to go on with
  await sync()

  return {
    id,

    add: (visit) =>
      new Promise((answer) => {
        if (closing) log('error', 'a visit came after the spool was closed', { dir })
        if (backlog.full() && !refusing) write()
        backlog.push(visit, answer)
        if (refusing || closing) answer()
        else writeSoon()
      }),

    read: (after, limit, signal) => tail({ segments, quarantine, more }, after, limit, signal),

    release: journal.release,

    stats: () => ({
      bytes: journal.bytes(),
      waiting: backlog.size(),
      dropped: backlog.dropped(),
      quarantined: quarantine.count(),
      last: journal.last(),
      gone: journal.gone(),
    }),

    close: async () => {
      closing = true
      clearTimeout(retry)
      while (backlog.size() > 0 && write());
      if (backlog.size() > 0)
        log('error', 'visits are lost: the spool could not be written', { dir, visits: backlog.size() })
      clearTimeout(syncTimer)
      await syncing
      await sync()
      journal.close()
      closed = true
      news.emit('synced')
    },
  }
}
