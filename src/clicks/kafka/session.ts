import type { Admin, Consumer, EachBatchHandler } from 'kafkajs'
import { setTimeout as sleep } from 'node:timers/promises'
import { aborted } from '../../lib/async/aborted.ts'
import { withTimeout } from '../../lib/async/timeout.ts'
import type { ClickRecord } from '../record.ts'
import { createBatchHandler } from './batchhandler.ts'
import { createDeletions } from './deletions.ts'
import { createKafkaClient, type KafkaOptions, noAnswer } from './client.ts'
import { createPositions, type Positions } from './positions.ts'
import { explainFailure } from './failure.ts'
import { ensureTopic } from './ensuretopic.ts'
import { groupOf } from './topic.ts'
import type { RecorderTracker } from './tracker.ts'

/** ms between looks at the topic's offsets; ms without progress after which the consumer is replaced; ms to start */
const [checkInterval, stallTimeout, startTimeout] = [5000, 30_000, 60_000]

export interface SessionOptions extends KafkaOptions {
  readonly record: ClickRecord
  readonly tracker: RecorderTracker
}

/**
 * Records the topic with one consumer. Resolves when `stopped` aborts, or a halted partition can go on; rejects when
 * the consumer crashes, stalls or cannot start. It is then to be replaced, not repaired.
 */
export const runSession = async (options: SessionOptions, stopped: AbortSignal): Promise<void> => {
  const { topic, record, tracker } = options
  const { admin, consumer, close } = createClients(options)
  const crashed = new AbortController()
  const ending = AbortSignal.any([stopped, crashed.signal])
  const positions = createPositions(topic, record, tracker)
  const deletions = createDeletions({ topic, record, tracker, positions, admin })
  let [activeAt, batches] = [performance.now(), 0]
  const onActivity = () => {
    activeAt = performance.now()
  }

  const start = async () => {
    await admin.connect()
    await ensureTopic(admin, options, record)
    await positions.restore()
    await positions.check(admin)
    consumer.on(consumer.events.CRASH, ({ payload }) => crashed.abort(payload.error))
    seekOnJoin(consumer, options, positions)
    await consumer.connect()
    await consumer.subscribe({ topics: [topic], fromBeginning: true })
    const onLogWentBack = (error: unknown) => crashed.abort(error)
    const handle = createBatchHandler({ ...options, positions, deletions, onActivity, onLogWentBack, ending })
    const eachBatch: EachBatchHandler = async (payload) => {
      batches++
      await handle(payload).finally(() => batches--)
    }
    // the event log decides what is new, not what is committed
    await consumer.run({ autoCommit: false, eachBatchAutoResolve: false, eachBatch })
  }

  const look = async () => {
    await positions.check(admin)
    await deletions.recordEmpty(batches > 0)
    await deletions.commit(consumer)
  }

  const watch = async () => {
    while (!ending.aborted) {
      await sleep(checkInterval, undefined, { ref: false })
      await withTimeout(checkInterval, look()).catch(() => {})
      if (positions.assigned().some((p) => tracker.resume(p, positions.low(p)))) return
      const isBehind = positions.assigned().some((p) => !tracker.isHalted(p) && tracker.hasLag(p))
      if (!isBehind) onActivity()
      if (performance.now() - activeAt > stallTimeout)
        throw new Error(`the consumer made no progress for ${stallTimeout / 1000} s and is replaced`)
    }
  }

  const ended = aborted(ending)
  try {
    // neither waits for a client that may leave us without an answer for ever
    await withTimeout(startTimeout, Promise.race([explainFailure(options, start()), ended]), noAnswer(startTimeout))
    await Promise.race([watch(), ended])
    if (crashed.signal.aborted && !stopped.aborted) throw crashed.signal.reason
  } finally {
    crashed.abort()
    tracker.left()
    await close()
  }
}

/**
 * Continues the partitions where the event log ends. Runs in the event itself, because the first fetch follows at once.
 */
const seekOnJoin = (consumer: Consumer, { topic, tracker }: SessionOptions, positions: Positions) =>
  consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => {
    tracker.joined()
    positions.assign(payload.memberAssignment[topic] ?? [])
    for (const partition of positions.assigned())
      consumer.seek({ topic, partition, offset: String(positions.seekOffset(partition)) })
  })

interface Clients {
  readonly admin: Admin
  readonly consumer: Consumer
  readonly close: () => Promise<void>
}

const createClients = (options: SessionOptions): Clients => {
  const closed = new AbortController()
  const admin = createKafkaClient(options, closed.signal).admin()
  const consumer = createKafkaClient(options, closed.signal).consumer({
    groupId: groupOf(options.topic, options.record),
    allowAutoTopicCreation: false,
    sessionTimeout: 10_000,
    heartbeatInterval: 2000,
    rebalanceTimeout: 20_000,
    // lets messages gather at the broker, so that an event of the log holds many clicks
    maxWaitTimeInMs: 250,
    minBytes: 64 * 1024,
    // compressed: ten times as much in memory
    maxBytesPerPartition: 256 * 1024,
    maxBytes: 1024 * 1024,
  })
  return {
    admin,
    consumer,
    close: async () => {
      // waits for what is being recorded, and leaves the group, so that other members get the partitions at once
      await withTimeout(5000, Promise.all([consumer.disconnect(), admin.disconnect()])).catch(() => {})
      closed.abort()
    },
  }
}
