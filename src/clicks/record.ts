import type { Taken } from '../events/statistics/click.ts'
import { deletedMessages, toEvents } from './batch.ts'
import { type SpoolEnds, spoolEnds } from './ends.ts'
import type { ClickEntry, SeqByPartition } from './entry.ts'
import { checkTopic, isNew, LogWentBack, recordedSeq } from './partition.ts'
import { createRetirement, type SpoolState, spoolsOf } from './retire.ts'
import { createTails, type Tail, type TailsOptions } from './tails.ts'

/**
 * A click log in the event log. It records each click exactly once, however many processes record it at the same time.
 */
export interface ClickRecord extends SpoolEnds {
  /** identity of the event log: a Kafka topic may carry the clicks of several */
  readonly logId: string
  readonly partitions: number
  /**
   * Records what is new of these entries. Throws `TopicReplaced`, or `Unavailable` with some of them recorded, and
   * `LogWentBack` once when the log ends before what it had of their spool.
   */
  readonly record: (partition: number, entries: readonly ClickEntry[]) => Promise<void>
  /**
   * Records that Kafka deleted the messages at the offsets `from` to `to`, except what was recorded meanwhile. Returns
   * how many of them were not.
   */
  readonly recordDeleted: (partition: number, from: number, to: number) => Promise<number>
  /** Reads the last recorded sequence number of this spool, by partition. */
  readonly recordedUpTo: (spool: string) => Promise<SeqByPartition>
  /** Reads from the log whether it has a spool up to these numbers. Throws `LogWentBack` when it has not. */
  readonly confirm: (spool: string, upTo: SeqByPartition) => Promise<void>
  /** Reads from the log which Kafka message of the partition was recorded last, by this or another process. */
  readonly lastMessage: (partition: number) => Promise<Taken | undefined>
}

export interface ClickRecordOptions extends TailsOptions {
  /** Called when the log has lost recorded clicks, before they are recorded again. */
  readonly onWentBack?: (() => void) | undefined
  /** ms since 1970 */
  readonly now?: () => number
}

export const openClickRecord = (options: ClickRecordOptions): ClickRecord => {
  const { store, log, now = Date.now } = options
  const spools = spoolsOf(store, log)
  const retirement = createRetirement(store, spools, now)
  const tails = createTails(options, spools)
  const partitions = Array.from({ length: options.partitions }, (_, partition) => partition)
  const wentBack = () => {
    options.onWentBack?.()
    return new LogWentBack()
  }
  const seen = createSeen(wentBack)

  /**
   * Records what is new of these entries, and leaves out spools that have retired. Returns false to be called again.
   */
  const recordNew = async (partition: number, entries: readonly ClickEntry[]): Promise<boolean> => {
    const busy = new Set(entries.map(({ spool }) => spool))
    const tail = await tails.get(partition, busy)
    for (const spool of busy) seen.check(partition, spool, recordedSeq(tail, spool))
    checkTopic(tail, entries)
    if (!entries.some((entry) => isNew(tail, entry))) return true
    const leaving = await retirement.next(partition, tail, busy)
    const state = without(tail, leaving)
    if (!(await tails.append(partition, state, toEvents(state, entries)))) return false
    for (const { spool, seq } of entries) seen.note(partition, spool, seq)
    return true
  }

  return {
    logId: store.logId,
    partitions: options.partitions,
    record: async (partition, entries) => {
      while (!(await recordNew(partition, entries)));
    },
    recordDeleted: async (partition, from, to) => {
      for (;;) {
        const tail = await tails.get(partition, [])
        const first = Math.max(from, (tail.taken?.offset ?? -1) + 1)
        if (first > to) return 0
        if (await tails.append(partition, tail, [deletedMessages(tail, first, to)])) return to - first + 1
      }
    },
    recordedUpTo: async (spool) => {
      const upTo: Record<number, number> = {}
      for (const partition of partitions) {
        upTo[partition] = await tails.seqOf(partition, spool)
        seen.note(partition, spool, upTo[partition])
      }
      return upTo
    },
    confirm: async (spool, upTo) => {
      for (const [partition, seq] of Object.entries(upTo)) {
        await tails.read(Number(partition))
        if ((await tails.seqOf(Number(partition), spool)) < seq) throw wentBack()
      }
    },
    lastMessage: async (partition) => (await tails.load(partition)).taken,
    ...spoolEnds({ store, partitions, tails, spools, retirement }),
  }
}

/** How far the log was seen to have each spool. */
const createSeen = (wentBack: () => LogWentBack) => {
  const seen = new Map<string, number>()
  const keyOf = (partition: number, spool: string) => `${partition} ${spool}`
  const of = (key: string) => seen.get(key) ?? 0
  return {
    note: (partition: number, spool: string, seq: number) => {
      const key = keyOf(partition, spool)
      seen.set(key, Math.max(seq, of(key)))
    },
    /** Throws `LogWentBack` when the log has less of the spool than it had, and goes by that from then on. */
    check: (partition: number, spool: string, seq: number) => {
      const key = keyOf(partition, spool)
      const before = of(key)
      seen.set(key, seq)
      if (seq < before) throw wentBack()
    },
  }
}

const without = (tail: Tail, leaving: ReadonlyMap<string, SpoolState>): Tail => {
  if (leaving.size === 0) return tail
  const upTo = Object.fromEntries(Object.entries(tail.upTo).filter(([spool]) => !leaving.has(spool)))
  return { ...tail, upTo, retired: new Map([...tail.retired, ...leaving]) }
}
