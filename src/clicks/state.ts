import type { AsideSpool } from './aside.ts'
import type { RelayState } from './relay.ts'
import type { SpoolStats } from './spool/source.ts'

/**
 * Messages of one partition that Kafka deleted before they were recorded. Each held one click, unless it was a
 * repetition.
 */
export interface DeletedMessages {
  readonly partition: number
  readonly messages: number
  /** the last offset that was deleted */
  readonly upTo: number
}

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
  /** what this process has found to be lost, at most one for each partition */
  readonly deleted: readonly DeletedMessages[]
  /** why messages are not being recorded */
  readonly problem: string | undefined
}

/** The click pipeline of one process, for metrics and readiness. */
export interface ClicksState {
  readonly spool: SpoolStats
  /** the relays of this process's spool, and of spools that earlier processes and settings left behind */
  readonly relays: readonly RelayState[]
  /** spools that wait for an operator */
  readonly aside: readonly AsideSpool[]
  /** undefined when this process does not record from Kafka */
  readonly recorder: RecorderState | undefined
}

export const describeDeleted = ({ partition, messages, upTo }: DeletedMessages, topic: string): string =>
  `Kafka deleted ${messages} messages of partition ${partition} of ${topic}, up to offset ${upTo}, before they were recorded: keep retention.ms longer than a recorder may be down`

/** Returns what keeps clicks from being counted, for an operator to read. `topic` names the Kafka topic. */
export const problemsOf = ({ spool, relays, aside, recorder }: ClicksState, topic: string): readonly string[] => {
  const { halted = [], deleted = [], problem } = recorder ?? {}
  return [
    ...(spool.refused === undefined
      ? []
      : [
          `the disk of DATA_DIR/spool takes no visits (${spool.refused}): ${spool.waiting} wait in memory, ${spool.dropped} were dropped since the start`,
        ]),
    ...relays.flatMap((relay) =>
      relay.problem === undefined ? [] : [`${relay.lag} clicks wait in the spool: ${relay.problem}`],
    ),
    ...aside.map(
      ({ id, dir, entries, reason }) =>
        `${entries} clicks of spool ${id} in ${dir} are kept aside: ${reason}; see \`linkledger spool list\``,
    ),
    ...(problem === undefined ? [] : [`clicks wait in Kafka: ${problem}`]),
    ...halted.map(({ partition, reason }) => `partition ${partition} of ${topic} is halted: ${reason}`),
    ...deleted.map((one) => describeDeleted(one, topic)),
  ]
}

/** Throws while clicks wait for what does not take them. */
export const requireTaken = ({ relays, recorder }: Pick<ClicksState, 'relays' | 'recorder'>): void => {
  const waiting = [...relays, recorder].find((one) => one?.problem !== undefined)
  if (waiting) throw new Error(waiting.problem)
}
