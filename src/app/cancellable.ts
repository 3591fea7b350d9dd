import type { Ledger } from './log/ledger.ts'

/**
 * Opens connections for long work. `stopped` waits for work that was asked to stop, and cancels statements that keep it
 * from doing so.
 */
export const cancellable = (
  { db, instance, pool }: Pick<Ledger, 'db' | 'instance' | 'pool'>,
  { use, max, timeout }: { readonly use: string; readonly max: number; readonly timeout: number },
) => {
  const cancel = () =>
    db.raw(`select pg_cancel_backend(pid) from pg_stat_activity where application_name = ? and state = 'active'`, [
      `${instance}-${use}`,
    ])
  return {
    db: pool(max, timeout, use),
    stopped: async (working: Promise<unknown>) => {
      const cancelling = setInterval(() => void cancel().catch(() => {}), 1000)
      await working.finally(() => clearInterval(cancelling))
    },
  }
}
