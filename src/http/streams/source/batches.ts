import QuickLRU from 'quick-lru'
import type { Event } from '../../../events/index.ts'
import { upcast } from '../../../events/upcast.ts'
import type { StoredLog } from '../../../events/store.ts'
import { type PublicClick, publicClick } from '../publicevent.ts'
import type { Numbered, Piece, Row } from './source.ts'

export interface ClickRow extends Row {
  readonly value: PublicClick
}

/** The clicks of one event. */
export interface ClickBatch {
  /** Returns those of an account, and texts that were made of all of them. */
  readonly of: (account: number) => { readonly rows: readonly ClickRow[]; readonly texts: Map<string, Piece> }
}

/**
 * Batches in memory, about 1 MB each at most: followers of one account read the same one at about the same time, and a
 * client that takes it in pieces comes back for it.
 */
const kept = 12

type Batch = Event<'LinkClicked'>['data']

const rowsOf = ({ ordinal, position }: Numbered, batch: Batch, account: number): readonly ClickRow[] =>
  batch.clicks.flatMap((click, index) => {
    if (click.account !== account) return []
    const value = publicClick(batch, ordinal, index)
    return [{ place: { position, index }, id: value.id, value }]
  })

const batchOf = (entry: Numbered, data: Batch | undefined): ClickBatch => {
  const accounts = new Map<number, ReturnType<ClickBatch['of']>>()
  return {
    of: (account) => {
      const known = accounts.get(account) ?? {
        rows: data ? rowsOf(entry, data, account) : [],
        texts: new Map<string, Piece>(),
      }
      accounts.set(account, known)
      return known
    },
  }
}

/**
 * Returns what reads batches of clicks. Those that were read last are kept for other streams. Clicks were validated
 * when they were recorded and have nothing sealed: reading them as they are stored takes a third of the time, in which
 * no request is answered.
 */
export const openClickBatches = (read: StoredLog['read']) => {
  const batches = new QuickLRU<string, Promise<ClickBatch>>({ maxSize: kept })
  const load = async (entry: Numbered) => {
    for await (const event of read(entry.stream, entry.revision, 1))
      return batchOf(
        entry,
        event.type === 'LinkClicked' ? (upcast('LinkClicked', event.metadata.v, event.data) as Batch) : undefined,
      )
    throw new Error(`the log has no event ${entry.stream}@${entry.revision}, which its index names`)
  }
  return (entry: Numbered): Promise<ClickBatch> => {
    const key = `${entry.stream}@${entry.revision}`
    const known = batches.get(key)
    if (known) return known
    const loading = load(entry)
    batches.set(key, loading)
    // one that could not be read is read again
    loading.catch(() => batches.delete(key))
    return loading
  }
}
