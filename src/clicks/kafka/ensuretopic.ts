import type { Admin } from 'kafkajs'
import { TopicReplaced } from '../partition.ts'
import type { ClickRecord } from '../record.ts'
import type { KafkaOptions } from './client.ts'
import { library } from './library.ts'

type Recorded = Pick<ClickRecord, 'partitions' | 'lastMessage'>
type TopicAdmin = Pick<
  Admin,
  'listTopics' | 'createTopics' | 'describeCluster' | 'fetchTopicMetadata' | 'describeConfigs'
>
export type TopicOptions = Pick<KafkaOptions, 'topic' | 'replication' | 'onTopicChecked'>

const hour = 3600 * 1000
/** copies of each message unless KAFKA_REPLICATION is set, as far as there are brokers */
const defaultReplication = 3
/** ms for which a topic should keep messages at least, so that a recorder may be down for a day */
const shortestRetention = 24 * hour

/**
 * How many brokers must have a message before it is acknowledged: one copy is as good as none when its broker is lost.
 */
const inSyncReplicas = (replication: number) => Math.min(2, replication)

/**
 * Creates the topic, unless clicks were recorded from it: then its messages would be missing without anybody noticing.
 */
const createTopic = async (
  admin: TopicAdmin,
  topic: string,
  { partitions, lastMessage }: Recorded,
  replication: number,
): Promise<void> => {
  for (let partition = 0; partition < partitions; partition++)
    if (await lastMessage(partition))
      throw new TopicReplaced(
        `the topic ${topic} no longer exists, but clicks have been recorded from it: set KAFKA_TOPIC to another name`,
      )
  const configEntries = [
    { name: 'cleanup.policy', value: 'delete' },
    { name: 'retention.ms', value: String(7 * 24 * hour) },
    { name: 'min.insync.replicas', value: String(inSyncReplicas(replication)) },
    { name: 'unclean.leader.election.enable', value: 'false' },
  ]
  await admin.createTopics({
    topics: [{ topic, numPartitions: partitions, replicationFactor: replication, configEntries }],
  })
}

interface TopicState {
  /** brokers with a copy, of the partition that has the fewest */
  readonly replicas: number
  readonly configs: ReadonlyMap<string, string>
}

const readTopic = async (admin: TopicAdmin, topic: string, partitions: number): Promise<TopicState> => {
  const { topics } = await admin.fetchTopicMetadata({ topics: [topic] })
  const found = topics[0]?.partitions ?? []
  if (found.length !== partitions)
    throw new Error(
      `the topic ${topic} has ${found.length} partitions, not ${partitions}: set KAFKA_PARTITIONS to ${found.length}, or KAFKA_TOPIC to another name`,
    )
  const configNames = ['cleanup.policy', 'retention.ms', 'min.insync.replicas', 'unclean.leader.election.enable']
  const { resources } = await admin.describeConfigs({
    includeSynonyms: false,
    resources: [{ type: library().ConfigResourceTypes.TOPIC, name: topic, configNames }],
  })
  const entries = resources[0]?.configEntries ?? []
  return {
    replicas: Math.min(...found.map(({ replicas }) => replicas.length)),
    configs: new Map(entries.map(({ configName, configValue }) => [configName, configValue])),
  }
}

/** Throws when the topic cannot carry clicks. */
const refuseUnsuitable = (topic: string, { replicas, configs }: TopicState) => {
  const policy = configs.get('cleanup.policy')
  if (policy !== 'delete')
    throw new Error(`the topic ${topic} has cleanup.policy ${policy}, which loses clicks: set it to delete`)
  const inSync = Number(configs.get('min.insync.replicas'))
  if (inSync > replicas)
    throw new Error(
      `the topic ${topic} has min.insync.replicas ${inSync} but only ${replicas} replicas, so it accepts no message: set min.insync.replicas to ${replicas}, or add replicas`,
    )
}

/** Returns where the topic keeps less than is promised, each with the setting to change. */
const weaknessesOf = (topic: string, { replicas, configs }: TopicState, promised: number): readonly string[] => {
  const inSync = Number(configs.get('min.insync.replicas'))
  const retention = Number(configs.get('retention.ms'))
  return [
    ...(replicas < promised
      ? [
          `the topic ${topic} has ${replicas} of ${promised} replicas, so a lost broker can lose clicks: add replicas with kafka-reassign-partitions.sh, or set KAFKA_REPLICATION to ${replicas}`,
        ]
      : []),
    ...(inSync < inSyncReplicas(Math.min(promised, replicas))
      ? [
          `the topic ${topic} has min.insync.replicas ${inSync}, so a click can be acknowledged with a single copy: set min.insync.replicas to 2, or KAFKA_REPLICATION to 1`,
        ]
      : []),
    ...(promised > 1 && configs.get('unclean.leader.election.enable') === 'true'
      ? [
          `the topic ${topic} has unclean.leader.election.enable, which loses acknowledged clicks: set unclean.leader.election.enable to false`,
        ]
      : []),
    ...(retention >= 0 && retention < shortestRetention
      ? [
          `the topic ${topic} deletes clicks after ${(retention / hour).toFixed(1)} hours, also while no recorder runs: set retention.ms to at least ${shortestRetention}`,
        ]
      : []),
  ]
}

/**
 * Creates the topic at its first use, and checks it. Throws `TopicReplaced` when it has been deleted, and an error that
 * names the setting to change when it cannot carry clicks; one that is only weaker than promised is reported to
 * `onTopicChecked`.
 */
export const ensureTopic = async (
  admin: TopicAdmin,
  { topic, replication, onTopicChecked }: TopicOptions,
  record: Recorded,
): Promise<void> => {
  const brokers = (await admin.describeCluster()).brokers.length
  const promised = replication ?? Math.min(defaultReplication, brokers)
  if (!(await admin.listTopics()).includes(topic)) {
    if (promised > brokers)
      throw new Error(
        `KAFKA_REPLICATION is ${promised}, but Kafka has only ${brokers} running brokers: set KAFKA_REPLICATION to ${brokers}, or start more brokers`,
      )
    await createTopic(admin, topic, record, promised)
  }
  const found = await readTopic(admin, topic, record.partitions)
  refuseUnsuitable(topic, found)
  onTopicChecked?.(weaknessesOf(topic, found, promised))
}
