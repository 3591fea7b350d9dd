import type { Recorded } from '../../events/event.ts'
import type { LogEvent } from '../../events/index.ts'
import { isClickType } from '../../events/store.ts'

type Events = readonly Recorded<LogEvent>[]

/** How much one transaction applies. Clicks count one by one, since an event holds up to 500 of them. */
export interface BatchSize {
  /** Returns the first events that fit, at least one. */
  readonly take: (events: Events) => Events
  /** The batch was too large: the next ones are at most half as large. */
  readonly shrink: (batch: Events) => void
  /**
   * A batch was applied: the next ones may be a little larger. A failure costs a whole statement timeout, so growing is
   * slow.
   */
  readonly grow: () => void
}

/**
 * Clicks and other events in one transaction at most. Larger batches are not faster, and stall the event loop for
 * longer.
 */
export const most = 5000

/**
 * Returns how much work an event is. A change of classes counts as a whole batch, since it may concern as many clicks.
 */
export const weightOf = ({ type, data }: Recorded<LogEvent>) => {
  if (type === 'LinkClicked' || type === 'VisitsImported') return Math.max(1, data.clicks.length)
  return isClickType(type) ? most : 1
}

export const batchSize = (max = most): BatchSize => {
  let limit = max
  return {
    take: (events) => {
      let weight = 0
      const end = events.findIndex((event) => (weight += weightOf(event)) > limit)
      return end < 0 ? events : events.slice(0, Math.max(1, end))
    },
    shrink: (batch) => {
      const weight = batch.reduce((sum, event) => sum + weightOf(event), 0)
      limit = Math.max(1, Math.floor(Math.min(limit, weight) / 2))
    },
    grow: () => {
      limit = Math.min(max, limit + Math.ceil(max / 100))
    },
  }
}
