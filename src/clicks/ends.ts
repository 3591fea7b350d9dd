import type { Actor } from '../events/event.ts'
import type { EventStore } from '../events/store.ts'
import { missingEntries } from './batch.ts'
import type { SeqByPartition } from './entry.ts'
import { recordedSeq } from './partition.ts'
import type { Drop, Retirement, Spools } from './retire.ts'
import { OtherPartitions, type Tails } from './tails.ts'

/** Where the recording of a spool begins and ends. */
export interface SpoolEnds {
  /**
   * Lets a spool of another event log begin after these sequence numbers, unless entries of it are already recorded.
   */
  readonly accept: (spool: string, after: readonly number[]) => Promise<void>
  /**
   * Retires a spool that has ended with these sequence numbers: click events need not name it any more. Returns false
   * while some of the entries up to `delivered` are not recorded. Entries above them are unreadable and become
   * `ClicksMissing`.
   */
  readonly retire: (spool: string, delivered: SeqByPartition, last: readonly number[]) => Promise<boolean>
  /** Retires a spool whose entries up to these numbers are not to be recorded. Returns how many were not. */
  readonly drop: (spool: string, after: readonly number[], last: readonly number[], actor: Actor) => Promise<number>
}

export interface SpoolEndsOptions {
  readonly store: Pick<EventStore, 'append'>
  readonly partitions: readonly number[]
  readonly tails: Tails
  readonly spools: Spools
  readonly retirement: Retirement
}

export const spoolEnds = ({ store, partitions, tails, spools, retirement }: SpoolEndsOptions): SpoolEnds => {
  /** Retires a spool in one partition at this number, unless it is retired there. */
  const retireAt = async (partition: number, spool: string, seq: number, drop?: Drop): Promise<void> => {
    for (;;) {
      const state = await spools.find(partition, spool)
      if (state.seq > seq || (state.retiredAt !== undefined && state.seq === seq)) return
      const { ok } = await store.append([spools.retiring(partition, spool, state, seq, drop)])
      if (ok) return
    }
  }

  /** Reads the last recorded number of a spool that may be of a click log with another number of partitions. */
  const lastOf = async (partition: number, spool: string): Promise<number> => {
    try {
      await tails.read(partition)
      return await tails.seqOf(partition, spool)
    } catch (error) {
      if (!(error instanceof OtherPartitions)) throw error
      return (await spools.find(partition, spool)).seq
    }
  }

  /**
   * Returns whether all of the spool's entries in this partition are recorded; the unreadable ones at its end as
   * missing.
   */
  const settle = async (partition: number, spool: string, delivered: number, last: number): Promise<boolean> => {
    for (;;) {
      const tail = await tails.get(partition, [spool])
      const seq = recordedSeq(tail, spool)
      if (seq < delivered) return false
      if (seq >= last) return true
      if (await tails.append(partition, tail, [missingEntries(tail, spool, last)])) return true
    }
  }

  return {
    accept: async (spool, after) => {
      for (const partition of partitions) {
        const { retired } = await tails.get(partition, [spool])
        const state = retired.get(spool)
        if (state?.revision !== 'no_stream') continue
        await store.append([spools.opening(partition, spool, { ...state, seq: after[partition] ?? 0 })])
        tails.forget(partition)
      }
    },
    retire: async (spool, delivered, last) => {
      const used = partitions.filter((partition) => (last[partition] ?? 0) > 0)
      for (const partition of used) {
        await tails.load(partition) // another process may have recorded them
        if (!(await settle(partition, spool, delivered[partition] ?? 0, last[partition] ?? 0))) return false
      }
      for (const partition of used) await retireAt(partition, spool, await tails.seqOf(partition, spool))
      retirement.add(spool)
      return true
    },
    drop: async (spool, after, last, actor) => {
      let dropped = 0
      for (const partition of partitions) {
        const end = last[partition] ?? 0
        const seq = Math.max(after[partition] ?? 0, await lastOf(partition, spool))
        if (seq >= end) continue
        await retireAt(partition, spool, end, { entries: end - seq, actor })
        dropped += end - seq
      }
      return dropped
    },
  }
}
