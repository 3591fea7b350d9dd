import type { Admin } from 'kafkajs'
import type { ClickRecord } from '../record.ts'

export interface PartitionOffsets {
  readonly partition: number
  /** the first offset that is still kept */
  readonly low: number
  /** the offset of the next message */
  readonly high: number
}

/** The consumer group that records the clicks of one event log: each log has a separate group. */
export const groupOf = (topic: string, { logId }: Pick<ClickRecord, 'logId'>) => `${topic}.${logId}`

export const fetchOffsets = async (
  admin: Pick<Admin, 'fetchTopicOffsets'>,
  topic: string,
): Promise<PartitionOffsets[]> =>
  (await admin.fetchTopicOffsets(topic)).map(({ partition, low, high }) => ({
    partition,
    low: Number(low),
    high: Number(high),
  }))

/** Returns what is wrong when a partition ends before the offset expected next, which means that it lost messages. */
export const describeTruncation = ({ high }: PartitionOffsets, next: number): string | undefined =>
  next > high ? `it ends at offset ${high}, but everything before offset ${next} is already recorded` : undefined
