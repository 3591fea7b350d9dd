import type { Codec } from '../../events/codec.ts'
import type { EventStore, Filter } from '../../events/store.ts'
import type { Signal } from '../../lib/signal.ts'
import { decodeBatches, pageBytes } from '../slices.ts'
import type { Group } from './append.ts'
import { conditionOf, fittingRows, type Row, toEncoded } from './events.ts'
import type { Query } from './query.ts'

export interface News {
  /** Wakes the subscriptions after an append of this process. */
  readonly announce: (groups: readonly Group[]) => void
  /** Grows whenever events that pass the filter may have been appended. */
  readonly count: (filter: Filter) => number
  /** Resolves when `count(filter)` is no longer `known`, or the signal aborts. */
  readonly after: (filter: Filter, known: number, signal: AbortSignal) => Promise<void>
}

/** Tells subscriptions when to query the log; those whose filter an append of this process does not pass are left alone. */
export const createNews = (appended: Signal): News => {
  /** our own appends of which no event passes the filter */
  const irrelevant = { clicks: 0, domain: 0, all: 0 }
  const count = (filter: Filter) => appended.count() - irrelevant[filter]
  return {
    announce: (groups) => {
      const events = groups.flatMap(({ writes }) => writes.flatMap((write) => write.events))
      if (!events.some(({ type }) => type === 'LinkClicked')) irrelevant.clicks++
      if (!events.some(({ type }) => type !== 'LinkClicked')) irrelevant.domain++
      appended.notify()
    },
    count,
    after: async (filter, known, signal) => {
      while (count(filter) === known && !signal.aborted) await appended.after(appended.count(), signal)
    },
  }
}

/** Batches of events after a position, from the log as it is and then as it grows. */
export const createSubscribe = (query: Query, codec: Codec, news: News): EventStore['subscribe'] =>
  async function* ({ after, filter, limit, signal }) {
    const rows = `select * from log.events where ${conditionOf[filter]} and position > $1 order by position limit $2`
    const text = `${fittingRows(rows, 'position', '$3')} order by position`
    let position = after
    while (!signal.aborted) {
      const known = news.count(filter)
      const page = (await query<Row>(`subscribe-${filter}`, text, [position, limit, pageBytes])).map(toEncoded)
      if (page.length === 0) {
        await news.after(filter, known, signal)
        continue
      }
      yield* decodeBatches(codec, page)
      position = page.at(-1)!.position
    }
  }
