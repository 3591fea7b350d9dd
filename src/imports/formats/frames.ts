import { recordLimit } from './blocks.ts'

/** The bytes of a record, without its end; `long` has more than it may have, `open` has quotes that are not closed. */
export interface Frame {
  readonly line: number
  readonly bytes: Buffer
  readonly fault?: 'long' | 'open'
}

const [lf, cr, quote] = [0x0a, 0x0d, 0x22]
/** What is at the beginning of a cell, in a cell, between quotes, and behind a quote that may be the last one. */
const [begin, plain, quoted, closing] = [0, 1, 2, 3]

const none = Buffer.alloc(0)
const isPair = (bytes: Buffer, at: number) => bytes[at] === cr && bytes[at + 1] === lf

const countBreaks = (bytes: Buffer, separator: number | undefined) => {
  let breaks = 0
  for (let at = 0; at < bytes.length; at++)
    if (bytes[at] === lf || (bytes[at] === cr && separator !== undefined && bytes[at + 1] !== lf)) breaks++
  return breaks
}

/** Returns what knows how far a file is read; `onLook` learns how many bytes are looked at. */
const createCursor = (separator: number | undefined, onLook: (bytes: number) => void) => {
  let [rest, at, state, line] = [none as Buffer, 0, begin, 1]
  /** bytes that are read line by line */
  let again = 0

  const advance = (byte: number) => {
    if (separator === undefined) return
    if (state === quoted) state = byte === quote ? closing : quoted
    else if (byte === quote && (state === begin || state === closing)) state = quoted
    else state = byte === separator ? begin : plain
  }
  const isBreak = (byte: number) => byte === lf || (byte === cr && separator !== undefined)
  const drop = (bytes: number) => {
    line += countBreaks(rest.subarray(0, bytes), separator)
    rest = rest.subarray(bytes)
    again = Math.max(0, again - bytes)
    ;[at, state] = [0, begin]
  }
  /** Passes over a line, or its part that has come; returns whether it goes on. */
  const skipLine = () => {
    const end = rest.findIndex(isBreak)
    drop(end < 0 ? rest.length : end + 1)
    return end < 0
  }
  return {
    drop,
    skipLine,
    rest: () => rest,
    line: () => line,
    isOpen: () => state === quoted,
    add: (block: Buffer) => {
      rest = rest.length === 0 ? block : Buffer.concat([rest, block])
    },
    /** Returns where the record ends, -1 when its end has not come yet. */
    findEnd: () => {
      const from = at
      for (; at < rest.length; at++) {
        const byte = rest[at]!
        if ((state !== quoted || again > 0) && isBreak(byte)) break
        advance(byte)
      }
      onLook(at - from)
      return at < rest.length ? at : -1
    },
    /** Goes on behind the first line of what was read of a record; returns whether that goes on. */
    giveUp: () => {
      again = at
      return skipLine()
    },
  }
}

/**
 * Splits a file into its lines; with a separator into the records of a table, in which line breaks may be between
 * quotes. What was read of a record that is too long or never ends is read again line by line: its first line is passed
 * over, and each other one is a record of its own, `open` where its quotes are. So no byte is looked at more than
 * twice. `onLook` learns how many bytes are.
 */
export const frames = async function* (
  blocks: AsyncIterable<Buffer>,
  separator?: number,
  onLook: (bytes: number) => void = () => {},
): AsyncGenerator<Frame> {
  const cursor = createCursor(separator, onLook)
  let skipping = false
  const faulty = (fault: Frame['fault']): Frame => ({ line: cursor.line(), bytes: none, ...(fault && { fault }) })

  const take = function* (isLast: boolean): Generator<Frame> {
    for (;;) {
      if (skipping) skipping = cursor.skipLine()
      if (skipping) return
      const [end, rest] = [cursor.findEnd(), cursor.rest()]
      const isLong = (end < 0 ? rest.length : end) > recordLimit
      if (isLong || (end < 0 && isLast && cursor.isOpen())) {
        yield faulty(isLong ? 'long' : 'open')
        skipping = cursor.giveUp()
      } else if (end < 0) {
        if (isLast && rest.length > 0) yield { line: cursor.line(), bytes: rest }
        return
      } else if (rest[end] === cr && end + 1 === rest.length && !isLast) {
        // whether a line feed follows is not known yet
        return
      } else {
        if (cursor.isOpen()) yield faulty('open')
        else if (end > 0) yield { line: cursor.line(), bytes: rest.subarray(0, end) }
        cursor.drop(end + (isPair(rest, end) ? 2 : 1))
      }
      if (isLast && cursor.rest().length === 0) return
    }
  }

  for await (const block of blocks) {
    cursor.add(block)
    yield* take(false)
  }
  yield* take(true)
}
