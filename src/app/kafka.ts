import type { Config } from '../config.ts'

export interface KafkaSettings {
  /** host:port of some of the brokers */
  readonly brokers: readonly string[]
  /** names the topic, and the click log */
  readonly topic: string
  readonly partitions: number
  readonly replication: number | undefined
}

/** Returns undefined when no brokers are set: clicks then go straight into the event log. */
export const kafkaSettings = ({
  KAFKA_BROKERS,
  KAFKA_TOPIC,
  KAFKA_PARTITIONS,
  KAFKA_REPLICATION,
}: Config): KafkaSettings | undefined =>
  KAFKA_BROKERS.length > 0
    ? { brokers: KAFKA_BROKERS, topic: KAFKA_TOPIC, partitions: KAFKA_PARTITIONS, replication: KAFKA_REPLICATION }
    : undefined
