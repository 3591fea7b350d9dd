import type { Log } from '../report.ts'
import type { Visit } from '../visit.ts'
import type { Backlog } from './backlog.ts'
import type { Journal } from './journal.ts'

/** Writes the backlog to the journal: once per turn of the event loop, with everything that arrived in it. */
export interface Writer {
  /** Resolves when the visit is written, or at once while the disk refuses to write. Never rejects. */
  readonly add: (visit: Visit) => Promise<void>
  /** Writes up to `batchVisits` of the backlog now. Returns whether the disk took them. */
  readonly write: () => boolean
  /** Writes the whole backlog, and writes no more afterwards. */
  readonly close: () => void
}

export interface WriterOptions {
  readonly journal: Pick<Journal, 'append'>
  readonly backlog: Backlog
  readonly dir: string
  readonly log: Log
  /** ms until a refused write is tried again */
  readonly retryMs: number
  readonly onWritten: () => void
}

/** visits in one write: bounds how long a full backlog blocks the event loop once the disk works again */
const batchVisits = 1000

export const createWriter = ({ journal, backlog, dir, log, retryMs, onWritten }: WriterOptions): Writer => {
  let isRefused = false
  let isScheduled = false
  let isClosed = false
  let retry: NodeJS.Timeout | undefined

  /** The disk refuses to write: the backlog stays in memory, and no visitor waits for it. */
  const refuse = (error: unknown): void => {
    if (!isRefused) log('error', 'the spool cannot be written: visits wait in memory', { dir, err: error })
    isRefused = true
    backlog.answerAll()
    if (!isClosed) retry = setTimeout(writeOn, retryMs)
  }

  const write = (): boolean => {
    const batch = backlog.head(batchVisits)
    try {
      journal.append(batch)
    } catch (error) {
      refuse(error)
      return false
    }
    backlog.shift(batch.length)
    if (isRefused)
      log('warn', 'the spool can be written again', { dir, waiting: backlog.size(), dropped: backlog.dropped() })
    isRefused = false
    onWritten()
    return true
  }

  const writeOn = (): void => {
    if (write() && backlog.size() > 0) schedule()
  }

  const schedule = (): void => {
    if (isScheduled) return
    isScheduled = true
    setImmediate(() => {
      isScheduled = false
      if (backlog.size() > 0 && !isRefused && !isClosed) writeOn()
    })
  }

  return {
    add: (visit) =>
      new Promise((answer) => {
        if (isClosed) log('error', 'a visit was added after the spool was closed', { dir })
        if (backlog.full() && !isRefused) write()
        backlog.push(visit, answer)
        if (isRefused || isClosed) answer()
        else schedule()
      }),

    write,

    close: () => {
      isClosed = true
      clearTimeout(retry)
      while (backlog.size() > 0 && write());
      if (backlog.size() > 0)
        log('error', 'visits are lost: the spool could not be written', { dir, visits: backlog.size() })
    },
  }
}
