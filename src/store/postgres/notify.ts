import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool } from 'pg'
import { notifyAppended } from '../../postgres/notifications.ts'

export interface AppendNotifier {
  /** Notifies the other processes that events were appended: at once, then at most every 15 ms. */
  readonly notify: () => void
  /** Resolves when no notification is due. */
  readonly idle: () => Promise<void>
}

/** ms between two notifications */
const interval = 15

/** Notifies the other processes with LISTEN/NOTIFY, outside the append, whose commit it would delay. */
export const createAppendNotifier = (pool: Pool): AppendNotifier => {
  let due = false
  let running: Promise<void> | undefined
  const run = async () => {
    while (due) {
      due = false
      // a lost notification is harmless: the other processes also poll every second
      await pool.query({ name: 'notify-appended', text: notifyAppended }).catch(() => {})
      await sleep(interval)
    }
    running = undefined
  }
  return {
    notify: () => {
      due = true
      running ??= run()
    },
    idle: async () => running,
  }
}
