import type { RelayState } from './relay.ts'
import type { SpoolStats } from './spool/spool.ts'

/** What the recorder of a Kafka topic is doing. */
export interface RecorderState {
  /** in the consumer group, whether or not it has partitions */
  readonly connected: boolean
  /** messages of this process's partitions that are not recorded */
  readonly lag: number
  /** age in seconds of the oldest message that is being recorded, 0 when none is */
  readonly lagSeconds: number
  /** partitions that need an operator */
  readonly halted: readonly { readonly partition: number; readonly reason: string }[]
  /** why messages are not being recorded */
  readonly problem: string | undefined
}

/** The click pipeline of one process, for metrics and readiness. */
export interface ClicksState {
  readonly spool: SpoolStats
  /** the relay of this process's spool, then those of spools that earlier settings left behind */
  readonly relays: readonly RelayState[]
  /** undefined when this process does not record from Kafka */
  readonly recorder: RecorderState | undefined
}

/** Returns what keeps clicks from being counted, for an operator to read. `topic` names the Kafka topic. */
export const problemsOf = ({ relays, recorder }: ClicksState, topic: string): readonly string[] => {
  const { halted = [], problem } = recorder ?? {}
  return [
    ...relays.flatMap((relay) =>
      relay.problem === undefined ? [] : [`${relay.lag} clicks wait in the spool: ${relay.problem}`],
    ),
    ...(problem === undefined ? [] : [`clicks wait in Kafka: ${problem}`]),
    ...halted.map(({ partition, reason }) => `partition ${partition} of ${topic} is halted: ${reason}`),
  ]
}
