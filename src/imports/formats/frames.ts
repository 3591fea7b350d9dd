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
  let [rest, at, state, line, skipping] = [Buffer.alloc(0) as Buffer, 0, begin, 1, false]
  /** bytes that are read line by line */
  let again = 0

  const advance = (byte: number) => {
    if (separator === undefined) return
    if (state === quoted) state = byte === quote ? closing : quoted
    else if (byte === quote && (state === begin || state === closing)) state = quoted
    else state = byte === separator ? begin : plain
  }
  const isBreak = (byte: number) => byte === lf || (byte === cr && separator !== undefined)

  /** Returns where the record ends, -1 when its end has not come yet. */
  const findEnd = () => {
    const from = at
    for (; at < rest.length; at++) {
      const byte = rest[at]!
      if ((state !== quoted || again > 0) && isBreak(byte)) break
      advance(byte)
    }
    onLook(at - from)
    return at < rest.length ? at : -1
  }
  const drop = (bytes: number) => {
    line += countBreaks(rest.subarray(0, bytes), separator)
    rest = rest.subarray(bytes)
    again = Math.max(0, again - bytes)
    ;[at, state] = [0, begin]
  }
  /** Passes over the line in which a record begins that cannot be read. */
  const skipLine = () => {
    const end = rest.findIndex(isBreak)
    skipping = end < 0
    drop(end < 0 ? rest.length : end + 1)
  }
  /** Goes on behind the first line of what was read of a record. */
  const giveUp = () => {
    again = at
    skipLine()
  }

  const take = function* (isLast: boolean): Generator<Frame> {
    for (;;) {
      if (skipping) {
        skipLine()
        if (skipping) return
      }
      const end = findEnd()
      if ((end < 0 ? rest.length : end) > recordLimit) {
        yield { line, bytes: none, fault: 'long' }
        giveUp()
      } else if (end < 0 && isLast && state === quoted) {
        yield { line, bytes: none, fault: 'open' }
        giveUp()
      } else if (end < 0) {
        if (isLast && rest.length > 0) yield { line, bytes: rest }
        return
      } else if (rest[end] === cr && end + 1 === rest.length && !isLast) {
        // whether a line feed follows is not known yet
        return
      } else {
        if (state === quoted) yield { line, bytes: none, fault: 'open' }
        else if (end > 0) yield { line, bytes: rest.subarray(0, end) }
        drop(end + (isPair(rest, end) ? 2 : 1))
      }
      if (isLast && rest.length === 0) return
    }
  }

  for await (const block of blocks) {
    rest = rest.length === 0 ? block : Buffer.concat([rest, block])
    yield* take(false)
  }
  yield* take(true)
}
