import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Context } from 'koa'
import { z } from 'zod'
import { CsvError, type CsvRecord, csvRecords, separatorOf } from '../../../lib/table.ts'
import { isWithin, readJson, textLimits } from '../../../lib/strangers.ts'
import { turnTimer } from '../../../lib/async/pause.ts'
import { type Problem, problem } from '../../../lib/problems/problem.ts'
import { type BodyKind, jsonLimits, readBytes, textOf } from '../../api/body.ts'
import { fail, Failure } from '../../api/errors.ts'
import { refuseUnknownDryRun } from '../../api/write/dryrun.ts'

/** One of many objects in a body. `number` counts from 1; `line` is where it begins, in a format that has lines. */
export interface Row {
  readonly number: number
  readonly line?: number
  readonly value: Readonly<Record<string, unknown>>
}
/** A row that cannot be read: what is wrong with it, and what would be right. */
export interface UnreadableRow extends Omit<Row, 'value'> {
  readonly problem: Problem
}
/** A row before it is numbered; undefined for a line that has none. */
type ReadRow = Omit<Row, 'number'> | Omit<UnreadableRow, 'number'> | undefined

export const rowLimit = 1000
const cellLimit = 200
/**
 * A row that breaks the limits of an object is refused alone: here the limits are those of what can be parsed in one
 * turn.
 */
const parsedLimits = { levels: 64, values: 100_000 }
/** Requests of the rate limit: one for every so many bytes. */
const bytesPerRequest = 64 * 1024

const json = /^application\/json$/
const lines = /^application\/(?:x-ndjson|ndjson|jsonl|jsonlines|x-jsonlines)$/
const table = /^text\/(?:csv|tab-separated-values)$/

const body: BodyKind = {
  isKnown: (type) => type === '' || [json, lines, table].some((known) => known.test(type)),
  mustBe: 'rows',
  kib: 4096,
}

const tooMuch = problem('too_many', { what: 'row_levels', ...jsonLimits })

const isTooLong = (text: string) => Buffer.byteLength(text) > textLimits.row

/** Returns a sentence if a value is not a row, otherwise undefined. `text` is its JSON. */
const problemOf = (value: unknown, text: string): Problem | undefined => {
  if (isTooLong(text)) return problem('too_long', { what: 'row' })
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return problem('wrong_body', { what: 'row' })
  if (Object.hasOwn(value, '__proto__')) return problem('wrong_body', { what: 'row_field' })
  return isWithin(text, jsonLimits) ? undefined : tooMuch
}
const rowOf = (value: unknown, place: { readonly line?: number } = {}, text = JSON.stringify(value)): ReadRow => {
  const found = problemOf(value, text)
  return found ? { ...place, problem: found } : { ...place, value: value as Row['value'] }
}

const fromJson = function* (text: string): Iterable<ReadRow> {
  const sent = readJson(text, parsedLimits)
  if ('problem' in sent && sent.problem === 'limits') fail(400, 'too_many', { what: 'levels', ...parsedLimits })
  const value = ('value' in sent ? sent.value : undefined) as { readonly rows?: unknown } | null | undefined
  refuseUnknownDryRun([value, undefined])
  const rows = value?.rows
  if (!Array.isArray(rows)) return fail(400, 'wrong_body', { what: 'rows' })
  for (const value of rows) yield rowOf(value)
}

const fromLine = (content: string, line: number): ReadRow => {
  if (content.trim() === '') return undefined
  if (isTooLong(content)) return { line, problem: problem('too_long', { what: 'row' }) }
  const read = readJson(content, parsedLimits)
  if ('value' in read) return rowOf(read.value, { line }, content)
  return { line, problem: read.problem === 'limits' ? tooMuch : problem('wrong_body', { what: 'row_line' }) }
}
/** empty lines that are passed over without a pause */
const linesAtOnce = 1000

const fromLines = function* (text: string): Iterable<ReadRow> {
  for (let [at, line] = [0, 1]; at < text.length; line++) {
    const found = text.indexOf('\n', at)
    const end = found < 0 ? text.length : found
    if (end > at || line % linesAtOnce === 0) yield fromLine(text.slice(at, end), line)
    at = end + 1
  }
}

const fromCell = (cell: string): unknown => {
  const read = readJson(cell, parsedLimits)
  return ('value' in read ? read.value : undefined) ?? cell
}

/** What the text of a cell becomes, by the field's JSON Schema: a table has no types. */
const cellReader = (fields: z.ZodObject) => {
  const { properties = {} } = z.toJSONSchema(fields, { io: 'input', unrepresentable: 'any' })
  const names = new Map(Object.keys(properties).map((name) => [name.toLowerCase(), name]))
  const arrays = new Set(Object.keys(properties).filter((name) => /"array"/.test(JSON.stringify(properties[name]))))
  const others = /"(?:boolean|integer|number|object)"/
  const typed = new Set(Object.keys(properties).filter((name) => others.test(JSON.stringify(properties[name]))))
  const read = (name: string, cell: string): unknown => {
    if (arrays.has(name))
      return cell.trimStart().startsWith('[') ? fromCell(cell) : cell.split(/[|,]/).map((one) => one.trim())
    if (!typed.has(name)) return cell
    // Excel and Python write TRUE and True
    const plain = /^\s*(?:true|false)\s*$/i.test(cell) ? cell.toLowerCase() : cell
    return /^\s*(?:true|false|null|-?\d{1,15}|\{.*\})\s*$/s.test(plain) ? fromCell(plain) : cell
  }
  return { nameOf: (header: string) => names.get(header.trim().toLowerCase()) ?? header.trim(), read }
}

const refuseTable = ({ code, line }: CsvError) =>
  new Failure(
    400,
    code === 'long' ? problem('too_long', { what: 'row_in_line', line }) : problem('wrong_body', { what: 'csv', line }),
  )

const namesIn = ({ cells, count }: CsvRecord, nameOf: (header: string) => string): readonly string[] => {
  if (count > cellLimit) fail(400, 'too_many', { what: 'cells', max: cellLimit, cells: count })
  const names = cells.map(nameOf)
  const twice = names.find((name, i) => name !== '' && names.indexOf(name) !== i)
  if (twice !== undefined) fail(400, 'repeated', { what: 'header', name: twice })
  return names
}

/** The first line by which spreadsheets name the separator. */
const declaration = /^sep=([,;\t])\r?(?:\n|$)/i

const fromTable = function* (text: string, fields: z.ZodObject): Iterable<ReadRow> {
  const { nameOf, read } = cellReader(fields)
  const [, declared] = declaration.exec(text) ?? []
  const fromRecord = ({ cells, count, line }: CsvRecord, names: readonly string[]): ReadRow => {
    if (count !== names.length)
      return {
        line,
        problem: problem('wrong_body', { what: 'row_cells', cells: count, header: names.length }),
      }
    // spreadsheets leave rows without any value
    if (cells.every((cell) => cell.trim() === '')) return undefined
    const filled = names.flatMap((name, c) => (cells[c] && name !== '' ? [[name, read(name, cells[c])] as const] : []))
    return rowOf(Object.fromEntries(filled), { line })
  }
  let names: readonly string[] | undefined
  for (const record of csvRecords(text, declared ?? separatorOf(text, textLimits.row), {
    length: textLimits.row,
    cells: cellLimit,
  })) {
    if (record.count === 0 || (declared !== undefined && record.line === 1)) yield undefined
    else if (names) yield fromRecord(record, names)
    else names = namesIn(record, nameOf)
  }
  if (!names) fail(400, 'wrong_body', { what: 'header' })
}

/** Numbers rows, and lets other requests be answered in between. */
const collect = async (found: Iterable<ReadRow>): Promise<readonly (Row | UnreadableRow)[]> => {
  const rows: (Row | UnreadableRow)[] = []
  const isLong = turnTimer()
  for (const row of found) {
    if (isLong()) await nextTurn()
    if (row === undefined) continue
    if (rows.length === rowLimit) fail(400, 'too_many', { what: 'rows', max: rowLimit })
    rows.push({ number: rows.length + 1, ...row })
  }
  return rows
}

/**
 * Returns the objects in a body of up to 4 MiB: JSON with `rows`, NDJSON, or CSV with a header, whose cells are read as
 * `fields` has them. The request is charged for its bytes before they are kept. Fails with 400, 413, 415 or 429.
 */
export const readRows = async (
  ctx: Context,
  charge: (requests: number) => Promise<void>,
  fields: z.ZodObject,
): Promise<readonly (Row | UnreadableRow)[]> => {
  const { type, bytes } = await readBytes(ctx, body, (size) => charge(Math.ceil(size / bytesPerRequest)))
  const text = textOf(bytes)
  const found = table.test(type) ? fromTable(text, fields) : lines.test(type) ? fromLines(text) : fromJson(text)
  try {
    const rows = await collect(found)
    if (rows.length === 0) fail(400, 'too_few', { what: 'rows' })
    return rows
  } catch (error) {
    throw error instanceof CsvError ? refuseTable(error) : error
  }
}
