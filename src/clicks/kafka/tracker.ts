import { isNews, type OnProblem } from '../report.ts'
import { TopicReplaced } from '../partition.ts'
import { type DeletedMessages, describeDeleted, type RecorderState } from '../state.ts'
import { InvalidMessage } from './message.ts'

/** Kafka deleted messages that were not recorded yet: their clicks are lost. */
export class MessagesDeleted extends Error {
  override readonly name = 'MessagesDeleted'
}

/** Keeps what an operator should know of a recorder, across its consumers, and reports each new problem once. */
export interface RecorderTracker {
  readonly state: () => RecorderState
  readonly failed: (error: unknown) => void
  /** Clears the problem. */
  readonly succeeded: () => void
  /** The consumer has joined the group: lags and ages of its former partitions no longer matter. */
  readonly joined: () => void
  readonly left: () => void
  /** Stops recording a partition until an operator acts. */
  readonly halt: (partition: number, error: TopicReplaced | InvalidMessage) => void
  readonly isHalted: (partition: number) => boolean
  /**
   * Returns true when the partition was halted at a message that has been deleted since; then it is no longer halted.
   */
  readonly resume: (partition: number, low: number) => boolean
  /** Kafka deleted messages before they were recorded. */
  readonly lost: (deleted: DeletedMessages) => void
  /** Sets how many messages of a partition are not recorded. */
  readonly setLag: (partition: number, lag: number) => void
  readonly hasLag: (partition: number) => boolean
  /** A batch is being recorded whose first message was sent at this time (ms since 1970). */
  readonly startBatch: (partition: number, sentAt: number) => void
  readonly finishBatch: (partition: number) => void
  /** Sets whether the partition ends too early, and why. */
  readonly setTruncation: (partition: number, reason: string | undefined) => void
}

/**
 * How often a truncation must be seen: a broker that has just become the leader may not know its latest messages yet.
 */
const confirmations = 2

/** Counts how often each partition was seen to end too early. */
const createTruncations = () => {
  const truncations = new Map<number, { readonly reason: string; readonly seen: number }>()
  return {
    confirmed: () =>
      [...truncations].flatMap(([partition, { reason, seen }]) =>
        seen >= confirmations ? [{ partition, reason }] : [],
      ),
    clear: (partition: number) => void truncations.delete(partition),
    /** Returns whether it has just been seen often enough. */
    add: (partition: number, reason: string) => {
      const seen = (truncations.get(partition)?.seen ?? 0) + 1
      truncations.set(partition, { reason, seen })
      return seen === confirmations
    },
  }
}

export const createTracker = (topic: string, onProblem: OnProblem): RecorderTracker => {
  const halted = new Map<number, TopicReplaced | InvalidMessage>()
  const deletions = new Map<number, DeletedMessages>()
  const truncations = createTruncations()
  const lags = new Map<number, number>()
  const sentTimes = new Map<number, number>()
  let connected = false
  let problem: string | undefined

  const truncated = () => truncations.confirmed().filter(({ partition }) => !halted.has(partition))

  return {
    state: () => ({
      connected,
      lag: [...lags.values()].reduce((sum, lag) => sum + lag, 0),
      lagSeconds: Math.max(0, ...[...sentTimes.values()].map((sentAt) => (Date.now() - sentAt) / 1000)),
      halted: [...[...halted].map(([partition, { message }]) => ({ partition, reason: message })), ...truncated()],
      deleted: [...deletions.values()],
      problem,
    }),
    failed: (error) => {
      const text = error instanceof Error ? error.message : String(error)
      if (isNews(error, text, problem)) onProblem(error, 'clicks wait in Kafka')
      problem = text
    },
    succeeded: () => (problem = undefined),
    joined: () => {
      connected = true
      problem = undefined
      lags.clear()
      sentTimes.clear()
    },
    left: () => (connected = false),
    halt: (partition, error) => {
      if (halted.has(partition)) return
      halted.set(partition, error)
      const reason =
        error instanceof InvalidMessage ? 'it has an invalid message' : 'it is not the one that was recorded from'
      onProblem(error, `partition ${partition} of ${topic} is halted: ${reason}`)
    },
    isHalted: (partition) => halted.has(partition),
    resume: (partition, low) => {
      const error = halted.get(partition)
      return error instanceof InvalidMessage && error.offset < low && halted.delete(partition)
    },
    lost: (deleted) => {
      const { partition, messages, upTo } = deleted
      deletions.set(partition, { partition, messages: messages + (deletions.get(partition)?.messages ?? 0), upTo })
      onProblem(new MessagesDeleted(describeDeleted(deleted, topic)), 'clicks are lost')
    },
    setLag: (partition, lag) => lags.set(partition, Math.max(0, lag)),
    hasLag: (partition) => (lags.get(partition) ?? 0) > 0,
    startBatch: (partition, sentAt) => sentTimes.set(partition, sentAt),
    finishBatch: (partition) => sentTimes.delete(partition),
    setTruncation: (partition, reason) => {
      if (reason === undefined) return truncations.clear(partition)
      if (truncations.add(partition, reason))
        onProblem(new TopicReplaced(reason), `partition ${partition} of ${topic} is truncated`)
    },
  }
}
