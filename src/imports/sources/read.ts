import { problem } from '../../lib/problems/problem.ts'
import { isZone } from '../../lib/zone.ts'
import { readLink } from '../link.ts'
import { startReading, type Reading } from '../reading.ts'
import { type SourceRecord, UnreadableSource } from '../records.ts'
import { idOf, valuesOf } from '../shape.ts'
import { type Api, type ApiFormat, apis, at, textIn } from './apis.ts'
import { type Ask, type ClientOptions, createClient } from './client.ts'
import { visitsOf, withRules } from './shlink.ts'

export { apiFormats, type ApiFormat } from './apis.ts'

export interface SourceOptions extends ClientOptions {
  /** of times that have none */
  readonly timezone: string
  /** the cursor with which reading goes on */
  readonly after?: string
}
/** A record of an API. The last one of a page has the cursor with which reading goes on behind it. */
export type ApiRecord = SourceRecord & { readonly after?: string }

type Row = Awaited<ReturnType<Api['page']>>['rows'][number]

const recordsOf = async function* (row: Row, ask: Ask, reading: Reading): AsyncGenerator<SourceRecord> {
  const place = idOf(row) ?? { id: textIn(row['shorturl']) }
  const link = readLink(valuesOf(row), place, reading)
  if (reading.format !== 'shlink' || link.kind !== 'link') return yield link
  // its visits follow one by one
  const { clicks: measured = 0, ...rest } = await withRules(link, row, ask)
  const total = at(row, 'visitsSummary', 'total')
  // all of them count for its end there, bots too
  const ended = link.maxClicks === undefined ? {} : { measured: typeof total === 'number' ? total : measured }
  yield { ...rest, ...ended }
  const [address] = link.addresses
  if (address) yield* visitsOf(row, address, ask, reading)
}

/** Gives the last one a cursor. */
const withCursor = async function* (records: AsyncIterable<SourceRecord>, after: string | undefined) {
  let last: ApiRecord | undefined
  for await (const record of records) {
    if (last) yield last
    last = record
  }
  if (last) yield after === undefined ? last : { ...last, after }
}

/**
 * Reads the links that an API lists, page by page, and visits where it has them. Throws `UnreadableSource` when it does
 * not answer, also not later.
 */
export const readSource = async function* (
  format: ApiFormat,
  address: URL,
  key: string,
  { timezone, after, ...client }: SourceOptions,
): AsyncGenerator<ApiRecord> {
  if (!isZone(timezone)) throw new UnreadableSource(problem('wrong_form', { what: 'zone', field: 'timezone' }))
  const api: Api = apis[format]
  const ask = createClient(address, api.headers(key), api.interval, client)
  const reading = startReading(format, timezone)
  const pageOf = async function* (rows: readonly Row[]) {
    for (const row of rows)
      for await (const record of recordsOf(row, ask, reading)) {
        yield* reading.notices()
        yield record
      }
  }
  const known = new Set<string>()
  /** Whether no page before had a link. */
  const isNew = (row: Row) => {
    const name = api.identifiedBy === undefined ? '' : textIn(row[api.identifiedBy])
    if (known.has(name)) return false
    if (name !== '') known.add(name)
    return true
  }
  let links = 0
  for (let cursor = after; ;) {
    const { rows: listed, next, total = 0 } = await api.page(ask, cursor, key)
    const rows = listed.filter(isNew)
    links += rows.length
    yield* withCursor(pageOf(rows), next)
    if (next === undefined) {
      if (after === undefined && links < total) reading.note('unlisted', { links: total, listed: links })
      return yield* reading.lastNotices()
    }
    // a server that answers with the same cursor again would never end
    if (next === cursor) throw new UnreadableSource(problem('wrong_body', { what: 'list' }))
    cursor = next
  }
}
