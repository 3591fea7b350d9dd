import { problem, type Problem } from '../../lib/problems/problem.ts'
import { CsvError, csvRecords, separatorOf } from '../../lib/table.ts'
import { fieldNames, fieldOf, type Meaning } from '../fields.ts'
import { readLink } from '../link.ts'
import type { Reading } from '../reading.ts'
import { type SourceRecord, UnreadableSource } from '../records.ts'
import { recordLimit, textOf } from './blocks.ts'
import { type Frame, frames } from './frames.ts'

const columnLimit = 1000
const limits = { length: recordLimit, cells: columnLimit }

/** The first line by which spreadsheets name the separator. */
const declaration = /^sep=([,;\t])$/i

/** Which header each field has: `{ url: 'Ziel' }`. */
export type Columns = Readonly<Record<string, string>>

interface Column {
  readonly name: string
  readonly as: Meaning
}

const cellsOf = (text: string, separator: string, line: number): readonly string[] | Problem => {
  try {
    const [record] = csvRecords(text, separator, limits)
    if (!record) return []
    if (record.count > columnLimit) return problem('too_many', { what: 'cells', max: columnLimit, cells: record.count })
    return record.cells
  } catch (error) {
    if (error instanceof CsvError) return problem('wrong_body', { what: 'csv', line })
    throw error
  }
}

const recordOf = ({ bytes, fault, line }: Frame, separator: string): readonly string[] | Problem => {
  if (fault === 'long') return problem('too_long', { what: 'record' })
  if (fault === 'open') return problem('wrong_body', { what: 'csv', line })
  const text = textOf(bytes)
  return text === undefined ? problem('wrong_body', { what: 'row_utf8' }) : cellsOf(text, separator, line)
}
const isProblem = (found: readonly string[] | Problem): found is Problem => 'code' in found

/** Returns the columns that a header names, and keeps a notice of each that is not known. */
const columnsOf = (cells: readonly string[], chosen: Columns, reading: Reading): readonly Column[] => {
  const fields = new Map(
    Object.entries(chosen).flatMap(([field, header]) => {
      const found = fieldNames.find((name) => name === field)
      return found ? [[header.trim().toLowerCase(), { field: found, rank: -1 }] as const] : []
    }),
  )
  const columns = cells.map((cell) => {
    const name = cell.trim()
    const as = fields.get(name.toLowerCase()) ?? fieldOf(name, reading.format)
    if (!as && name !== '') reading.note('unknown_column', { column: name.slice(0, 200) })
    return { name, as: as ?? { field: 'ignored' as const, rank: 0 } }
  })
  if (!columns.some(({ as }) => as.field === 'url'))
    throw new UnreadableSource(problem('wrong_body', { what: 'table' }))
  return columns
}

/** Reads a table with a header, whose separator its first line shows. */
export const readTable = async function* (
  blocks: AsyncIterable<Buffer>,
  head: string,
  chosen: Columns,
  reading: Reading,
): AsyncGenerator<SourceRecord> {
  const [first = ''] = head.split(/[\r\n]/, 1)
  const declared = declaration.exec(first)?.[1]
  const separator = declared ?? separatorOf(head, recordLimit)
  let columns: readonly Column[] | undefined
  for await (const frame of frames(blocks, separator.charCodeAt(0))) {
    if (declared !== undefined && frame.line === 1) continue
    const place = { line: frame.line }
    const cells = recordOf(frame, separator)
    if (isProblem(cells)) {
      // without a header nothing can be read
      if (!columns) throw new UnreadableSource(cells)
      yield { kind: 'problem', place, problem: cells }
    } else if (cells.every((cell) => cell.trim() === '')) continue
    else if (!columns) columns = columnsOf(cells, chosen, reading)
    else if (cells.length === columns.length)
      yield readLink(
        columns.map(({ name, as }, i) => ({ name, as, value: cells[i] })),
        place,
        reading,
      )
    else {
      const wrong = problem('wrong_body', { what: 'row_cells', cells: cells.length, header: columns.length })
      yield { kind: 'problem', place, problem: wrong }
    }
  }
  if (!columns) throw new UnreadableSource(problem('wrong_body', { what: 'table' }))
}
