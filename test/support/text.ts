import fc from 'fast-check'

const [surrogates, last] = [{ first: 0xd800, count: 0x800 }, 0x10ffff]

/**
 * Any character. fast-check's own unit `binary` lists all 1,112,064 of them in a map, which costs each process of mocha
 * a second and its heap 100 MB.
 */
const character = fc.integer({ min: 0, max: last - surrogates.count }).map(
  (n) => String.fromCodePoint(n < surrogates.first ? n : n + surrogates.count),
  (text) => {
    const [only, more] = typeof text === 'string' ? Array.from(text) : []
    const code = more === undefined ? only?.codePointAt(0) : undefined
    if (code === undefined) throw new Error('not one character')
    return code < surrogates.first ? code : code - surrogates.count
  },
)

/** Returns strings of any characters, and of those that are special in JavaScript, such as `__proto__`. */
export const anyText = (limits: { readonly minLength?: number; readonly maxLength?: number } = {}) =>
  fc.string({ ...limits, unit: character })

/** Pieces that parsers and expressions tend to handle badly when there are many of them. */
export const pieces: readonly string[] = [
  ...[
    'x',
    '1',
    ' ',
    '\t',
    ',',
    ';',
    '.',
    '-',
    '_',
    '/',
    '@',
    '%',
    '"',
    "'",
    '\\',
    '[',
    '{',
    '(',
    '<',
    '=',
    '&',
    '*',
    '+',
    '#',
    ':',
  ],
  ...[
    '"",',
    '\\"',
    '[],',
    '{"a":',
    '[{"a":1},',
    ';q=0.1,',
    '=;',
    'a.',
    'a-',
    'a@',
    '%25',
    '%ff',
    'xn--',
    '../',
    '&#',
    'a ',
    '1.',
  ],
]

/**
 * The same for what knows Unicode: marks that are not in the order in which they are sorted, and very many different
 * characters.
 */
export const unicodePieces: readonly string[] = [
  '\u0315\u0300',
  String.fromCodePoint(...Array.from({ length: 20_992 }, (_, i) => 0x4e00 + i)),
]

/** Returns a text of so many characters that repeats a piece. */
export const runOf = (piece: string, size: number): string =>
  piece.repeat(Math.ceil(size / piece.length)).slice(0, size)
