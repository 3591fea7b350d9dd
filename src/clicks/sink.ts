import type { ClickEntry, EntriesByPartition, SeqByPartition } from './entry.ts'
import type { ClickRecord } from './record.ts'
import { isLocal } from './spool/folders.ts'
import type { Route } from './spool/segment.ts'

/** Where a relay delivers the entries of a spool: into the event log, or to Kafka. */
export interface ClickSink {
  /**
   * Returns the sequence number of each partition after which this spool's entries have to be delivered. It may be
   * lower than what this sink has been given since it was opened.
   */
  readonly resumeAfter: (spool: string) => Promise<SeqByPartition>
  /**
   * Resolves when all of the entries are safe in the sink. After a rejection, some of them may have arrived: deliver
   * all of them again, and each is still recorded once.
   */
  readonly deliver: (entries: EntriesByPartition) => Promise<void>
  /**
   * Looks whether what was delivered of a spool is still there, up to these numbers; throws `LogWentBack` otherwise.
   * The spool keeps entries until then. Undefined where what was delivered is safe at once.
   */
  readonly confirm?: (spool: string, upTo: SeqByPartition) => Promise<void>
}

/** Delivers straight into the event log, without Kafka. */
export const logSink = ({ record, recordedUpTo, confirm }: ClickRecord): ClickSink => ({
  resumeAfter: recordedUpTo,
  confirm,
  deliver: async (entries) => {
    for (const [partition, part] of Object.entries(entries)) await record(Number(partition), part)
  },
})

/** The sink for spools whose entries go into the event log, also those that were meant for Kafka. */
export const logSinkOf = (route: Route, record: ClickRecord): ClickSink =>
  isLocal(route) ? logSink(record) : logSinkWithoutGaps(record)

/**
 * Delivers entries that were meant for Kafka straight into the event log, as long as they follow what is recorded;
 * entries in between may still be in the topic. `deliver` rejects at such a gap, and says which settings to restore.
 */
export const logSinkWithoutGaps = (clickRecord: ClickRecord): ClickSink => {
  const { recordedUpTo, lastMessage } = clickRecord
  const { deliver, ...sink } = logSink(clickRecord)

  const follows = async (partition: number, { spool, seq }: ClickEntry) =>
    seq <= ((await recordedUpTo(spool))[partition] ?? 0) + 1

  const refuseGap = async (partition: number, first: ClickEntry) => {
    if (await follows(partition, first)) return
    await lastMessage(partition) // reads the log again: another recorder may have caught up
    if (await follows(partition, first)) return
    throw new Error(
      'clicks that are still in Kafka have to be recorded first: set KAFKA_BROKERS and KAFKA_TOPIC to their previous values',
    )
  }

  return {
    ...sink,
    deliver: async (entries) => {
      for (const [partition, [first]] of Object.entries(entries)) if (first) await refuseGap(Number(partition), first)
      await deliver(entries)
    },
  }
}
