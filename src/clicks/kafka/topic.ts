import kafkajs, { type Admin } from 'kafkajs'
import { TopicReplaced } from '../partition.ts'
import type { ClickRecord } from '../record.ts'

export interface PartitionOffsets {
  readonly partition: number
  /** the first offset that is still kept */
  readonly low: number
  /** the offset of the next message */
  readonly high: number
}

/** The consumer group that records the clicks of one event log: each log has a group of its own. */
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

const settings = [
  { name: 'cleanup.policy', value: 'delete' },
  { name: 'retention.ms', value: String(7 * 24 * 3600 * 1000) },
]

type Recorded = Pick<ClickRecord, 'partitions' | 'lastMessage'>

/** Creates the topic, unless clicks were recorded from it: then its messages would be missing without anybody noticing. */
const createTopic = async (admin: Admin, topic: string, { partitions, lastMessage }: Recorded): Promise<void> => {
  for (let partition = 0; partition < partitions; partition++)
    if (await lastMessage(partition))
      throw new TopicReplaced(
        `the topic ${topic} no longer exists, but clicks have been recorded from it: set KAFKA_TOPIC to another name`,
      )
  await admin.createTopics({ topics: [{ topic, numPartitions: partitions, configEntries: settings }] })
}

/**
 * Creates the topic at its first use, and checks its partitions and its cleanup policy. Throws `TopicReplaced` when it has been
 * deleted, and an error that names the setting to change when it is not suitable.
 */
export const ensureTopic = async (admin: Admin, topic: string, record: Recorded): Promise<void> => {
  if (!(await admin.listTopics()).includes(topic)) await createTopic(admin, topic, record)

  const { topics } = await admin.fetchTopicMetadata({ topics: [topic] })
  const found = topics[0]?.partitions.length
  if (found !== record.partitions)
    throw new Error(
      `the topic ${topic} has ${found} partitions, not ${record.partitions}: set KAFKA_PARTITIONS to ${found}, or KAFKA_TOPIC to another name`,
    )

  const { resources } = await admin.describeConfigs({
    includeSynonyms: false,
    resources: [{ type: kafkajs.ConfigResourceTypes.TOPIC, name: topic, configNames: ['cleanup.policy'] }],
  })
  const policy = resources[0]?.configEntries[0]?.configValue
  if (policy !== 'delete')
    throw new Error(`the topic ${topic} has cleanup.policy ${policy}, which loses clicks: set it to delete`)
}
