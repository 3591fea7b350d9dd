/** What may be in a JSON text. */
export interface JsonLimits {
  /** how many arrays and objects a value may be in */
  readonly levels: number
  /** how many values there may be, at all levels: the whole, and each in an array or object */
  readonly values: number
}

const [quote, comma, backslash] = [0x22, 0x2c, 0x5c]
const isOpening = (char: number) => char === 0x5b || char === 0x7b
const isClosing = (char: number) => char === 0x5d || char === 0x7d

const isEscaped = (text: string, at: number) => {
  let first = at
  while (text.charCodeAt(first - 1) === backslash) first--
  return (at - first) % 2 === 1
}

/** Returns where the string ends that begins at a quotation mark. */
const endOfString = (text: string, at: number) => {
  let end = text.indexOf('"', at + 1)
  while (end > 0 && isEscaped(text, end)) end = text.indexOf('"', end + 1)
  return end < 0 ? text.length : end
}

/**
 * Returns whether a JSON text keeps within limits, before it is parsed: to parse millions of levels or values takes a
 * hundred times as long. A text that is no JSON may keep within them, too.
 */
export const isWithin = (text: string, { levels, values }: JsonLimits): boolean => {
  let level = 0
  let found = 1
  let last = 0
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at)
    if (char <= 0x20) continue
    // an array or object that closes at once has no values
    const isFirst = isOpening(last) && !isClosing(char)
    if (isFirst && level > levels) return false
    if (isFirst || char === comma) found++
    if (found > values) return false
    if (isOpening(char)) level++
    else if (isClosing(char)) level--
    else if (char === quote) at = endOfString(text, at)
    last = char
  }
  return true
}

/** Returns what a JSON text says; undefined when it is no JSON. */
export const parseJson = (text: string): { readonly value: unknown } | undefined => {
  try {
    return { value: JSON.parse(text) as unknown }
  } catch {
    return undefined
  }
}
