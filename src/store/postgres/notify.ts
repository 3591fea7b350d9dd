import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool } from 'pg'
import type { Filter } from '../../events/store.ts'
import { appendedSuffix, notifyAppended } from '../../postgres/notifications.ts'

export interface AppendNotifier {
  /**
   * Notifies the other processes that events which pass these filters were appended: at once, then at most every 15 ms.
   */
  readonly notify: (filters: readonly Filter[]) => void
  /** Resolves when no notification is due. */
  readonly idle: () => Promise<void>
}

/** ms between two notifications */
const interval = 15

/** Notifies the other processes with LISTEN/NOTIFY, outside the append, whose commit it would delay. */
export const createAppendNotifier = (pool: Pool): AppendNotifier => {
  let due = new Set<Filter>()
  let running: Promise<void> | undefined
  const run = async () => {
    while (due.size > 0) {
      const values = [appendedSuffix(due)]
      due = new Set()
      // a lost notification is harmless: the other processes also poll every second
      await pool.query({ name: 'notify-appended', text: notifyAppended, values }).catch(() => {})
      await sleep(interval)
    }
    running = undefined
  }
  return {
    notify: (filters) => {
      filters.forEach((filter) => due.add(filter))
      running ??= run()
    },
    idle: async () => running,
  }
}
