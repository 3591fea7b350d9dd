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

/** Returns what knows whether a byte of SQL is in a string or a comment. */
const createLexer = () => {
  let [quote, comment, last, isEscaped] = [0, 0, 0, false]
  const inside = (byte: number) => {
    if (quote !== 0) {
      if (isEscaped) isEscaped = false
      else if (byte === backslash && quote !== 0x60) isEscaped = true
      else if (byte === quote) quote = 0
    } else if (comment === star ? last === star && byte === slash : byte === lf) comment = 0
  }
  const beginsComment = (byte: number) =>
    byte === hash || (last === dash && byte === dash) || (last === slash && byte === star)
  return {
    isString: () => quote !== 0,
    /** Returns what a byte is. In rows there are no comments. */
    look: (byte: number, isRow: boolean): 'plain' | 'string' | 'comment' | 'begins' => {
      const [isString, isComment] = [quote !== 0, comment !== 0]
      const begins = !isString && !isComment && !isRow && beginsComment(byte)
      if (isString || isComment) inside(byte)
      else if (isQuote(byte)) quote = byte
      else if (begins) comment = byte
      if (byte > 0x20) last = byte
      return begins ? 'begins' : isComment ? 'comment' : isString || quote !== 0 ? 'string' : 'plain'
    },
  }
}

/** Returns what knows the statement that is read, and the columns of tables that statements before have made. */
const createStatement = () => {
  /** without the rows of an INSERT */
  let head = ''
  let into: Omit<SqlRow, 'line' | 'bytes'> | undefined
  const tables = new Map<string, readonly string[]>()
  return {
    into: () => into,
    add: (byte: number) => {
      if (!into && head.length < headLimit) head += String.fromCharCode(byte)
    },
    /** Takes back the first character of a comment. */
    takeBack: () => {
      head = head.replace(/[-/]$/, '')
    },
    /** Returns whether a bracket is that of the first row. */
    beginsRows: (): boolean => {
      if (into || !/\bVALUES?\s*$/i.test(head.slice(-16))) return false
      const insert = insertIn(head)
      if (insert) into = { ...insert, columns: insert.columns ?? tables.get(insert.table) }
      return into !== undefined
    },
    end: () => {
      const made = into ? undefined : createIn(head)
      if (made && tables.size < 1000) tables.set(made.table, made.columns)
      ;[head, into] = ['', undefined]
    },
  }
}

/** Returns what finds the rows of INSERTs in blocks of SQL, without keeping more than one. */
export const rowScanner = () => {
  const [lexer, statement, keeper] = [createLexer(), createStatement(), createKeeper()]
  /** `last` is the last byte before, without white space */
  let [line, depth, last, rowLine] = [1, 0, 0, 0]
  let found: SqlRow[] = []

  const open = (at: number) => {
    depth++
    // what follows the rows of some INSERTs is no row
    if (depth > 1 || !(statement.beginsRows() || (statement.into() && last === comma))) return
    keeper.begin(at + 1)
    rowLine = line
  }
  const close = (block: Buffer, at: number) => {
    depth = Math.max(0, depth - 1)
    const into = statement.into()
    if (depth === 0 && into && keeper.isOpen()) found.push({ ...into, line: rowLine, bytes: keeper.end(block, at) })
  }
  const step = (byte: number, block: Buffer, at: number) => {
    if (byte === lf) line++
    const kind = lexer.look(byte, depth > 0)
    if (kind === 'begins') statement.takeBack()
    if (kind === 'begins' || kind === 'comment') return
    if (kind === 'plain' && byte === semicolon && !keeper.isOpen()) {
      statement.end()
      depth = 0
    } else {
      if (kind === 'plain' && byte === opening) open(at)
      else if (kind === 'plain' && byte === closing) close(block, at)
      statement.add(byte)
    }
    if (byte > 0x20) last = byte
  }

  const scan = (block: Buffer): readonly SqlRow[] => {
    found = []
    for (let at = 0; at < block.length; at++) step(block[at]!, block, at)
    keeper.endBlock(block)
    return found
  }
  return { scan, isOpen: () => keeper.isOpen() || lexer.isString() }
}
