import { randomUUID } from 'node:crypto'
import type { ClickEvent, Taken } from '../events/click.ts'
import { systemMetadata } from '../events/event.ts'
import type { EventStore, ExpectedRevision } from '../events/store.ts'
import { streamId } from '../events/streams.ts'
import { deletedMessages, toEvents } from './batch.ts'
import type { ClickEntry, SeqByPartition } from './entry.ts'
import { checkTopic, type PartitionState, stateAfter } from './partition.ts'

/** A click log in the event log. It records each click exactly once, however many processes record it at the same time. */
export interface ClickRecord {
  /** identity of the event log: a Kafka topic may carry the clicks of several */
  readonly logId: string
  readonly partitions: number
  /** Records what is new of these entries. Throws `TopicReplaced`, or `Unavailable` with some of them recorded. */
  readonly record: (partition: number, entries: readonly ClickEntry[]) => Promise<void>
  /**
   * Records that Kafka deleted the messages at the offsets `from` to `to`, except what was recorded meanwhile. Returns how many of
   * them were not.
   */
  readonly recordDeleted: (partition: number, from: number, to: number) => Promise<number>
  /** Reads the last recorded sequence number of this spool, by partition. */
  readonly recordedUpTo: (spool: string) => Promise<SeqByPartition>
  /** Reads from the log which Kafka message of the partition was recorded last, by this or another process. */
  readonly lastMessage: (partition: number) => Promise<Taken | undefined>
}

export interface ClickRecordOptions {
  readonly store: EventStore
  /** names the click log; its partitions are the streams `clicks-<log>-<partition>` */
  readonly log: string
  /** fixed for ever by the first event of a partition */
  readonly partitions: number
}

/** The last event of a partition's stream. */
interface Tail extends PartitionState {
  readonly revision: ExpectedRevision
}

export const openClickRecord = ({ store, log, partitions }: ClickRecordOptions): ClickRecord => {
  const tails = new Map<number, Tail>()
  const streamOf = (partition: number) => streamId('clicks', log, partition)

  const append = (partition: number, expected: ExpectedRevision, event: ClickEvent) => {
    const events = [{ ...event, id: randomUUID(), metadata: systemMetadata() }]
    return store.append([{ stream: streamOf(partition), expected, events }])
  }

  const checkPartitions = async (partition: number) => {
    for await (const { type, data } of store.read(streamOf(partition), 0n, 1)) {
      if (type !== 'ClickLogOpened' || data.partitions === partitions) return
      throw new Error(
        `the click log ${log} was created with ${data.partitions} partitions and cannot have ${partitions}: set KAFKA_PARTITIONS to ${data.partitions}, or KAFKA_TOPIC to another name`,
      )
    }
  }

  const load = async (partition: number): Promise<Tail> => {
    const last = await store.last(streamOf(partition))
    if (!last) {
      // when two processes open it at once, the first one fixes the number of partitions
      await append(partition, 'no_stream', { type: 'ClickLogOpened', data: { log, partitions } })
      return load(partition)
    }
    await checkPartitions(partition)
    const tail = { revision: last.revision, ...stateAfter(last) }
    tails.set(partition, tail)
    return tail
  }

  const tailOf = async (partition: number) => tails.get(partition) ?? load(partition)

  /** Appends the events in order. Returns false when another process has appended to the stream since `tail` was read. */
  const appendAll = async (partition: number, tail: Tail, events: readonly ClickEvent[]): Promise<boolean> => {
    let { revision } = tail
    for (const event of events) {
      const appended = await append(partition, revision, event).catch((error: unknown) => {
        // it may have been stored: only the stream can say
        tails.delete(partition)
        throw error
      })
      if (!appended.ok) {
        tails.delete(partition)
        return false
      }
      revision = revision === 'no_stream' ? 0n : revision + 1n
      tails.set(partition, { revision, ...stateAfter(event) })
    }
    return true
  }

  return {
    logId: store.logId,
    partitions,
    record: async (partition, entries) => {
      for (;;) {
        const tail = await tailOf(partition)
        checkTopic(tail, entries)
        const events = toEvents(tail, entries)
        if (await appendAll(partition, tail, events)) return
      }
    },
    recordDeleted: async (partition, from, to) => {
      for (;;) {
        const tail = await tailOf(partition)
        const first = Math.max(from, (tail.taken?.offset ?? -1) + 1)
        if (first > to) return 0
        if (await appendAll(partition, tail, [deletedMessages(tail, first, to)])) return to - first + 1
      }
    },
    recordedUpTo: async (spool) => {
      const upTo: Record<number, number> = {}
      for (let partition = 0; partition < partitions; partition++)
        upTo[partition] = (await tailOf(partition)).upTo[spool] ?? 0
      return upTo
    },
    lastMessage: async (partition) => (await load(partition)).taken,
  }
}
