import type { EachBatchPayload, KafkaMessage } from 'kafkajs'
import { setTimeout as sleep } from 'node:timers/promises'
import { type ClickEntry, type ClickRecord, OtherTopic } from '../visit.ts'
import { ensureTopic, inTime, type KafkaOptions, openKafka, reaches, shortage, within } from './client.ts'
import { decode } from './message.ts'

export interface TopicRecorder {
  readonly state: () => {
    /** in the group, with partitions or in wait for them */
    readonly connected: boolean
    /** messages of the partitions this process has that are not recorded */
    readonly lag: number
    /** seconds since the oldest of those that are being recorded was sent */
    readonly late: number
    /** partitions that somebody has to look after */
    readonly halted: readonly { readonly partition: number; readonly reason: string }[]
    readonly problem: string | undefined
  }
  readonly stop: () => Promise<void>
}
export interface TopicRecorderOptions extends KafkaOptions {
  readonly record: ClickRecord
  readonly onProblem: (error: unknown, what: string) => void
}

/** Each event log has its clicks of a topic recorded by a group of its own. */
export const groupOf = (topic: string, { logId }: Pick<ClickRecord, 'logId'>) => `${topic}.${logId}`

/** Messages that are recorded at a time. */
const most = 500
const [watchEvery, patience] = [5000, 30_000]

/**
 * Records the topic's messages, as one of a consumer group that shares its partitions. Where to read on stands in the log; what the
 * group knows of offsets is not used. Two that take a partition for theirs do no harm: the log takes each entry once.
 */
export const startTopicRecorder = (options: TopicRecorderOptions): TopicRecorder => {
  const { topic, record, log, onProblem } = options
  const stopped = new AbortController()
  const halted = new Map<number, string>()
  /** partitions that end before what was recorded of them, and how often that was seen */
  const short = new Map<number, { readonly reason: string; readonly looks: number }>()
  const lags = new Map<number, number>()
  const taking = new Map<number, number>()
  let connected = false
  let problem: string | undefined

  const tell = (error: unknown, what: string) => {
    const text = error instanceof Error ? error.message : String(error)
    if (text !== problem) onProblem(error, what)
    problem = text
  }
  const halt = (partition: number, error: OtherTopic) => {
    if (halted.has(partition)) return
    halted.set(partition, error.message)
    onProblem(error, `partition ${partition} of ${topic} is not the one that was recorded from: it is halted`)
  }

  /** One consumer, until it crashes, stalls or is to stop. */
  const session = async () => {
    const closed = new AbortController()
    const admin = openKafka(options, closed.signal).admin()
    // a commit would be the group's word against the log's
    const consumer = openKafka(options, closed.signal).consumer({
      groupId: groupOf(topic, record),
      allowAutoTopicCreation: false,
      sessionTimeout: 10_000,
      heartbeatInterval: 2000,
      rebalanceTimeout: 20_000,
      // lingers at the broker, so that an event of the log holds many clicks
      maxWaitTimeInMs: 250,
      minBytes: 64 * 1024,
      // compressed: ten times as much in memory
      maxBytesPerPartition: 256 * 1024,
      maxBytes: 1024 * 1024,
    })
    const over = new AbortController()
    const end = AbortSignal.any([stopped.signal, over.signal])
    /** by partition: the offset to read next, and where reading it began */
    const next = new Map<number, number>()
    const lows = new Map<number, number>()
    let assigned: readonly number[] = []
    let moved = Date.now()

    const look = async () => {
      for (const reach of await reaches(admin, topic)) {
        const { partition, low, high } = reach
        lows.set(partition, low)
        const at = next.get(partition) ?? low
        if (assigned.includes(partition)) lags.set(partition, Math.max(0, high - Math.max(at, low)))
        // a broker that has just become the leader may tell less than it has: it is asked again
        const reason = shortage(reach, at)
        const { looks = 0 } = short.get(partition) ?? {}
        if (reason === undefined) short.delete(partition)
        else short.set(partition, { reason, looks: looks + 1 })
        if (reason !== undefined && looks === 1)
          onProblem(new OtherTopic(reason), `partition ${partition} of ${topic} is cut short`)
      }
    }

    /** From the last message taken on, so that it can be compared with the one that stands there. */
    const seek = (partition: number) => {
      const at = next.get(partition)
      if (at !== undefined)
        consumer.seek({ topic, partition, offset: String(Math.max(at - 1, lows.get(partition) ?? 0)) })
    }

    const handle = async (given: EachBatchPayload) => {
      const { partition, messages, highWatermark } = given.batch
      const isOurs = () => given.isRunning() && !given.isStale() && !end.aborted
      for (let at = 0; at < messages.length && isOurs();) {
        const slice = messages.slice(at, (at += most))
        if (!halted.has(partition))
          await beating(
            () => given.heartbeat(),
            isOurs,
            () => take(partition, slice),
          )
        if (halted.has(partition)) return void given.pause()
        if (!isOurs()) return
        const last = slice.at(-1)!.offset
        given.resolveOffset(last)
        next.set(partition, Number(last) + 1)
        lags.set(partition, Math.max(0, Number(highWatermark) - Number(last) - 1))
        moved = Date.now()
        await given.heartbeat()
      }
    }

    const take = async (partition: number, messages: readonly KafkaMessage[]) => {
      taking.set(partition, Number(messages[0]?.timestamp))
      const entries = messages.flatMap(({ value, offset }): ClickEntry[] => {
        const message = decode(value, Number(offset))
        if (!message) log('error', 'a message that is no click was passed over', { topic, partition, offset })
        return message?.log === record.logId ? [message.entry] : []
      })
      try {
        await record.record(partition, entries)
        taking.delete(partition)
        problem = undefined
      } catch (error) {
        if (!(error instanceof OtherTopic)) throw error
        halt(partition, error)
      }
    }

    /** Again and again until it is done; the group must not take us for dead meanwhile. Throws what a heartbeat throws. */
    const beating = async (heartbeat: () => Promise<void>, isOurs: () => boolean, run: () => Promise<void>) => {
      let lost: unknown
      const beat = setInterval(() => void heartbeat().catch((error: unknown) => (lost = error)), 1000)
      try {
        for (let wait = 100; isOurs(); wait = Math.min(wait * 2, 2000)) {
          try {
            return await run()
          } catch (error) {
            tell(error, 'clicks wait in Kafka')
          }
          moved = Date.now()
          await sleep(wait, undefined, { signal: end }).catch(() => {})
          if (lost) throw lost
        }
      } finally {
        clearInterval(beat)
      }
    }

    const begin = async () => {
      await admin.connect()
      await ensureTopic(admin, topic, record)
      for (let partition = 0; partition < record.partitions; partition++) {
        const taken = await record.taken(partition)
        if (taken) next.set(partition, taken.offset + 1)
      }
      await look()
      consumer.on(consumer.events.CRASH, ({ payload }) => over.abort(payload.error))
      // at once: the first fetch comes right after
      consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => {
        connected = true
        problem = undefined
        assigned = payload.memberAssignment[topic] ?? []
        lags.clear()
        taking.clear()
        for (const partition of assigned) seek(partition)
      })
      await consumer.connect()
      await consumer.subscribe({ topics: [topic], fromBeginning: true })
      await consumer.run({ autoCommit: false, eachBatchAutoResolve: false, eachBatch: handle })
    }

    const work = async () => {
      await inTime(2 * patience, begin())
      while (!end.aborted) {
        await sleep(watchEvery, undefined, { ref: false })
        await inTime(watchEvery, look()).catch(() => {})
        const behind = assigned.filter((partition) => !halted.has(partition) && (lags.get(partition) ?? 0) > 0)
        if (behind.length === 0) moved = Date.now()
        if (Date.now() - moved > patience) throw new Error('the consumer stalls, and is made anew')
      }
    }

    try {
      // a client that waits for an answer is not waited for
      await Promise.race([work(), aborted(end)])
      if (!stopped.signal.aborted) throw over.signal.reason
    } finally {
      over.abort()
      connected = false
      // it waits for what is being recorded, and leaves the group, so that another has the partitions at once
      await within(5000, Promise.all([consumer.disconnect(), admin.disconnect()]))
      closed.abort()
    }
  }

  const run = async () => {
    for (let wait = 500; !stopped.signal.aborted; wait = Math.min(wait * 2, 3000)) {
      const began = Date.now()
      await session().catch((error: unknown) => tell(error, 'clicks wait in Kafka'))
      if (Date.now() - began > 60_000) wait = 500
      await sleep(wait, undefined, { signal: stopped.signal }).catch(() => {})
    }
  }
  const running = run()

  return {
    state: () => ({
      connected,
      lag: [...lags.values()].reduce((sum, lag) => sum + lag, 0),
      late: Math.max(0, ...[...taking.values()].map((sent) => (Date.now() - sent) / 1000)),
      halted: [
        ...[...halted].map(([partition, reason]) => ({ partition, reason })),
        ...[...short].flatMap(([partition, { reason, looks }]) =>
          looks > 1 && !halted.has(partition) ? [{ partition, reason }] : [],
        ),
      ],
      problem,
    }),
    stop: async () => {
      stopped.abort()
      await running
    },
  }
}

const aborted = (signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
