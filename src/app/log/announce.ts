import type { Cache } from '../../cache/cache.ts'
import type { Ledger } from './ledger.ts'

/** Marks a stream as pending in this process, and notifies the others. */
export const announcePending =
  ({ instance, notify }: Pick<Ledger, 'instance' | 'notify'>, pending: Cache['pending']) =>
  (stream: string, position: bigint) => {
    pending.add(stream, position)
    void notify({ kind: 'pending', from: instance, stream, position }).catch(() => {})
  }
