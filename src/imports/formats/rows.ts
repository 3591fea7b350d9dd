import { createKeeper } from './keeper.ts'

/** A row of an INSERT, without its brackets. */
export interface SqlRow {
  readonly line: number
  readonly table: string
  /** undefined where neither the statement nor the table says them */
  readonly columns: readonly string[] | undefined
  /** undefined when it is too long */
  readonly bytes: Buffer | undefined
}

/** bytes of a statement that are looked at, besides its rows */
const headLimit = 64 * 1024
const [lf, backslash, star, slash, dash] = [0x0a, 0x5c, 0x2a, 0x2f, 0x2d]
const [opening, closing, semicolon, hash, comma] = [0x28, 0x29, 0x3b, 0x23, 0x2c]
const isQuote = (byte: number) => byte === 0x27 || byte === 0x22 || byte === 0x60

const bare = (name: string) =>
  name
    .replaceAll(/[`"\s]/g, '')
    .replace(/^[^.]*\./, '')
    .toLowerCase()

/** Returns the table into which an INSERT writes, and its columns where it names them. */
const insertIn = (head: string) => {
  const table = /^\s*(?:INSERT|REPLACE)\b/i.test(head) ? /\bINTO\s+([^\s(]{1,200})/i.exec(head)?.[1] : undefined
  if (table === undefined) return undefined
  const begin = head.indexOf('(')
  const columns =
    begin < 0
      ? undefined
      : head
          .slice(begin + 1, head.lastIndexOf(')'))
          .split(',')
          .map(bare)
  return { table: bare(table), columns }
}
/** Returns a table that is made, and its columns: dumps have each in a line of its own. */
const createIn = (head: string) => {
  const table = /^\s*CREATE\s+TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?([^\s(]{1,200})/i.exec(head)?.[1]
  if (table === undefined) return undefined
  const lines = head.split('\n').map((line) => line.trim())
  const columns = lines.filter((line) => line.startsWith('`')).map((line) => bare(line.split('`', 2).join('')))
  return { table: bare(table), columns }
}

/** Returns what finds the rows of INSERTs in blocks of SQL, without keeping more than one. */
export const rowScanner = () => {
  let [line, depth, quote, comment, last, isEscaped] = [1, 0, 0, 0, 0, false]
  /** the statement so far; the rows of an INSERT are not part of it */
  let head = ''
  let into: Omit<SqlRow, 'line' | 'bytes'> | undefined
  let rowLine = 0
  const keeper = createKeeper()
  let found: SqlRow[] = []
  const tables = new Map<string, readonly string[]>()

  const endStatement = () => {
    const made = into ? undefined : createIn(head)
    if (made && tables.size < 1000) tables.set(made.table, made.columns)
    ;[head, into, depth] = ['', undefined, 0]
  }
  const open = (at: number) => {
    depth++
    if (depth > 1) return
    if (!into && /\bVALUES?\s*$/i.test(head.slice(-16))) {
      const insert = insertIn(head)
      if (insert) into = { ...insert, columns: insert.columns ?? tables.get(insert.table) }
    } else if (last !== comma) return
    if (!into) return
    keeper.begin(at + 1)
    rowLine = line
  }
  const close = (block: Buffer, at: number) => {
    depth = Math.max(0, depth - 1)
    if (depth > 0 || !into || !keeper.isOpen()) return
    found.push({ ...into, line: rowLine, bytes: keeper.end(block, at) })
  }
  /** Whether a comment begins with this byte and the one before. */
  const beginsComment = (byte: number) =>
    depth === 0 && (byte === hash || (last === dash && byte === dash) || (last === slash && byte === star))

  const inside = (byte: number) => {
    if (quote !== 0) {
      if (isEscaped) isEscaped = false
      else if (byte === backslash && quote !== 0x60) isEscaped = true
      else if (byte === quote) quote = 0
    } else if (comment === star ? last === star && byte === slash : byte === lf) comment = 0
  }
  const step = (byte: number, block: Buffer, at: number) => {
    const isComment = comment !== 0
    if (byte === lf) line++
    if (quote !== 0 || comment !== 0) inside(byte)
    else if (isQuote(byte)) quote = byte
    else if (beginsComment(byte)) [comment, head] = [byte, byte === hash ? head : head.slice(0, -1)]
    else if (byte === opening) open(at)
    else if (byte === closing) close(block, at)
    else if (byte === semicolon && !keeper.isOpen()) {
      last = byte
      return endStatement()
    }
    if (!into && !isComment && comment === 0 && head.length < headLimit) head += String.fromCharCode(byte)
    if (byte > 0x20) last = byte
  }

  const scan = (block: Buffer): readonly SqlRow[] => {
    found = []
    for (let at = 0; at < block.length; at++) step(block[at]!, block, at)
    keeper.endBlock(block)
    return found
  }
  return { scan, isOpen: () => keeper.isOpen() || quote !== 0 }
}
