import type { Taken } from '../events/statistics/click.ts'
import type { LogEvent } from '../events/index.ts'
import { ChangedByNewer } from '../events/unknown.ts'
import type { ClickEntry } from './entry.ts'

/**
 * What a partition's last event says: the last sequence number recorded of each open spool, which alone decides what is
 * new.
 */
export interface PartitionState {
  readonly upTo: Readonly<Record<string, number>>
  /** the last sequence number recorded of spools that are not in `upTo`, as far as they were looked up */
  readonly retired?: ReadonlyMap<string, { readonly seq: number }>
  /** the last Kafka message recorded; undefined when none was */
  readonly taken?: Taken | undefined
}

/**
 * The Kafka topic is not the one that was recorded from so far: it was truncated, or deleted and created again under
 * the same name. An operator has to decide; retrying does not help.
 */
export class TopicReplaced extends Error {
  override readonly name = 'TopicReplaced'
}

/**
 * The log no longer has entries that it had recorded: its data was put back to an older copy. What the spool or the
 * topic still has of them is to be delivered again from where the log ends now.
 */
export class LogWentBack extends Error {
  override readonly name = 'LogWentBack'
  constructor() {
    super('the event log has lost clicks that it had: they are recorded again as far as they are kept')
  }
}

/**
 * Returns the state after this event. Throws `ChangedByNewer`, and for an event that does not belong in a click stream.
 */
export const stateAfter = (event: LogEvent): PartitionState => {
  switch (event.type) {
    case 'LinkClicked':
    case 'ClicksMissing':
    case 'ClicksDropped':
      return { upTo: event.data.upTo, taken: event.data.taken }
    case 'ClickLogOpened':
      return { upTo: {} }
    case 'Unknown':
      throw new ChangedByNewer('The click log')
    default:
      throw new Error(`${event.type} does not belong in a click stream`)
  }
}

/** Returns the last sequence number of a spool that is recorded. */
export const recordedSeq = ({ upTo, retired }: PartitionState, spool: string): number =>
  upTo[spool] ?? retired?.get(spool)?.seq ?? 0

export const isNew = (state: PartitionState, { spool, seq }: ClickEntry): boolean => seq > recordedSeq(state, spool)

/**
 * Compares messages at offsets that are already recorded with what was recorded there. Throws `TopicReplaced` when one
 * of them is new, or the message at the last offset is not the one recorded.
 */
export const checkTopic = (state: PartitionState, entries: readonly ClickEntry[]): void => {
  const { taken } = state
  if (!taken) return
  for (const entry of entries) {
    if (entry.offset === undefined || entry.offset > taken.offset) continue
    const isSame = entry.offset < taken.offset || (entry.spool === taken.spool && entry.seq === taken.seq)
    if (isSame && !isNew(state, entry)) continue
    throw new TopicReplaced(
      `offset ${entry.offset} holds entry ${entry.seq} of spool ${entry.spool}, but everything up to offset ${taken.offset} (entry ${taken.seq} of spool ${taken.spool}) is already recorded`,
    )
  }
}
