import type { Admin } from 'kafkajs'
import type { ClickRecord } from '../record.ts'
import { describeTruncation, fetchOffsets, type PartitionOffsets } from './topic.ts'
import type { RecorderTracker } from './tracker.ts'

/** Which message of each partition comes next. The event log decides; the consumer group's offsets are not used. */
export interface Positions {
  /** Reads from the event log where recording ended. */
  readonly restore: () => Promise<void>
  /** Compares the positions with what the topic holds; updates lags and truncations. */
  readonly check: (admin: Pick<Admin, 'fetchTopicOffsets'>) => Promise<void>
  readonly assign: (partitions: readonly number[]) => void
  readonly assigned: () => readonly number[]
  /** Everything up to this offset is recorded. */
  readonly advance: (partition: number, offset: number) => void
  /** The offset after the last recorded one; undefined where nothing was recorded. */
  readonly next: (partition: number) => number | undefined
  /** The first offset that Kafka kept, at the last check. */
  readonly low: (partition: number) => number
  /** Whether Kafka had deleted all messages at the last check, also some that are not recorded. */
  readonly isEmptied: (partition: number) => boolean
  /** Returns the offset to seek to: that of the last recorded message, to compare it, or the first offset. */
  readonly seekOffset: (partition: number) => number
}

export const createPositions = (topic: string, record: ClickRecord, tracker: RecorderTracker): Positions => {
  const next = new Map<number, number>()
  let ranges: ReadonlyMap<number, PartitionOffsets> = new Map()
  let assigned: readonly number[] = []
  const low = (partition: number) => ranges.get(partition)?.low ?? 0
  return {
    restore: async () => {
      for (let partition = 0; partition < record.partitions; partition++) {
        const last = await record.lastMessage(partition)
        if (last) next.set(partition, last.offset + 1)
      }
    },
    check: async (admin) => {
      const found = await fetchOffsets(admin, topic)
      ranges = new Map(found.map((offsets) => [offsets.partition, offsets]))
      for (const offsets of found) {
        const { partition, high } = offsets
        const position = Math.max(next.get(partition) ?? 0, low(partition))
        if (assigned.includes(partition)) tracker.setLag(partition, high - position)
        tracker.setTruncation(partition, describeTruncation(offsets, position))
      }
    },
    assign: (partitions) => {
      assigned = partitions
    },
    assigned: () => assigned,
    advance: (partition, offset) => void next.set(partition, offset + 1),
    next: (partition) => next.get(partition),
    low,
    isEmptied: (partition) => {
      const { low, high } = ranges.get(partition) ?? { low: 0, high: 0 }
      return low === high && low > (next.get(partition) ?? low)
    },
    seekOffset: (partition) => Math.max((next.get(partition) ?? 0) - 1, low(partition)),
  }
}
