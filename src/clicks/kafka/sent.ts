import type { Consumer, EachBatchPayload } from 'kafkajs'
import { randomUUID } from 'node:crypto'
import { withTimeout } from '../../lib/async/timeout.ts'
import type { SeqByPartition } from '../entry.ts'
import type { ClickRecord } from '../record.ts'
import { createKafkaClient, type KafkaOptions, noAnswer } from './client.ts'
import { originOf } from './message.ts'
import { fetchOffsets, groupOf, type PartitionOffsets } from './topic.ts'

/** messages at the end of a partition that are looked at */
const longestTail = 10_000
/** ms to read them; what is not found by then is sent again */
const readTimeout = 10_000

/**
 * Reads which entries of a spool the topic has that are not recorded yet: the highest sequence number of each
 * partition, as far as it is found. The spool's entries are sent in order, so that all lower ones were stored, too.
 * `recorded` has the offset after the last recorded message of each partition. Rejects when Kafka does not answer.
 */
export type ReadSent = (
  spool: string,
  recorded: ReadonlyMap<number, number>,
  signal: AbortSignal,
) => Promise<SeqByPartition>

export const createSentReader =
  (options: KafkaOptions, record: Pick<ClickRecord, 'logId'>): ReadSent =>
  async (spool, recorded, signal) => {
    const { topic } = options
    const closed = new AbortController()
    const abandoned = AbortSignal.any([closed.signal, signal])
    const admin = createKafkaClient(options, abandoned).admin()
    const groupId = `${groupOf(topic, record)}.sent.${randomUUID()}`
    const consumer = createKafkaClient(options, abandoned).consumer({ groupId, allowAutoTopicCreation: false })
    const sent: Record<number, number> = {}

    const read = async () => {
      await admin.connect()
      if (!(await admin.listTopics()).includes(topic)) return
      const tails = (await fetchOffsets(admin, topic)).map((offsets) => tailOf(offsets, recorded))
      if (tails.every(isEmpty)) return
      await readTails(consumer, topic, tails, (partition, value) => {
        const origin = value?.includes(spool) ? originOf(value) : undefined
        if (origin?.log === record.logId && origin.spool === spool)
          sent[partition] = Math.max(origin.seq, sent[partition] ?? 0)
      })
    }
    const close = async () => {
      await consumer.disconnect()
      // an empty group without offsets would go by itself, but only later
      await admin.deleteGroups([groupId]).catch(() => {})
      await admin.disconnect()
    }

    try {
      await withTimeout(readTimeout, read(), noAnswer(readTimeout))
    } catch (error) {
      if (Object.keys(sent).length === 0) throw error
    } finally {
      await withTimeout(1000, close()).catch(() => {})
      closed.abort()
    }
    return sent
  }

/** The messages `start` to `end` (exclusive) of a partition. */
interface Tail {
  readonly partition: number
  readonly start: number
  readonly end: number
}

const isEmpty = ({ start, end }: Tail) => start >= end

const tailOf = ({ partition, low, high }: PartitionOffsets, recorded: ReadonlyMap<number, number>): Tail => ({
  partition,
  start: Math.max(low, recorded.get(partition) ?? 0, high - longestTail),
  end: high,
})

/** Resolves when all messages of the tails were passed to `onMessage`. */
const readTails = async (
  consumer: Consumer,
  topic: string,
  tails: readonly Tail[],
  onMessage: (partition: number, value: Buffer | null) => void,
): Promise<void> => {
  const unread = new Map(tails.filter((tail) => !isEmpty(tail)).map(({ partition, end }) => [partition, end]))
  let finish = () => {}
  const finished = new Promise<void>((resolve, reject) => {
    finish = resolve
    consumer.on(consumer.events.CRASH, ({ payload }) => reject(payload.error))
  })
  consumer.on(consumer.events.GROUP_JOIN, () => {
    for (const { partition, start, end } of tails)
      consumer.seek({ topic, partition, offset: String(Math.min(start, end)) })
  })
  const eachBatch = async (payload: EachBatchPayload) => {
    const { batch } = payload
    const { partition } = batch
    for (const { value } of batch.messages) onMessage(partition, value)
    payload.resolveOffset(batch.lastOffset())
    if (Number(batch.lastOffset()) + 1 >= (unread.get(partition) ?? Infinity)) unread.delete(partition)
    if (unread.size === 0) finish()
  }
  await consumer.connect()
  await consumer.subscribe({ topics: [topic], fromBeginning: true })
  await consumer.run({ autoCommit: false, eachBatchAutoResolve: false, eachBatch })
  await finished
}
