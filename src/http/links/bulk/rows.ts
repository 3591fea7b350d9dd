import { isUtf8 } from 'node:buffer'
import { CsvError, parse } from 'csv-parse/sync'
import type { Context } from 'koa'
import { z } from 'zod'
import { fail } from '../../api/errors.ts'
import { isWithinLimits } from '../../api/body.ts'

/** One of many objects in a body. `number` counts from 1; `line` is where it begins, in a format that has lines. */
export interface Row {
  readonly number: number
  readonly line?: number
  readonly value: Readonly<Record<string, unknown>>
}
/** A row that cannot be read: what is wrong with it, and what would be right. */
export interface UnreadableRow extends Omit<Row, 'value'> {
  readonly problem: string
}

export const rowLimit = 1000
const bodyLimit = 4 * 1024 * 1024
const lengthLimit = 64 * 1024

const json = /^application\/json$/
const lines = /^application\/(?:x-ndjson|ndjson|jsonl|jsonlines|x-jsonlines)$/
const table = /^text\/(?:csv|tab-separated-values)$/

const tooManyRows = () => fail(400, `The body must have at most ${rowLimit.toLocaleString('en')} rows: send several.`)

const readText = async (ctx: Context): Promise<string> => {
  const parts: Buffer[] = []
  let size = 0
  // leaving the loop must not close the connection: a client that still sends would not get the answer
  for await (const part of ctx.req.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += part.length
    if (size > bodyLimit) break
    parts.push(part)
  }
  if (size > bodyLimit) {
    ctx.req.resume() // otherwise the unread rest of the body blocks the connection
    fail(413, 'The body must be at most 4 MiB large.')
  }
  const bytes = Buffer.concat(parts)
  if (!isUtf8(bytes)) fail(400, 'The body must be valid UTF-8.')
  return bytes.toString('utf8').replace(/^\uFEFF/, '')
}

const parseJson = (text: string): { readonly value: unknown } | undefined => {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}

/** Returns why a value is no row, as a sentence, or undefined. */
const problemOf = (value: unknown): string | undefined => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'A row must be a JSON object.'
  if (Object.hasOwn(value, '__proto__')) return 'A row must not have a field `__proto__`.'
  return isWithinLimits(value) ? undefined : 'A row must have at most 8 levels and 1,000 values.'
}
const rowOf = (value: unknown, place: Omit<Row, 'value'>): Row | UnreadableRow => {
  const problem = problemOf(value)
  return problem === undefined ? { ...place, value: value as Row['value'] } : { ...place, problem }
}

const fromJson = (text: string): readonly (Row | UnreadableRow)[] => {
  const body = parseJson(text)?.value
  const rows = (body as { readonly rows?: unknown } | null | undefined)?.rows
  if (!Array.isArray(rows)) return fail(400, 'The body must be a JSON object with `rows`, an array of objects.')
  if (rows.length > rowLimit) return tooManyRows()
  return rows.map((value, i) => rowOf(value, { number: i + 1 }))
}

const fromLines = (text: string): readonly (Row | UnreadableRow)[] => {
  const filled = text
    .split('\n')
    .map((content, i) => ({ content, line: i + 1 }))
    .filter(({ content }) => content.trim() !== '')
  if (filled.length > rowLimit) return tooManyRows()
  return filled.map(({ content, line }, i) => {
    const place = { number: i + 1, line }
    if (content.length > lengthLimit) return { ...place, problem: 'A row must be at most 64 KiB long.' }
    const parsed = parseJson(content)
    return parsed
      ? rowOf(parsed.value, place)
      : { ...place, problem: 'A row must be a JSON object in a line of its own.' }
  })
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
      return cell.trimStart().startsWith('[')
        ? (parseJson(cell)?.value ?? cell)
        : cell.split(/[|,]/).map((one) => one.trim())
    return typed.has(name) && /^\s*(?:true|false|null|-?\d{1,15}|\{.*\})\s*$/s.test(cell)
      ? (parseJson(cell)?.value ?? cell)
      : cell
  }
  return { nameOf: (header: string) => names.get(header.trim().toLowerCase()) ?? header.trim(), read }
}

const separators = [',', ';', '\t']

interface Parsed {
  readonly record: readonly string[]
  readonly info: { readonly lines: number }
}
const splitTable = (text: string, delimiter: string, to: number) =>
  parse(text, {
    delimiter,
    to,
    info: true,
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: lengthLimit,
  }) as unknown as readonly Parsed[]

const parseTable = (text: string, delimiter: string): readonly Parsed[] => {
  try {
    return splitTable(text, delimiter, rowLimit + 2)
  } catch (error) {
    if (!(error instanceof CsvError)) throw error
    const { code, lines } = error as CsvError & { readonly lines?: number }
    const place = lines === undefined ? '' : ` in line ${lines}`
    return fail(
      400,
      code === 'CSV_MAX_RECORD_SIZE'
        ? `A row must be at most 64 KiB long${place}. A quote that is never closed makes a long one.`
        : `The body is not CSV${place}: put a cell with quotes, separators or line breaks into quotes, and double the quotes in it.`,
    )
  }
}

/** Returns the separator that splits the header into the most cells. */
const separatorOf = (text: string) => {
  const cells = (separator: string) => {
    try {
      return splitTable(text, separator, 1)[0]?.record.length ?? 0
    } catch {
      return 0
    }
  }
  return separators
    .map((one) => ({ one, cells: cells(one) }))
    .reduce((best, next) => (next.cells > best.cells ? next : best)).one
}

const fromTable = (text: string, fields: z.ZodObject): readonly (Row | UnreadableRow)[] => {
  const [header, ...records] = parseTable(text, separatorOf(text))
  if (!header) return fail(400, 'The body must begin with a row that has the names of the fields.')
  if (records.length > rowLimit) return tooManyRows()
  const { nameOf, read } = cellReader(fields)
  const names = header.record.map(nameOf)
  const twice = names.find((name, i) => name !== '' && names.indexOf(name) !== i)
  if (twice !== undefined) fail(400, `The header must have each field once; it has \`${twice}\` twice.`)
  return records.map(({ record, info }, i) => {
    // `info.lines` is where the record ends
    const inside = record.reduce((sum, cell) => sum + (cell.match(/\r\n|\r|\n/g)?.length ?? 0), 0)
    const place = { number: i + 1, line: info.lines - inside }
    if (record.length !== names.length)
      return {
        ...place,
        problem: `The row has ${record.length} cells, but the header has ${names.length}: put a cell that contains the separator into quotes.`,
      }
    const cells = record.flatMap((cell, c) =>
      cell === '' || names[c] === '' ? [] : [[names[c]!, read(names[c]!, cell)]],
    )
    return rowOf(Object.fromEntries(cells), place)
  })
}

/**
 * Returns the objects in a body of up to 4 MiB: JSON with `rows`, NDJSON, or CSV with a header, whose cells are read as `fields` has them.
 * Fails with 400, 413 or 415.
 */
export const readRows = async (ctx: Context, fields: z.ZodObject): Promise<readonly (Row | UnreadableRow)[]> => {
  const [type = '', ...parameters] = ctx
    .get('Content-Type')
    .toLowerCase()
    .split(';')
    .map((part) => part.trim())
  const isKnown = type === '' || [json, lines, table].some((known) => known.test(type))
  if (!isKnown)
    fail(415, 'The body must be sent as application/json, application/x-ndjson, text/csv or text/tab-separated-values.')
  const charset = parameters.find((one) => one.startsWith('charset='))
  if (charset && !/^charset="?(?:utf-?8|us-ascii)"?$/.test(charset)) fail(415, 'The body must be encoded in UTF-8.')
  const encoding = ctx.get('Content-Encoding')
  if (encoding && encoding !== 'identity') fail(415, 'The body must be sent without a Content-Encoding.')
  const text = await readText(ctx)
  const rows = table.test(type) ? fromTable(text, fields) : lines.test(type) ? fromLines(text) : fromJson(text)
  if (rows.length === 0) fail(400, 'The body must have at least one row.')
  return rows
}
