import type { EachBatchPayload, KafkaMessage } from 'kafkajs'
import { backOff } from '../../lib/async/backoff.ts'
import type { ClickEntry } from '../entry.ts'
import type { Log } from '../report.ts'
import { LogWentBack, TopicReplaced } from '../partition.ts'
import type { ClickRecord } from '../record.ts'
import type { Deletions } from './deletions.ts'
import { decode, InvalidMessage } from './message.ts'
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
  readonly deletions: Pick<Deletions, 'recordBefore'>
  /** Called whenever the handler is alive: it recorded something, or failed to. */
  readonly onActivity: () => void
  /** Called when messages that were recorded have to be read again. */
  readonly onLogWentBack: (error: LogWentBack) => void
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
  { topic, record, log, tracker, deletions, onLogWentBack }: BatchHandlerOptions,
  partition: number,
  messages: readonly KafkaMessage[],
): Promise<void> => {
  tracker.startBatch(partition, Number(messages[0]?.timestamp))
  const { entries, failure } = readEntries(messages, record.logId, (offset) =>
    log('error', 'a message that is not a click was skipped', { topic, partition, offset }),
  )
  try {
    await deletions.recordBefore(partition, Number(messages[0]?.offset))
    await record.record(partition, entries)
    if (failure) throw failure
    tracker.finishBatch(partition)
    tracker.succeeded()
  } catch (error) {
    if (error instanceof LogWentBack) onLogWentBack(error)
    if (!(error instanceof TopicReplaced || error instanceof InvalidMessage)) throw error
    tracker.halt(partition, error)
  }
}

/** Returns our entries up to the first message that must not be skipped, and the error of that message. */
const readEntries = (
  messages: readonly KafkaMessage[],
  ourLog: string,
  onSkipped: (offset: string) => void,
): { readonly entries: readonly ClickEntry[]; readonly failure?: unknown } => {
  const entries: ClickEntry[] = []
  for (const { value, offset } of messages)
    try {
      const message = decode(value, Number(offset), ourLog)
      if (!message) onSkipped(offset)
      else if (message.log === ourLog) entries.push(message.entry)
    } catch (failure) {
      return { entries, failure }
    }
  return { entries }
}

/**
 * Runs the work again until it succeeds or the partition is no longer ours. Heartbeats keep our place in the group
 * meanwhile; throws what one of them throws.
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
