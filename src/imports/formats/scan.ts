import { createKeeper } from './keeper.ts'

/** The bytes of an object, or what is wrong in a line. */
export interface Piece {
  readonly line: number
  readonly bytes: Buffer
  readonly fault?: 'long' | 'json' | 'type' | 'cut'
}

/** Where lists of links are: at the top, or in pages of the APIs of Kutt, Bitly, GemPixel, Shlink and YOURLS. */
const listPath = /^(?:|(?:\[\]\.)?(?:data|links|urls|data\.urls|shortUrls\.data))$/
const recordPath = /^(?:\[\]\.)?(?:(?:data|links|urls|data\.urls|shortUrls\.data)\.\[\]|links\.link_\d{1,9})$/

interface Container {
  readonly isArray: boolean
  /** whether its elements are records */
  readonly isList: boolean
  /** the last key of an object */
  key: string
}
/** containers that are noted: further inside, they are only counted, and refused when the record is parsed */
const deepest = 100
/** how deep a list can be in pages */
const deepestList = 4

const [quote, backslash, comma, colon, lf] = [0x22, 0x5c, 0x2c, 0x3a, 0x0a]
const none = Buffer.alloc(0)
const isOpening = (byte: number) => byte === 0x5b || byte === 0x7b
const isClosing = (byte: number) => byte === 0x5d || byte === 0x7d

/** Returns what knows in which containers a byte of JSON is. */
const createNesting = () => {
  let stack: Container[] = []
  let depth = 0
  return {
    depth: () => depth,
    top: () => (stack.length === depth ? stack.at(-1) : undefined),
    /** Returns the keys that lead here, as far as they may lead to a list. */
    path: () => (depth > deepestList ? undefined : stack.map(({ isArray, key }) => (isArray ? '[]' : key)).join('.')),
    open: (isArray: boolean, isList: boolean) => {
      if (stack.length === depth && depth < deepest) stack.push({ isArray, isList, key: '' })
      depth++
    },
    /** Returns whether a container of this kind is open. */
    close: (isArray: boolean) => {
      const fits = stack.length < depth || stack.pop()?.isArray === isArray
      depth--
      return fits
    },
    reset: () => {
      ;[stack, depth] = [[], 0]
    },
  }
}

/** Returns what knows whether a byte of JSON is in a string, and notes keys that may lead to a list. */
const createStrings = ({ depth, top }: ReturnType<typeof createNesting>) => {
  let [isOpen, isEscaped] = [false, false]
  let key: string | undefined
  return {
    isOpen: () => isOpen,
    begin: (isKey: boolean) => {
      isOpen = true
      key = isKey && depth() <= deepestList ? '' : undefined
    },
    look: (byte: number) => {
      if (isEscaped) isEscaped = false
      else if (byte === backslash) isEscaped = true
      else if (byte === quote) {
        const container = top()
        if (key !== undefined && container) container.key = key
        isOpen = false
      } else if (key !== undefined && key.length < 64) key += String.fromCharCode(byte)
    },
    reset: () => {
      ;[isOpen, isEscaped] = [false, false]
    },
  }
}

/** Returns what keeps the bytes of the record that is read. */
const createRecord = (nesting: ReturnType<typeof createNesting>) => {
  const keeper = createKeeper()
  /** an outer one may still turn out to be a page */
  let record: { readonly line: number; readonly depth: number; readonly isOuter: boolean } | undefined
  const reset = () => {
    keeper.reset()
    record = undefined
  }
  return {
    reset,
    endBlock: keeper.endBlock,
    line: () => record?.line,
    isInner: () => record?.isOuter === false,
    /** Begins a record where one is; returns whether a list of records begins. */
    open: (isArray: boolean, line: number, at: number): boolean => {
      const path = record?.isOuter === false ? undefined : nesting.path()
      if (path === undefined) return false
      const isList = isArray && listPath.test(path)
      const isRecord = !isArray && recordPath.test(path)
      // what was a record so far is a page
      if (isList || isRecord) reset()
      const isOuter = !isRecord && (path === '' || path === '[]')
      if (!isArray && !record && (isRecord || isOuter)) {
        record = { line, depth: nesting.depth(), isOuter }
        keeper.begin(at)
      }
      return isList
    },
    /** Returns the record when it ends here. */
    close: (block: Buffer, at: number): Piece | undefined => {
      if (record?.depth !== nesting.depth()) return undefined
      const [{ line }, bytes] = [record, keeper.end(block, at + 1)]
      record = undefined
      return bytes ? { line, bytes } : { line, bytes: none, fault: 'long' }
    },
  }
}

/**
 * Returns what finds the records in blocks of JSON, without keeping more than one. `byLine` says that no record goes on
 * in another line.
 */
export const scanner = (byLine: boolean) => {
  const nesting = createNesting()
  const [strings, record] = [createStrings(nesting), createRecord(nesting)]
  let [line, last, isLost] = [1, 0, false]
  let found: Piece[] = []

  const fail = (fault: NonNullable<Piece['fault']>, at = line) => found.push({ line: at, bytes: none, fault })
  const lose = (at = byLine ? line : (record.line() ?? line)) => {
    if (!isLost) fail('json', at)
    isLost = true
  }
  const close = (byte: number, block: Buffer, at: number) => {
    if (!nesting.close(byte === 0x5d)) return lose()
    const closed = record.close(block, at)
    if (closed) found.push(closed)
  }
  /** Looks at a byte outside of strings. */
  const look = (byte: number, block: Buffer, at: number) => {
    if (byte <= 0x20) return
    const top = nesting.top()
    if (nesting.depth() === 0 && byte !== comma && !isOpening(byte)) return lose()
    const isElement = top?.isList && (last === comma || isOpening(last))
    if (isElement && byte !== 0x7b && byte !== comma && !isClosing(byte)) fail('type')
    const isArray = byte === 0x5b
    if (byte === quote) strings.begin(top?.isArray === false && last !== colon && !record.isInner())
    else if (isOpening(byte)) nesting.open(isArray, record.open(isArray, line, at))
    else if (isClosing(byte)) close(byte, block, at)
    last = byte
  }
  const endLine = () => {
    line++
    if (!byLine) return
    if (nesting.depth() > 0 || strings.isOpen()) lose(line - 1)
    for (const part of [nesting, strings, record]) part.reset()
    ;[last, isLost] = [0, false]
  }

  const scan = (block: Buffer): readonly Piece[] => {
    found = []
    for (let at = 0; at < block.length; at++) {
      const byte = block[at]!
      if (byte === lf) endLine()
      else if (isLost) continue
      else if (strings.isOpen()) strings.look(byte)
      else look(byte, block, at)
    }
    record.endBlock(block)
    return found
  }
  const end = (): readonly Piece[] => {
    found = []
    if (!isLost && (nesting.depth() > 0 || strings.isOpen())) fail('cut', record.line() ?? line)
    return found
  }
  return { scan, end, isLost: () => isLost && !byLine }
}
