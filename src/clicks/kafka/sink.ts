import { StoreUnavailable } from '../../events/store.ts'
import { ChangedByNewer } from '../../events/unknown.ts'
import { withTimeout } from '../../lib/async/timeout.ts'
import { type EntriesByPartition, furthest, type SeqByPartition } from '../entry.ts'
import { TopicReplaced } from '../partition.ts'
import type { ClickRecord } from '../record.ts'
import type { Log } from '../report.ts'
import type { ClickSink } from '../sink.ts'
import { noAnswer } from './client.ts'
import { cloudEventHeaders } from './cloudevent.ts'
import { encode } from './message.ts'
import type { OutgoingMessage, TopicProducer } from './producer.ts'
import type { ReadSent } from './sent.ts'
import { describeTruncation, type PartitionOffsets } from './topic.ts'

/** bytes of one request before compression; a broker accepts 1 MB */
const requestBytes = 512 * 1024
/** bytes of a message's key and headers */
const overhead = 512
/** ms until a request that is not acknowledged has failed */
const requestTimeout = 20_000

export interface KafkaSink extends ClickSink {
  readonly close: () => Promise<void>
}

export interface KafkaSinkOptions {
  readonly topic: string
  readonly record: Pick<ClickRecord, 'logId' | 'partitions' | 'recordedUpTo' | 'lastMessage'>
  readonly createProducer: () => TopicProducer
  /** undefined: everything that is not recorded is sent again */
  readonly readSent?: ReadSent | undefined
  readonly log?: Log | undefined
}

/** Delivers entries to Kafka: each is acknowledged by all replicas of its partition, in order, at least once. */
export const kafkaSink = ({ topic, record, createProducer, readSent, log }: KafkaSinkOptions): KafkaSink => {
  const closing = new AbortController()
  const floors = createOffsetFloors(topic)
  let replaced: TopicReplaced | undefined
  let producer: TopicProducer | undefined

  const open = async () => {
    const opened = (producer = createProducer())
    // read before the ends of the partitions, because other processes may send and record messages in between
    const recorded = await recordedOffsets(record)
    for (const offsets of await opened.open()) floors.checkEnd(offsets, recorded.get(offsets.partition) ?? 0)
    return opened
  }

  const send = async (messages: readonly OutgoingMessage[]) => {
    const stored = await (producer ?? (await open())).send(messages)
    for (const { partition, offset } of stored) {
      const error = floors.store(
        partition,
        offset,
        messages.filter((message) => message.partition === partition).length,
      )
      // kept: further sends would soon raise the new topic above the old offsets
      if (error) throw (replaced = error)
    }
  }

  const close = async () => {
    const current = producer
    producer = undefined
    await current?.close()
  }

  /** Reads what the topic has already. Without an answer, everything is sent again, and is still recorded once. */
  const sentUpTo = async (spool: string): Promise<SeqByPartition> => {
    if (!readSent || replaced) return {}
    return readSent(spool, await recordedOffsets(record), closing.signal).catch((error: unknown) => {
      log?.('debug', 'the topic could not be asked for what it has already', { topic, err: error })
      return {}
    })
  }

  return {
    resumeAfter: async (spool) =>
      furthest((await record.recordedUpTo(spool).catch(ignoreUnavailable)) ?? {}, await sentUpTo(spool)),

    deliver: async (entries) => {
      try {
        if (replaced) throw replaced
        for (const messages of toRequests(record.logId, entries))
          await withTimeout(requestTimeout, send(messages), noAnswer(requestTimeout))
      } catch (error) {
        // a failed client may hang, or keep retrying in the background
        await close()
        throw error
      }
    },

    close: async () => {
      closing.abort()
      await close()
    },
  }
}

/** Clicks go to Kafka without the event store, and while only a newer release can read what is recorded. */
const ignoreUnavailable = (error: unknown): undefined => {
  if (!(error instanceof StoreUnavailable || error instanceof ChangedByNewer)) throw error
}

/** By partition: the offset after the last message that is recorded. */
const recordedOffsets = async (record: Pick<ClickRecord, 'partitions' | 'lastMessage'>) => {
  const next = new Map<number, number>()
  for (let partition = 0; partition < record.partitions; partition++) {
    const last = await record.lastMessage(partition).catch(ignoreUnavailable)
    if (last) next.set(partition, last.offset + 1)
  }
  return next
}

/** The lowest offset that the next message of a partition can have. A lower one means that the topic was replaced. */
const createOffsetFloors = (topic: string) => {
  const floors = new Map<number, number>()
  const floorOf = (partition: number) => floors.get(partition) ?? 0
  return {
    /** Checks the end of a partition of which everything before `recorded` is recorded. Throws `TopicReplaced`. */
    checkEnd: (offsets: PartitionOffsets, recorded: number) => {
      const { partition } = offsets
      const next = Math.max(recorded, floorOf(partition))
      const reason = describeTruncation(offsets, next)
      if (reason !== undefined) throw new TopicReplaced(`partition ${partition} of ${topic} is truncated: ${reason}`)
      floors.set(partition, next)
    },
    /** Notes that `count` messages were stored from this offset on. Returns the error when the offset is too low. */
    store: (partition: number, offset: number, count: number): TopicReplaced | undefined => {
      if (offset < floorOf(partition))
        return new TopicReplaced(
          `partition ${partition} of ${topic} stored a message at offset ${offset}, but had already reached offset ${floorOf(partition)}`,
        )
      floors.set(partition, offset + count)
      return undefined
    },
  }
}

/** Yields the messages of bounded requests, in which each partition's entries keep their order. */
const toRequests = function* (log: string, entries: EntriesByPartition): Generator<readonly OutgoingMessage[]> {
  let messages: OutgoingMessage[] = []
  let bytes = 0
  for (const [partition, part] of Object.entries(entries))
    for (const entry of part) {
      const { key, value } = encode(log, entry)
      const message = {
        partition: Number(partition),
        key,
        value,
        headers: cloudEventHeaders(log, Number(partition), entry, key),
      }
      const size = Buffer.byteLength(value) + overhead
      if (messages.length > 0 && bytes + size > requestBytes) {
        yield messages
        ;[messages, bytes] = [[], 0]
      }
      messages.push(message)
      bytes += size
    }
  if (messages.length > 0) yield messages
}
