import { problem } from '../../lib/problems/problem.ts'
import { isZone } from '../../lib/zone.ts'
import { startReading } from '../reading.ts'
import { type Format, type SourceRecord, UnreadableSource } from '../records.ts'
import { blocksOf } from './blocks.ts'
import { type Columns, readTable } from './csv.ts'
import { detectFormat } from './detect.ts'

export { detectFormat } from './detect.ts'

export interface ReadOptions {
  /** of times that have none */
  readonly timezone: string
  /** the header of each field that the table names in another way: `{ url: 'Ziel' }` */
  readonly columns?: Columns
}

/** Services that end an export after so many links, without a word. */
const exportLimits: { readonly [F in Format]?: number } = { bitly: 1000 }

/**
 * Reads what a file has, record by record, as fast as they are taken. Throws `UnreadableSource` when nothing of it can
 * be read, or nothing more.
 */
export const readFile = async function* (
  format: Format | 'auto',
  chunks: AsyncIterable<Uint8Array>,
  { timezone, columns = {} }: ReadOptions,
): AsyncGenerator<SourceRecord> {
  if (!isZone(timezone)) throw new UnreadableSource(problem('wrong_form', { what: 'zone', field: 'timezone' }))
  const blocks = blocksOf(chunks)
  const first = await blocks.next()
  const begin = first.done ? Buffer.alloc(0) : first.value
  const all = async function* () {
    yield begin
    yield* blocks
  }
  // a character at the end may be cut
  const head = begin.toString('utf8', 0, 64 * 1024)
  const found =
    format === 'auto' ? (detectFormat(head) ?? (Object.keys(columns).length > 0 ? 'csv' : undefined)) : format
  if (found === undefined) throw new UnreadableSource(problem('wrong_body', { what: 'format' }))
  const reading = startReading(found, timezone)
  let links = 0
  for await (const record of readTable(all(), head, columns, reading)) {
    if (record.kind !== 'visit') links++
    yield* reading.notices()
    yield record
  }
  yield* reading.notices()
  if (links === exportLimits[found]) yield { kind: 'notice', notice: 'cut', params: { records: links } }
}
