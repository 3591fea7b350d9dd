import type { Codec } from '../../events/codec.ts'
import { batchBytes, type EventStore, type Filter, isClickType, isCountedType, type Texts } from '../../events/store.ts'
import type { Signal } from '../../lib/async/signal.ts'
import { decodeBatches, pageBytes, split } from '../slices.ts'
import type { Group } from './append.ts'
import { bytesOf, fittingRows, type Row, rowsAfter, toEncoded, toText } from './events.ts'
import type { Query } from './query.ts'
import type { RecentClicks } from './recent.ts'

/** Returns the filters that events of these appends pass, apart from `all`. */
export const filtersOf = (groups: readonly Group[]): readonly Filter[] => {
  const events = groups.flatMap(({ writes }) => writes.flatMap((write) => write.events))
  const passing = {
    clicks: events.some(({ type }) => isCountedType(type)),
    domain: events.some(({ type }) => !isClickType(type)),
  }
  return (['clicks', 'domain'] as const).filter((filter) => passing[filter])
}

interface PageRow extends Omit<Row, 'data'> {
  /** null when this process has it */
  readonly data: string | null
  /** rows of the page, with those that did not fit */
  readonly found: string
}
const columns =
  'position, stream, revision, id, type, case when id = any($4::uuid[]) then null else data end as data, metadata, at, found'

export interface SubscribeParts {
  readonly query: Query
  readonly appended: Signal
  readonly recent: RecentClicks
}
type Range = Parameters<EventStore['subscribe']>[0]

/**
 * Pages of rows after a position, from the log as it is and then as it grows. It queries the log again when `appended`
 * is notified of its filter, unless a page shows that there is more.
 */
const pagesWith = ({ query, appended, recent }: SubscribeParts) =>
  async function* ({ after, filter, limit, signal }: Range): AsyncGenerator<readonly Row[]> {
    const text = `select ${columns} from (${fittingRows(rowsAfter[filter], 'position', '$3')}) as page order by position`
    const topic = filter === 'all' ? undefined : filter
    let position = after
    while (!signal.aborted) {
      const notified = appended.count(topic)
      const known = recent.known()
      const rows = await query<PageRow>(`subscribe-${filter}`, text, [position, limit, pageBytes, [...known.keys()]])
      yield rows.map((row) => ({ ...row, data: row.data ?? known.get(row.id)! }))
      position = BigInt(rows.at(-1)?.position ?? position)
      const found = Number(rows[0]?.found ?? 0)
      if (rows.length === found && found < limit) await appended.after(notified, signal, topic)
    }
  }

export const createSubscribe = (parts: SubscribeParts, codec: Codec): EventStore['subscribe'] => {
  const pages = pagesWith(parts)
  return async function* (range) {
    for await (const rows of pages(range)) yield* decodeBatches(codec, rows.map(toEncoded), range.trusted)
  }
}

export const createTexts = (parts: SubscribeParts): Texts => {
  const pages = pagesWith(parts)
  return async function* (range) {
    for await (const rows of pages(range))
      for (const part of split(
        rows.map((row) => ({ row, bytes: bytesOf(row) })),
        batchBytes,
      ))
        yield part.map(({ row }) => toText(row))
  }
}
