import type { EachBatchPayload, KafkaMessage } from 'kafkajs'
import { backOff } from '../../lib/backoff.ts'
import type { ClickEntry } from '../entry.ts'
import type { Log } from '../report.ts'
import { TopicReplaced } from '../partition.ts'
import type { ClickRecord } from '../record.ts'
import { decode } from './message.ts'
import type { Positions } from './positions.ts'
import type { RecorderTracker } from './tracker.ts'

/** messages recorded at a time */
const sliceSize = 500

export interface BatchHandlerOptions {
  readonly topic: string
  readonly record: ClickRecord
  readonly log: Log
  readonly tracker: RecorderTracker
  readonly positions: Positions
  /** Called whenever the handler is alive: it recorded something, or failed to. */
  readonly onActivity: () => void
  /** the consumer is stopping */
  readonly ending: AbortSignal
}

/** Returns the consumer's `eachBatch`: it records the messages, and retries while the event log is unavailable. */
export const createBatchHandler = (options: BatchHandlerOptions) => {
  const { tracker, positions, onActivity, ending } = options

  return async (payload: EachBatchPayload): Promise<void> => {
    const { partition, messages, highWatermark } = payload.batch
    const isOurs = () => payload.isRunning() && !payload.isStale() && !ending.aborted
    const heartbeat = () => payload.heartbeat()
    for (let at = 0; at < messages.length && isOurs();) {
      const slice = messages.slice(at, (at += sliceSize))
      if (!tracker.isHalted(partition))
        await retryWithHeartbeats(options, { heartbeat, isOurs }, () => recordMessages(options, partition, slice))
      if (tracker.isHalted(partition)) return void payload.pause()
      if (!isOurs()) return
      const { offset } = slice.at(-1)!
      payload.resolveOffset(offset)
      positions.advance(partition, Number(offset))
      tracker.setLag(partition, Number(highWatermark) - Number(offset) - 1)
      onActivity()
      await heartbeat()
    }
  }
}

const recordMessages = async (
  { topic, record, log, tracker }: BatchHandlerOptions,
  partition: number,
  messages: readonly KafkaMessage[],
): Promise<void> => {
  tracker.startBatch(partition, Number(messages[0]?.timestamp))
  const entries = messages.flatMap(({ value, offset }): ClickEntry[] => {
    const message = decode(value, Number(offset))
    if (!message) log('error', 'a message that is not a click was skipped', { topic, partition, offset })
    return message?.log === record.logId ? [message.entry] : []
  })
  try {
    await record.record(partition, entries)
    tracker.finishBatch(partition)
    tracker.succeeded()
  } catch (error) {
    if (!(error instanceof TopicReplaced)) throw error
    tracker.halt(partition, error)
  }
}

/**
 * Runs the work again until it succeeds or the partition is no longer ours. Heartbeats keep our place in the group meanwhile;
 * throws what one of them throws.
 */
const retryWithHeartbeats = async (
  { tracker, onActivity, ending }: BatchHandlerOptions,
  { heartbeat, isOurs }: { readonly heartbeat: () => Promise<void>; readonly isOurs: () => boolean },
  work: () => Promise<void>,
): Promise<void> => {
  let heartbeatError: unknown
  const beats = setInterval(() => void heartbeat().catch((error: unknown) => (heartbeatError = error)), 1000)
  const retries = backOff({ from: 100, to: 2000, signal: ending })
  try {
    while (isOurs()) {
      try {
        return await work()
      } catch (error) {
        tracker.failed(error)
      }
      onActivity()
      await retries.pause()
      if (heartbeatError) throw heartbeatError
    }
  } finally {
    clearInterval(beats)
  }
}
