import { setImmediate as nextTurn } from 'node:timers/promises'
import { turnTimer } from '../../lib/async/pause.ts'
import { problem } from '../../lib/problems/problem.ts'
import { isZone } from '../../lib/zone.ts'
import { type Reading, startReading } from '../reading.ts'
import { type Format, type SourceRecord, UnreadableSource } from '../records.ts'
import { readArchive } from './archive.ts'
import { blocksOf } from './blocks.ts'
import { readBookmarks } from './bookmarks.ts'
import { type Columns, readTable } from './csv.ts'
import { detectFormat, isDump } from './detect.ts'
import { readRecords } from './lines.ts'
import { readObjects } from './json.ts'
import { readDump } from './sql.ts'

export { detectFormat } from './detect.ts'

export interface ReadOptions {
  /** of times that have none */
  readonly timezone: string
  /** the header of each field that the table names in another way: `{ url: 'Ziel' }` */
  readonly columns?: Columns
  /** Called with the format, before the first record. */
  readonly onFormat?: (format: Format) => void
}

/** bytes by which a format is known, and the separator of a table */
const headSize = 64 * 1024

/** Services that end an export after so many links, without a word. */
const exportLimits: { readonly [F in Format]?: number } = { bitly: 1000 }

const recordsIn = (reading: Reading, blocks: AsyncIterable<Buffer>, head: string, columns: Columns) => {
  if (reading.format === 'bookmarks') return readBookmarks(blocks, reading)
  if (head.startsWith('ustar', 257)) return readArchive(blocks, reading)
  if (/^\s*[[{]/.test(head)) return readObjects(blocks, head, reading)
  const isSql = reading.format === 'yourls' && isDump(head)
  return isSql ? readDump(blocks, reading) : readTable(blocks, head, columns, reading)
}

/** Whether a file has records. Read before, it has the format of the service from which they are. */
const hasRecords = (format: Format | 'auto', head: string) =>
  format === 'records' || head.startsWith('{"kind":"format",')

/** A file that begins with `head`, in blocks of any size. */
export interface Blocks {
  readonly head: string
  readonly blocks: AsyncIterable<Buffer>
}

/** Reads what the blocks of a file have. */
export const readBlocks = async function* (
  format: Format | 'auto',
  { head, blocks }: Blocks,
  { timezone, columns = {}, onFormat = () => {} }: ReadOptions,
): AsyncGenerator<SourceRecord> {
  if (!isZone(timezone)) throw new UnreadableSource(problem('wrong_form', { what: 'zone', field: 'timezone' }))
  const isTable = Object.keys(columns).length > 0
  if (hasRecords(format, head)) return yield* readRecords(blocks, onFormat)
  const found = format === 'auto' ? (detectFormat(head) ?? (isTable ? 'csv' : undefined)) : format
  if (found === undefined) throw new UnreadableSource(problem('wrong_body', { what: 'format' }))
  onFormat(found)
  const reading = startReading(found, timezone)
  const isLong = turnTimer()
  let links = 0
  for await (const record of recordsIn(reading, blocks, head, columns)) {
    if (record.kind !== 'visit') links++
    yield* reading.notices()
    yield record
    if (isLong()) await nextTurn()
  }
  yield* reading.lastNotices()
  if (links === exportLimits[found]) yield { kind: 'notice', notice: 'cut', params: { records: links } }
}

/**
 * Reads what a file has, record by record, as fast as they are taken. Throws `UnreadableSource` when nothing of it can
 * be read, or nothing more.
 */
export const readFile = async function* (
  format: Format | 'auto',
  chunks: AsyncIterable<Uint8Array>,
  options: ReadOptions,
): AsyncGenerator<SourceRecord> {
  const blocks = blocksOf(chunks)
  try {
    const first = await blocks.next()
    const begin = first.done ? Buffer.alloc(0) : first.value
    const all = async function* () {
      yield begin
      yield* blocks
    }
    yield* readBlocks(format, { head: begin.toString('utf8', 0, headSize), blocks: all() }, options)
  } catch (error) {
    // zlib: a compressed file that was cut or changed
    if (!String((error as { readonly code?: unknown }).code).startsWith('Z_')) throw error
    throw new UnreadableSource(problem('wrong_body', { what: 'end' }), { cause: error })
  } finally {
    await blocks.return(undefined)
  }
}
