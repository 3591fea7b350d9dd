import type { Admin, Consumer } from 'kafkajs'
import type { ClickRecord } from '../record.ts'
import type { Positions } from './positions.ts'
import { fetchOffsets, groupOf } from './topic.ts'
import type { RecorderTracker } from './tracker.ts'

/** Notices messages that Kafka has deleted before they were recorded, and records that they are lost. */
export interface Deletions {
  /** Records what was deleted before this message, the next one that the consumer received. */
  readonly recordBefore: (partition: number, offset: number) => Promise<void>
  /**
   * Does the same for partitions that have no message left. Call it at intervals; `isBusy` while a batch is being
   * recorded.
   */
  readonly recordEmpty: (isBusy: boolean) => Promise<void>
  /**
   * Commits how far the partitions are read where the event log cannot say it, because their last messages were
   * repetitions or another installation's: without it, a later start would count them as lost once they are deleted.
   */
  readonly commit: (consumer: Pick<Consumer, 'commitOffsets'>) => Promise<void>
}

export interface DeletionsOptions {
  readonly topic: string
  readonly record: Pick<ClickRecord, 'logId' | 'lastMessage' | 'recordDeleted'>
  readonly tracker: Pick<RecorderTracker, 'lost' | 'isHalted'>
  readonly positions: Positions
  readonly admin: Pick<Admin, 'fetchOffsets' | 'fetchTopicOffsets'>
}

export const createDeletions = ({ topic, record, tracker, positions, admin }: DeletionsOptions): Deletions => {
  const committed = new Map<number, number>()
  let empty: readonly number[] = []

  const recordedOffset = async (partition: number) => (await record.lastMessage(partition))?.offset ?? -1

  /** The offset that was committed, unless the event log was restored to a state before it. */
  const committedOffset = async (partition: number) => {
    const groupId = groupOf(topic, record)
    const [group] = await admin.fetchOffsets({ groupId, topics: [topic] })
    const { offset, metadata } = group?.partitions.find((one) => one.partition === partition) ?? {}
    const isValid = metadata && Number(metadata) <= (await recordedOffset(partition))
    return isValid ? Number(offset) : 0
  }

  /** Records what is missing of the messages up to this offset (exclusive). */
  const recordMissing = async (partition: number, end: number) => {
    const from = Math.max(positions.next(partition) ?? end, await committedOffset(partition))
    if (from >= end) return
    const messages = await record.recordDeleted(partition, from, end - 1)
    if (messages > 0) tracker.lost({ partition, messages, upTo: end - 1 })
    positions.advance(partition, end - 1)
  }

  return {
    recordBefore: async (partition, offset) => {
      if (offset <= (positions.next(partition) ?? offset)) return
      // offsets that were never messages, such as the ends of transactions, are missing, too, but not below the lowest
      // one
      const found = (await fetchOffsets(admin, topic)).find((one) => one.partition === partition)
      await recordMissing(partition, Math.min(offset, found?.low ?? 0))
    },

    recordEmpty: async (isBusy) => {
      const before = empty
      empty = isBusy ? [] : positions.assigned().filter((one) => positions.isEmptied(one) && !tracker.isHalted(one))
      // seen twice: messages that were received before may still be on their way to the handler
      for (const partition of empty.filter((one) => before.includes(one)))
        await recordMissing(partition, positions.low(partition))
    },

    commit: async (consumer) => {
      for (const partition of positions.assigned()) {
        const next = positions.next(partition)
        if (next === undefined || committed.get(partition) === next) continue
        const recorded = await recordedOffset(partition)
        if (next > recorded + 1)
          await consumer.commitOffsets([{ topic, partition, offset: String(next), metadata: String(recorded) }])
        committed.set(partition, next)
      }
    },
  }
}
