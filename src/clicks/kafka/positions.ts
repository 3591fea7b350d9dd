import type { Admin } from 'kafkajs'
import type { ClickRecord } from '../record.ts'
import { describeTruncation, fetchOffsets } from './topic.ts'
import type { RecorderTracker } from './tracker.ts'

/** Which message of each partition comes next. The event log decides; the consumer group's offsets are not used. */
export interface Positions {
  /** Reads from the event log where recording ended. */
  readonly restore: () => Promise<void>
  /** Compares the positions with what the topic holds; updates lags and truncations. */
  readonly check: (admin: Admin) => Promise<void>
  readonly assign: (partitions: readonly number[]) => void
  readonly assigned: () => readonly number[]
  /** Everything up to this offset is recorded. */
  readonly advance: (partition: number, offset: number) => void
  /** Returns the offset to seek to, undefined where nothing was recorded: that of the last recorded message, to compare it. */
  readonly seekOffset: (partition: number) => number | undefined
}

export const createPositions = (topic: string, record: ClickRecord, tracker: RecorderTracker): Positions => {
  const next = new Map<number, number>()
  const lows = new Map<number, number>()
  let assigned: readonly number[] = []
  return {
    restore: async () => {
      for (let partition = 0; partition < record.partitions; partition++) {
        const last = await record.lastMessage(partition)
        if (last) next.set(partition, last.offset + 1)
      }
    },
    check: async (admin) => {
      for (const offsets of await fetchOffsets(admin, topic)) {
        const { partition, low, high } = offsets
        lows.set(partition, low)
        const position = next.get(partition) ?? low
        if (assigned.includes(partition)) tracker.setLag(partition, high - Math.max(position, low))
        tracker.setTruncation(partition, describeTruncation(offsets, position))
      }
    },
    assign: (partitions) => {
      assigned = partitions
    },
    assigned: () => assigned,
    advance: (partition, offset) => void next.set(partition, offset + 1),
    seekOffset: (partition) => {
      const position = next.get(partition)
      return position === undefined ? undefined : Math.max(position - 1, lows.get(partition) ?? 0)
    },
  }
}
