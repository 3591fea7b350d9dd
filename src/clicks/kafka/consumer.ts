import { backOff } from '../../lib/async/backoff.ts'
import type { OnProblem } from '../report.ts'
import type { ClickRecord } from '../record.ts'
import type { RecorderState } from '../state.ts'
import type { KafkaOptions } from './client.ts'
import { runSession } from './session.ts'
import { createTracker } from './tracker.ts'

export interface TopicRecorder {
  readonly state: () => RecorderState
  readonly stop: () => Promise<void>
}

export interface TopicRecorderOptions extends KafkaOptions {
  readonly record: ClickRecord
  readonly onProblem: OnProblem
}

/** ms after which a session counts as a success, so that the next pause is short again */
const longSession = 60_000

/**
 * Records the topic's messages, as a member of a consumer group that shares its partitions. Two members that both
 * believe a partition is theirs do no harm: the event log takes each entry once.
 */
export const startTopicRecorder = (options: TopicRecorderOptions): TopicRecorder => {
  const stopped = new AbortController()
  const tracker = createTracker(options.topic, options.onProblem)

  const run = async () => {
    const retries = backOff({ from: 500, to: 3000, signal: stopped.signal })
    while (!stopped.signal.aborted) {
      const startedAt = performance.now()
      await runSession({ ...options, tracker }, stopped.signal).catch(tracker.failed)
      if (performance.now() - startedAt > longSession) retries.reset()
      await retries.pause()
    }
  }
  const running = run()

  return {
    state: tracker.state,
    stop: async () => {
      stopped.abort()
      await running
    },
  }
}
