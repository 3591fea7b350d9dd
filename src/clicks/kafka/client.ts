import kafkajs, { type Admin, Kafka, type LogEntry, logLevel } from 'kafkajs'
import { setMaxListeners } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { type ClickRecord, OtherTopic } from '../visit.ts'

export interface KafkaOptions {
  /** host:port of some of the brokers */
  readonly brokers: readonly string[]
  /** names the topic, and the click log with it */
  readonly topic: string
  readonly log: (level: 'debug' | 'warn' | 'error', message: string, details: object) => void
}

/** Lines of the client about what it gets over by itself, or what is told by whoever asked for it. */
const harmless =
  /connect|timed? ?out|rebalanc|coordinator|re-join|leader|Failed to send|Crash:|Restarting|metadata|does not host|response/i

/**
 * A client of its own for everybody who asks: consumers of one client share what they know of offsets, also after a restart. When it is
 * abandoned, what still waits for an answer fails at once.
 */
export const openKafka = ({ brokers, log }: KafkaOptions, abandoned?: AbortSignal) => {
  if (abandoned) setMaxListeners(0, abandoned)
  return new Kafka({
    clientId: 'linkledger',
    brokers: [...brokers],
    connectionTimeout: 3000,
    requestTimeout: 10_000,
    // who uses it goes on trying, and says so
    retry: { retries: 2, initialRetryTime: 200, maxRetryTime: 1000, restartOnFailure: async () => false },
    socketFactory: ({ host, port, onConnect }) => {
      const socket = connect({ host, port, keepAlive: true }, onConnect)
      const end = () => socket.destroy(new Error('the client is closed'))
      if (abandoned?.aborted) setImmediate(end)
      abandoned?.addEventListener('abort', end)
      socket.on('close', () => abandoned?.removeEventListener('abort', end))
      return socket
    },
    logLevel: logLevel.WARN,
    logCreator: () => (line) => log(levelOf(line), `Kafka: ${line.log.message}`, detailsOf(line)),
  })
}

const levelOf = ({ level, log }: LogEntry) =>
  level === logLevel.ERROR && !harmless.test(log.message) ? 'warn' : 'debug'

const detailsOf = ({ namespace, log }: LogEntry) => {
  const { broker, groupId, topic, partition } = log as Readonly<Record<string, unknown>>
  return { namespace, broker, groupId, topic, partition, error: String(log['error'] ?? '') || undefined }
}

/** A client that hangs is left to itself. */
export const within = (ms: number, ending: Promise<unknown>) =>
  Promise.race([ending.catch(() => {}), sleep(ms, undefined, { ref: false })])

/** This client may leave an asker without an answer for ever. */
export const inTime = async <T>(ms: number, asking: Promise<T>): Promise<T> => {
  const timer = new AbortController()
  try {
    const late = sleep(ms, undefined, { signal: timer.signal, ref: false }).then(() => {
      throw new Error(`Kafka has not answered for ${ms / 1000} s`)
    })
    return await Promise.race([asking, late])
  } finally {
    timer.abort()
  }
}

export interface Reach {
  readonly partition: number
  /** the first offset that is still kept */
  readonly low: number
  /** the offset that comes next */
  readonly high: number
}

/** How far the partitions of the topic reach. */
export const reaches = async (admin: Admin, topic: string): Promise<Reach[]> =>
  (await admin.fetchTopicOffsets(topic)).map(({ partition, low, high }) => ({
    partition,
    low: Number(low),
    high: Number(high),
  }))

/** What is wrong when a partition ends before the offset that was to come next. */
export const shortage = ({ high }: Reach, next: number) =>
  next > high ? `it ends before offset ${high}, though everything before offset ${next} is recorded` : undefined

const settings = [
  { name: 'cleanup.policy', value: 'delete' },
  { name: 'retention.ms', value: String(7 * 24 * 3600 * 1000) },
]

/**
 * Makes the topic at its first use, and checks that it is one that clicks can be kept in. A topic that clicks were recorded from and
 * that is gone is not made again: what it held would be missing in silence.
 */
export const ensureTopic = async (admin: Admin, topic: string, { partitions, taken }: ClickRecord): Promise<void> => {
  if (!(await admin.listTopics()).includes(topic)) {
    for (let partition = 0; partition < partitions; partition++)
      if (await taken(partition))
        throw new OtherTopic(
          `the topic ${topic} is gone, and clicks have been recorded from it: name another KAFKA_TOPIC`,
        )
    await admin.createTopics({ topics: [{ topic, numPartitions: partitions, configEntries: settings }] })
  }
  const { topics } = await admin.fetchTopicMetadata({ topics: [topic] })
  const found = topics[0]?.partitions.length
  if (found !== partitions)
    throw new Error(
      `the topic ${topic} has ${found} partitions, not ${partitions}: set KAFKA_PARTITIONS to ${found}, or KAFKA_TOPIC to another name`,
    )
  const { resources } = await admin.describeConfigs({
    includeSynonyms: false,
    resources: [{ type: kafkajs.ConfigResourceTypes.TOPIC, name: topic, configNames: ['cleanup.policy'] }],
  })
  const policy = resources[0]?.configEntries[0]?.configValue
  if (policy !== 'delete')
    throw new Error(`the topic ${topic} has cleanup.policy ${policy}, which loses clicks: set it to delete`)
}
