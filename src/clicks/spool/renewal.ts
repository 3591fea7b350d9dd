import type { SeqByPartition } from '../entry.ts'
import type { Log } from '../report.ts'
import type { Journal } from './journal.ts'

/**
 * Deletes what is recorded, also from the newest segment: that one is replaced soon, because it has addresses and user
 * agents of visitors, and a quiet service would take years to fill it.
 */
export interface Renewal {
  /** Everything up to these sequence numbers is recorded. */
  readonly release: (upTo: SeqByPartition) => Promise<void>
  /** Begins no more segments. */
  readonly stop: () => void
}

export interface RenewalOptions {
  readonly journal: Pick<Journal, 'segments' | 'release' | 'renew'>
  readonly dir: string
  readonly log: Log
  /** ms from the release of an entry to a new segment, and from there to the end of the one before */
  readonly renewMs: number
  /** called when the journal has a new segment to sync */
  readonly onRenewed: () => void
}

export const createRenewal = ({ journal, dir, log, renewMs, onRenewed }: RenewalOptions): Renewal => {
  let recorded: SeqByPartition = {}
  let timer: NodeJS.Timeout | undefined
  let isStopped = false

  /** Returns whether there is more to do. */
  const renew = async (): Promise<boolean> => {
    try {
      await journal.release(recorded)
      const isRenewed = !isStopped && journal.renew(recorded)
      if (isRenewed) onRenewed()
      return isRenewed || journal.segments.length > 1
    } catch (error) {
      log('debug', 'visits that are recorded could not be deleted from the spool yet', { dir, err: error })
      return true
    }
  }

  const schedule = (): void => {
    if (isStopped) return
    timer ??= setTimeout(() => {
      void renew().then((isMore) => {
        timer = undefined
        if (isMore) schedule()
      })
    }, renewMs).unref()
  }

  return {
    release: (upTo) => {
      recorded = upTo
      schedule()
      return journal.release(upTo)
    },
    stop: () => {
      isStopped = true
      clearTimeout(timer)
    },
  }
}
