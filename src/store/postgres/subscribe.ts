import type { Codec } from '../../events/codec.ts'
import type { EventStore, Filter } from '../../events/store.ts'
import type { Signal } from '../../lib/signal.ts'
import { decodeBatches, pageBytes } from '../slices.ts'
import type { Group } from './append.ts'
import { conditionOf, fittingRows, type Row, toEncoded } from './events.ts'
import type { Query } from './query.ts'

/** Returns the filters that events of these appends pass, apart from `all`. */
export const filtersOf = (groups: readonly Group[]): readonly Filter[] => {
  const events = groups.flatMap(({ writes }) => writes.flatMap((write) => write.events))
  const clicks = events.filter(({ type }) => type === 'LinkClicked').length
  return [...(clicks > 0 ? (['clicks'] as const) : []), ...(clicks < events.length ? (['domain'] as const) : [])]
}

interface PageRow extends Row {
  /** rows of the page, with those that did not fit */
  readonly found: string
}

/**
 * Batches of events after a position, from the log as it is and then as it grows. It queries the log again when `appended` is notified of its
 * filter, unless a page shows that there is more.
 */
export const createSubscribe = (query: Query, codec: Codec, appended: Signal): EventStore['subscribe'] =>
  async function* ({ after, filter, limit, signal }) {
    const matching = `select * from log.events where ${conditionOf[filter]} and position > $1 order by position limit $2`
    const text = `${fittingRows(matching, 'position', '$3')} order by position`
    const topic = filter === 'all' ? undefined : filter
    let position = after
    while (!signal.aborted) {
      const known = appended.count(topic)
      const rows = await query<PageRow>(`subscribe-${filter}`, text, [position, limit, pageBytes])
      const page = rows.map(toEncoded)
      yield* decodeBatches(codec, page)
      position = page.at(-1)?.position ?? position
      const found = Number(rows[0]?.found ?? 0)
      if (rows.length === found && found < limit) await appended.after(known, signal, topic)
    }
  }
