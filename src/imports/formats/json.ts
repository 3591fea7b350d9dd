import { problem, type Problem } from '../../lib/problems/problem.ts'
import { readJson } from '../../lib/strangers.ts'
import { readLink } from '../link.ts'
import type { Reading } from '../reading.ts'
import { type SourceRecord, UnreadableSource } from '../records.ts'
import { idOf, valuesOf } from '../shape.ts'
import { textOf } from './blocks.ts'
import { type Piece, scanner } from './scan.ts'

const limits = { levels: 64, values: 100_000 }

/** Bitly writes control characters into strings as they are. */
const repaired = (text: string) =>
  text.replaceAll(/"(?:[^"\\]|\\.)*"/gs, (string) =>
    // oxlint-disable-next-line no-control-regex
    string.replaceAll(/[\0-\x1f]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`),
  )

const objectIn = (text: string): { readonly value: object } | Problem => {
  const first = readJson(text, limits)
  const read = 'problem' in first && first.problem === 'syntax' ? readJson(repaired(text), limits) : first
  if ('value' in read)
    // a line of an archive may be anything
    return typeof read.value === 'object' && read.value !== null && !Array.isArray(read.value)
      ? { value: read.value }
      : problem('wrong_body', { what: 'row' })
  return read.problem === 'limits'
    ? problem('too_many', { what: 'row_levels', ...limits })
    : problem('wrong_body', { what: 'row_json' })
}

const faults = {
  long: problem('too_long', { what: 'record' }),
  json: problem('wrong_body', { what: 'row_json' }),
  type: problem('wrong_body', { what: 'row' }),
  cut: problem('wrong_body', { what: 'row_cut' }),
} as const

/** Returns what a piece of JSON has. */
export const recordOf = ({ line, bytes, fault }: Piece, reading: Reading): SourceRecord => {
  const wrong = (found: Problem) => ({ kind: 'problem' as const, place: { line }, problem: found })
  if (fault) return wrong(faults[fault])
  const text = textOf(bytes)
  if (text === undefined) return wrong(problem('wrong_body', { what: 'row_utf8' }))
  const read = objectIn(text)
  return 'value' in read ? readLink(valuesOf(read.value), idOf(read.value) ?? { line }, reading) : wrong(read)
}

/** Whether each line of a file is a record, or a page, of its own: then reading goes on behind a line that is none. */
const hasLines = (head: string) => {
  const end = head.indexOf('\n')
  return end > 0 && /^\s*\{/.test(head.slice(end)) && 'value' in readJson(head.slice(0, end), limits)
}

/**
 * Reads the objects in the list of a JSON file: an array, one or more pages of an API, or objects one after another,
 * such as lines of NDJSON.
 */
export const readObjects = async function* (
  blocks: AsyncIterable<Buffer>,
  head: string,
  reading: Reading,
): AsyncGenerator<SourceRecord> {
  const { scan, end, isLost } = scanner(hasLines(head))
  for await (const block of blocks) {
    for (const piece of scan(block)) yield recordOf(piece, reading)
    // where the next record begins is not known any more
    if (isLost()) throw new UnreadableSource(faults.json)
  }
  for (const piece of end()) yield recordOf(piece, reading)
}
