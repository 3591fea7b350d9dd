import { CompressionTypes, Partitioners, type Producer } from 'kafkajs'
import { type ClickRecord, type ClickSink, OtherTopic, type Partitioned } from '../clicklog.ts'
import { StoreUnavailable } from '../store.ts'
import { checkReach, ensureTopic, type KafkaOptions, openKafka, reaches, within } from './kafka.ts'
import { encode } from './message.ts'

/** What one request may come to before it is compressed; the broker takes 1 MB. */
const requestBytes = 512 * 1024

interface Outgoing {
  readonly partition: number
  readonly key: string | null
  readonly value: string
}

export interface KafkaSink extends ClickSink {
  readonly close: () => Promise<void>
}
export interface KafkaSinkOptions extends KafkaOptions {
  readonly record: ClickRecord & Pick<ClickSink, 'reached'>
}

/** Takes entries to Kafka: every one of them is acknowledged by all replicas in its partition, in order, at least once. */
export const kafkaSink = (options: KafkaSinkOptions): KafkaSink => {
  const { topic, record } = options
  const closed = new AbortController()
  const producer = openKafka(options, closed.signal).producer({
    // both lose messages in this client when a broker goes and comes
    idempotent: false,
    maxInFlightRequests: 1,
    allowAutoTopicCreation: false,
    createPartitioner: Partitioners.DefaultPartitioner,
  })
  /** by partition: the offset that a message must have at least */
  const floors = new Map<number, number>()
  let other: OtherTopic | undefined
  let ready: Promise<Producer> | undefined

  const open = async () => {
    const admin = openKafka(options, closed.signal).admin()
    try {
      await admin.connect()
      await ensureTopic(admin, topic, record)
      for (const reach of await reaches(admin, topic)) {
        const taken = await record.taken(reach.partition).catch(unlessAway)
        if (taken) checkReach(reach, taken.offset + 1)
        if (taken) floors.set(reach.partition, taken.offset + 1)
      }
    } finally {
      await within(3000, admin.disconnect())
    }
    await producer.connect()
    return producer
  }

  const connected = () =>
    (ready ??= open().catch((error: unknown) => {
      ready = undefined
      throw error
    }))

  const send = async (messages: readonly Outgoing[]) => {
    const answers = await (
      await connected()
    ).sendBatch({
      acks: -1,
      timeout: 5000,
      compression: CompressionTypes.GZIP,
      topicMessages: [{ topic, messages: [...messages] }],
    })
    for (const { partition, baseOffset = '0' } of answers) {
      const [at, floor] = [Number(baseOffset), floors.get(partition) ?? 0]
      if (at < floor)
        throw new OtherTopic(`partition ${partition} took a message at offset ${at}, though it had reached ${floor}`)
      floors.set(partition, at + messages.filter((message) => message.partition === partition).length)
    }
  }

  return {
    reached: (spool) => record.reached(spool).catch((error: unknown) => unlessAway(error) ?? {}),

    take: async (entries) => {
      try {
        if (other) throw other
        for (const messages of requests(record.logId, entries)) await send(messages)
      } catch (error) {
        // what is sent again and again would soon stand above the old offsets
        if (error instanceof OtherTopic) other = error
        throw error
      }
    },

    close: async () => {
      await within(1000, producer.disconnect())
      closed.abort()
    },
  }
}

/** Without the event store clicks still go to Kafka. */
const unlessAway = (error: unknown): undefined => {
  if (!(error instanceof StoreUnavailable)) throw error
}

/** Bounded requests, in which each partition's entries keep their order. */
const requests = function* (log: string, entries: Partitioned): Generator<readonly Outgoing[]> {
  let messages: Outgoing[] = []
  let bytes = 0
  for (const [partition, part] of Object.entries(entries))
    for (const entry of part) {
      const message = { partition: Number(partition), ...encode(log, entry) }
      const size = Buffer.byteLength(message.value) + 128
      if (messages.length > 0 && bytes + size > requestBytes) {
        yield messages
        ;[messages, bytes] = [[], 0]
      }
      messages.push(message)
      bytes += size
    }
  if (messages.length > 0) yield messages
}
