import { withTimeout } from '../../lib/async/timeout.ts'
import type { ClickRecord } from '../record.ts'
import { createKafkaClient, type KafkaOptions } from './client.ts'
import { explainFailure } from './failure.ts'
import { ensureTopic } from './ensuretopic.ts'
import { fetchOffsets, type PartitionOffsets } from './topic.ts'
import { library } from './library.ts'

export interface OutgoingMessage {
  readonly partition: number
  readonly key: string | null
  readonly value: string
  readonly headers?: Readonly<Record<string, string>>
}

/** A connection to the topic that is used until something fails, and then replaced by a new one. */
export interface TopicProducer {
  /** Connects, ensures the topic, and returns how far its partitions reach. */
  readonly open: () => Promise<readonly PartitionOffsets[]>
  /**
   * Sends the messages in one request. Resolves when all replicas have them, with the offset of the first message of
   * each partition. After a rejection the broker may still have stored them.
   */
  readonly send: (
    messages: readonly OutgoingMessage[],
  ) => Promise<readonly { readonly partition: number; readonly offset: number }[]>
  readonly close: () => Promise<void>
}

export interface TopicProducerOptions extends KafkaOptions {
  readonly record: Pick<ClickRecord, 'partitions' | 'lastMessage'>
}

/** Creates a producer that connects when it is opened. */
export const createTopicProducer = (options: TopicProducerOptions): TopicProducer => {
  const { topic, record } = options
  const closed = new AbortController()
  const admin = createKafkaClient(options, closed.signal).admin()
  const producer = createKafkaClient(options, closed.signal).producer({
    // its numbers do not outlive the client, and it gives up for good when a broker has forgotten them
    idempotent: false,
    maxInFlightRequests: 1,
    allowAutoTopicCreation: false,
    createPartitioner: library().Partitioners.DefaultPartitioner,
  })

  const open = async () => {
    await admin.connect()
    await ensureTopic(admin, options, record)
    const offsets = await fetchOffsets(admin, topic)
    await admin.disconnect()
    await producer.connect()
    return offsets
  }

  return {
    open: () => explainFailure(options, open()),

    send: async (messages) => {
      const stored = await producer.sendBatch({
        acks: -1,
        timeout: 5000,
        compression: library().CompressionTypes.GZIP,
        topicMessages: [{ topic, messages: [...messages] }],
      })
      return stored.map(({ partition, baseOffset = '0' }) => ({ partition, offset: Number(baseOffset) }))
    },

    close: async () => {
      // a client that hangs is abandoned
      await withTimeout(1000, Promise.all([admin.disconnect(), producer.disconnect()])).catch(() => {})
      closed.abort()
    },
  }
}
