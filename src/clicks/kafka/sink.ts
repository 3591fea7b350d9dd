import { type Admin, CompressionTypes, Partitioners, type Producer } from 'kafkajs'
import { type ClickRecord, type ClickSink, OtherTopic, type Partitioned } from '../visit.ts'
import { StoreUnavailable } from '../../events/store.ts'
import { ensureTopic, inTime, type KafkaOptions, openKafka, reaches, shortage, within } from './client.ts'
import { encode } from './message.ts'

/** What one request may come to before it is compressed; the broker takes 1 MB. */
const requestBytes = 512 * 1024
/** ms that it may take until one is acknowledged */
const patience = 20_000

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
  /** by partition: the offset that a message must have at least */
  const floors = new Map<number, number>()
  let other: OtherTopic | undefined
  let line: Line | undefined

  const open = async ({ admin, producer }: Line) => {
    await admin.connect()
    await ensureTopic(admin, topic, record)
    for (const reach of await reaches(admin, topic)) {
      const taken = await record.taken(reach.partition).catch(unlessAway)
      const next = Math.max(taken ? taken.offset + 1 : 0, floors.get(reach.partition) ?? 0)
      const reason = shortage(reach, next)
      if (reason !== undefined) throw new OtherTopic(`partition ${reach.partition} of ${topic} is cut short: ${reason}`)
      floors.set(reach.partition, next)
    }
    await admin.disconnect()
    await producer.connect()
  }

  const send = async (messages: readonly Outgoing[]) => {
    const isNew = line === undefined
    const current = (line ??= newLine(options))
    if (isNew) await open(current)
    const answers = await current.producer.sendBatch({
      acks: -1,
      timeout: 5000,
      compression: CompressionTypes.GZIP,
      topicMessages: [{ topic, messages: [...messages] }],
    })
    for (const { partition, baseOffset = '0' } of answers) {
      const [at, floor] = [Number(baseOffset), floors.get(partition) ?? 0]
      // what is sent again and again would soon stand above the old offsets
      if (at < floor)
        throw (other = new OtherTopic(
          `partition ${partition} took a message at offset ${at}, though it had reached ${floor}`,
        ))
      floors.set(partition, at + messages.filter((message) => message.partition === partition).length)
    }
  }

  const drop = async () => {
    const dropped = line
    line = undefined
    await dropped?.close()
  }

  return {
    reached: (spool) => record.reached(spool).catch((error: unknown) => unlessAway(error) ?? {}),

    take: async (entries) => {
      try {
        if (other) throw other
        for (const messages of requests(record.logId, entries)) await inTime(patience, send(messages))
      } catch (error) {
        // a client in trouble may hang, or go on trying behind our back
        await drop()
        throw error
      }
    },

    close: drop,
  }
}

/** A client, for as long as all goes well. */
interface Line {
  readonly admin: Admin
  readonly producer: Producer
  readonly close: () => Promise<void>
}
const newLine = (options: KafkaOptions): Line => {
  const closed = new AbortController()
  const admin = openKafka(options, closed.signal).admin()
  const producer = openKafka(options, closed.signal).producer({
    // its numbers do not outlive the client, and it gives up for good when a broker has forgotten them
    idempotent: false,
    maxInFlightRequests: 1,
    allowAutoTopicCreation: false,
    createPartitioner: Partitioners.DefaultPartitioner,
  })
  return {
    admin,
    producer,
    close: async () => {
      await within(1000, Promise.all([admin.disconnect(), producer.disconnect()]))
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
