import type { Log } from '../report.ts'
import type { Visit } from '../visit.ts'
import type { Backlog } from './backlog.ts'
import type { Tally } from './tally.ts'

/** Writes the backlog to the journal: once per turn of the event loop, with everything that arrived in it. */
export interface Writer {
  /**
   * Resolves with true when the visit is written, or when it is counted, while the disk refuses to write; with false
   * when it has to be written and cannot be: then nothing of it is kept. Never rejects.
   */
  readonly add: (visit: Visit, mustBeWritten?: boolean) => Promise<boolean>
  /** Returns why the disk refuses to write; undefined while it does not. */
  readonly refused: () => string | undefined
  /** Writes up to `batchVisits` of the backlog now. Returns whether the disk took them. */
  readonly write: () => boolean
  /** Writes everything that waits, and writes no more afterwards. */
  readonly close: () => void
}

export interface WriterOptions {
  readonly backlog: Backlog
  readonly tally: Pick<
    Tally,
    'allocate' | 'wait' | 'drop' | 'dropped' | 'hasDropped' | 'dropsAt' | 'droppedInAll' | 'clear'
  >
  readonly dir: string
  readonly log: Log
  /** ms until a refused write is tried again */
  readonly retryMs: number
  /** called when the journal or the tally has more to sync */
  readonly onWritten: () => void
}

/** visits in one write: bounds how long a full backlog blocks the event loop once the disk works again */
const batchVisits = 1000

const oncePerTurn = (run: () => void) => {
  let isScheduled = false
  return (): void => {
    if (isScheduled) return
    isScheduled = true
    setImmediate(() => {
      isScheduled = false
      run()
    })
  }
}

export const createWriter = (options: WriterOptions): Writer => {
  const { backlog, tally, dir, log, retryMs, onWritten } = options
  let refused: string | undefined
  let isClosed = false
  let retry: NodeJS.Timeout | undefined

  /** The disk refuses to write: the backlog stays in memory, and no visitor waits for it. */
  const refuse = (error: unknown): void => {
    if (refused === undefined) log('error', 'the spool cannot be written: visits wait in memory', { dir, err: error })
    refused = error instanceof Error ? error.message : String(error)
    backlog.answerAll()
    onWritten()
    if (!isClosed) retry = setTimeout(writeOn, retryMs)
  }

  const write = (): boolean => {
    try {
      backlog.write(batchVisits)
    } catch (error) {
      refuse(error)
      return false
    }
    if (refused !== undefined) {
      log('warn', 'the spool can be written again', { dir, waiting: backlog.size(), dropped: tally.droppedInAll() })
      void tally.allocate()
    }
    refused = undefined
    onWritten()
    return true
  }

  const writeOn = (): void => {
    if (write() && backlog.size() > 0) schedule()
  }

  const isWriting = () => refused === undefined && !isClosed

  const schedule = oncePerTurn(() => {
    if (backlog.size() > 0 && isWriting()) writeOn()
  })

  return {
    add: (visit, mustBeWritten = false) =>
      new Promise((answer) => {
        if (isClosed) log('error', 'a visit was added after the spool was closed', { dir })
        if (backlog.full() && refused === undefined) write()
        backlog.push({ visit, mustBeWritten, answer })
        if (isWriting()) return schedule()
        backlog.answerAll()
        onWritten()
        answer(true) // of a visit that was dropped
      }),

    refused: () => refused,
    write,

    close: () => {
      isClosed = true
      clearTimeout(retry)
      while (backlog.size() > 0 && write());
      const visits = backlog.visits()
      if (visits > 0) log('error', 'visits are lost: the spool could not be written', { dir, visits })
    },
  }
}
