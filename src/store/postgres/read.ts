import type { Codec } from '../../events/codec.ts'
import type { EventStore } from '../../events/store.ts'
import { batch } from '../../lib/async/batch.ts'
import { decodeEvents, pageBytes } from '../slices.ts'
import { fittingRows, newest, type Row, toEncoded } from './events.ts'
import type { Query } from './query.ts'

interface PageStart {
  readonly stream: string
  readonly from: bigint
  readonly limit: number
}

interface PageRow extends Row {
  /** index of the read, from 1 */
  readonly nr: string
  /** rows of the page, with those that did not fit */
  readonly found: string
}

/** The sizes of a page. Each has a statement of its own, because the planner has to know the limit. */
const pageSizes = [1, 32, 500] as const
const largestPage = 500
const lastOfEach = `
  select e.* from (select distinct stream from unnest($1::text[]) as s (stream)) as s
  cross join lateral (select * from log.events e where e.stream = s.stream order by revision desc limit 1) as e`
const rowsOfOne = (size: number) => `
  select * from log.events e where e.stream = s.stream and e.revision >= s.first and e.revision < s.first + s.most
  order by revision limit ${size}`
const pageOfEach = (size: number) => `
  select s.nr, e.* from unnest($1::text[], $2::bigint[], $3::int[]) with ordinality as s (stream, first, most, nr)
  cross join lateral (${fittingRows(rowsOfOne(size), 'revision', '$4::bigint')}) as e
  order by s.nr, e.revision`

/** The reads of the port. Up to `most` reads that are requested at the same time share a query. */
export const createReads = (
  query: Query,
  codec: Codec,
  most: number,
): Pick<EventStore, 'read' | 'last' | 'head' | 'idAt'> => {
  const lastOf = batch(most, async (streams: readonly string[]) => {
    const rows = await query<Row>('last', lastOfEach, [streams])
    const found = new Map(rows.map((row) => [row.stream, row]))
    return streams.map((stream) => found.get(stream))
  })
  const readers = pageSizes.map((size) => ({
    size,
    pageOf: batch(most, async (starts: readonly PageStart[]) => {
      const rows = await query<PageRow>(`read-${size}`, pageOfEach(size), [
        starts.map(({ stream }) => stream),
        starts.map(({ from }) => from),
        starts.map(({ limit }) => limit),
        Math.ceil(pageBytes / starts.length),
      ])
      const pages = starts.map((): PageRow[] => [])
      for (const row of rows) pages[Number(row.nr) - 1]?.push(row)
      return pages
    }),
  }))
  const pageOf = (start: PageStart) => readers.find(({ size }) => size >= start.limit)!.pageOf(start)

  return {
    read: async function* (stream, from = 0n, limit = Infinity) {
      let [next, left] = [from, limit]
      while (left > 0) {
        const size = Math.min(left, largestPage)
        const rows = await pageOf({ stream, from: next, limit: size })
        yield* decodeEvents(codec, rows.map(toEncoded))
        const found = Number(rows[0]?.found ?? 0)
        if (rows.length === found && found < size) return
        next = BigInt(rows.at(-1)!.revision) + 1n
        left -= rows.length
      }
    },
    last: async (stream) => {
      const row = await lastOf(stream)
      return row && (await codec.decode([toEncoded(row).raw()]))[0]
    },
    head: async (filter) => {
      return BigInt((await query<Row>(`head-${filter}`, newest[filter], []))[0]?.position ?? 0)
    },
    idAt: async (position) =>
      (await query<Row>('id-at', 'select id from log.events where position = $1', [position]))[0]?.id,
  }
}
