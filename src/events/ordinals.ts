/** The number of an event in log order. */
export interface Numbered {
  readonly ordinal: number
  readonly position: bigint
}

/**
 * Ordinals number the events of a log in its order: 0, 1, 2, … They belong to the log and not to its engine: positions
 * change when a log is copied to another engine, ordinals do not. What leaves the service names events by their
 * ordinals.
 */
export interface Ordinals {
  /** Returns the ordinals of the events at these positions. A position that is not numbered yet is missing. */
  readonly of: (positions: readonly bigint[]) => Promise<ReadonlyMap<bigint, number>>
  /** Returns the position of an event, undefined when there is no such event, or it is not numbered yet. */
  readonly positionOf: (ordinal: number) => Promise<bigint | undefined>
  /**
   * Returns the newest event that was appended up to a moment, by the clock of the log: it never goes back, so an event
   * with an earlier time than the one before it has that one's. In PostgreSQL, an event that is appended later is later
   * than the moment, too, so that the answer is final.
   */
  readonly lastAt: (moment: Date) => Promise<Numbered | undefined>
  /** Returns how many events are numbered. */
  readonly head: () => Promise<number>
  /** Returns when an event was appended, by the clock of the log: ISO 8601 in UTC. */
  readonly timeOf: (ordinal: number) => Promise<string | undefined>
}

/** Whether a number can be an ordinal. */
export const isOrdinal = (ordinal: number) => Number.isSafeInteger(ordinal) && ordinal >= 0

/** Returns the id of a click: the ordinal of its event, and its place in the batch. */
export const clickId = (ordinal: number, index: number): string => `${ordinal}-${index}`

/** Returns what a click's id says, undefined when it is none. */
export const parseClickId = (id: string): { readonly ordinal: number; readonly index: number } | undefined => {
  const [, ordinal, index] = /^(0|[1-9]\d{0,14})-(0|[1-9]\d{0,2})$/.exec(id) ?? []
  return ordinal === undefined ? undefined : { ordinal: Number(ordinal), index: Number(index) }
}
