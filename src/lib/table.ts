/** One record of a table (RFC 4180). */
export interface CsvRecord {
  /** the cells, no more than a record may have */
  readonly cells: readonly string[]
  /** number of cells of the record; 0: many empty lines */
  readonly count: number
  /** its first line, counted from 1 */
  readonly line: number
}
export interface CsvLimits {
  /** maximum characters of a record */
  readonly length: number
  readonly cells: number
}

/** A text that is not a valid table, with the first line of the invalid record. */
export class CsvError extends Error {
  override readonly name = 'CsvError'
  readonly code: 'long' | 'quotes'
  readonly line: number
  constructor(code: 'long' | 'quotes', line: number) {
    super(`${code} in line ${line}`)
    this.code = code
    this.line = line
  }
}

const [lf, cr, quote] = [0x0a, 0x0d, 0x22]
const isBreak = (char: number) => char === lf || char === cr
const separators = [',', ';', '\t'] as const

/** Returns the separator that is most frequent in the first line, within the maximum length of a record. */
export const separatorOf = (text: string, length: number): string => {
  const counts = new Map<string, number>(separators.map((one) => [one, 0]))
  let isQuoted = false
  const begin = /^[\r\n]*/.exec(text)?.[0].length ?? 0
  for (let at = begin; at < Math.min(text.length, begin + length); at++) {
    const char = text[at]!
    if (char === '"') isQuoted = !isQuoted
    else if (isQuoted) continue
    else if (char === '\n' || char === '\r') break
    else if (counts.has(char)) counts.set(char, counts.get(char)! + 1)
  }
  return separators.reduce((best, next) => (counts.get(next)! > counts.get(best)! ? next : best))
}

const linesAtOnce = 1000

/** Returns the end of a cell without quotes. */
const endOfPlain = (text: string, at: number, separator: number) => {
  let end = at
  for (; end < text.length; end++) {
    const char = text.charCodeAt(end)
    if (char === separator || char === quote || isBreak(char)) break
  }
  return end
}

/** Returns the closing quotation mark of a cell; -1 when there is none before `last`. */
const endOfQuoted = (text: string, at: number, last: number) => {
  let end = text.indexOf('"', at + 1)
  while (end >= 0 && end < last && text.charCodeAt(end + 1) === quote) end = text.indexOf('"', end + 2)
  return end < last ? end : -1
}

/**
 * Reads a table record by record, in time proportional to its length: the caller may yield before it takes the next
 * one. Throws `CsvError`.
 */
export function* csvRecords(text: string, separator: string, limits: CsvLimits): Generator<CsvRecord> {
  const separates = separator.charCodeAt(0)
  const afterBreak = (at: number) => at + (text.startsWith('\r\n', at) ? 2 : 1)
  let line = 1
  for (let at = 0; at < text.length; at = afterBreak(at), line++) {
    if (isBreak(text.charCodeAt(at))) {
      if (line % linesAtOnce === 0) yield { cells: [], count: 0, line }
      continue
    }
    const first = line
    const last = at + limits.length
    const cells: string[] = []
    let count = 1
    for (;;) {
      const isQuoted = text.charCodeAt(at) === quote
      const end = isQuoted ? endOfQuoted(text, at, last) : endOfPlain(text, at, separates)
      if (end < 0 || end > last) throw new CsvError(text.length > last ? 'long' : 'quotes', first)
      const cell = isQuoted ? text.slice(at + 1, end).replaceAll('""', '"') : text.slice(at, end)
      if (isQuoted) line += cell.match(/\r\n|\r|\n/g)?.length ?? 0
      if (count <= limits.cells) cells.push(cell)
      at = isQuoted ? end + 1 : end
      if (at === text.length || isBreak(text.charCodeAt(at))) break
      if (text.charCodeAt(at) !== separates) throw new CsvError('quotes', first)
      at++
      count++
    }
    yield { cells, count, line: first }
  }
}
