import type { Log } from '../report.ts'
import type { Journal } from './journal.ts'
import type { Tally } from './tally.ts'

/** Syncs a journal and a tally to disk, `syncMs` after something was written to them. */
export interface Syncer {
  /** Syncs now. A failure is logged and retried, never thrown. */
  readonly sync: () => Promise<void>
  /** Returns why the disk fails to sync; undefined while it does not. */
  readonly refused: () => string | undefined
  /** Schedules a sync, unless one is scheduled. */
  readonly schedule: () => void
  /** Waits for a running sync, syncs for the last time, and schedules no more. */
  readonly stop: () => Promise<void>
}

export interface SyncerOptions {
  readonly journal: Pick<Journal, 'sync' | 'hasUnsynced'>
  readonly tally: Pick<Tally, 'sync'>
  readonly dir: string
  readonly log: Log
  readonly syncMs: number
  /** ms until a failed sync is tried again */
  readonly retryMs: number
  /** called after every attempt */
  readonly onSynced: () => void
}

export const createSyncer = ({ journal, tally, dir, log, syncMs, retryMs, onSynced }: SyncerOptions): Syncer => {
  let refused: string | undefined
  let isStopped = false
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> = Promise.resolve()

  const sync = async (): Promise<void> => {
    try {
      await journal.sync()
      await tally.sync()
      refused = undefined
    } catch (error) {
      if (refused === undefined)
        log('error', 'the spool cannot be synced to disk: its newest entries are held back', { dir, err: error })
      refused = error instanceof Error ? error.message : String(error)
    }
    onSynced()
  }

  const syncIn = (ms: number): void => {
    timer ??= setTimeout(() => {
      running = sync().then(() => {
        timer = undefined
        if (journal.hasUnsynced() && !isStopped) syncIn(refused !== undefined ? retryMs : syncMs)
      })
    }, ms)
  }

  return {
    sync,
    refused: () => refused,
    schedule: () => syncIn(syncMs),
    stop: async () => {
      isStopped = true
      clearTimeout(timer)
      await running
      await sync()
    },
  }
}
