import fc from 'fast-check'
import { pieces, runOf } from '../support/text.ts'

export type Schema = Readonly<Record<string, unknown>>

/** Values that programs tend to handle badly. */
const nasty = fc.constantFrom<unknown>(
  ...[
    '',
    ' ',
    '\0',
    '\uD800',
    '\uFEFF',
    '‮',
    '💥',
    "'; drop table read.link; --",
    '<script>',
    '{{7*7}}',
    '../../etc/passwd',
    '%00',
  ],
  ...[
    '__proto__',
    'constructor',
    'null',
    'true',
    '1e309',
    '-1',
    '0x10',
    '٣',
    'ß',
    'İ',
    'https://',
    'http://[::1',
    'javascript:1',
  ],
  ...[
    'https://example.com:99999/',
    'https://a@b',
    'https://xn--a',
    '2030-02-30',
    '9999-12-31T23:59:59+23:59',
    'x'.repeat(5000),
  ],
  ...[0, -0, -1, 1, 1.5, 1e21, 2 ** 31, 2 ** 53, 2 ** 63, Number.MAX_VALUE, true, false, null],
  ...[[], [[]], {}, [null], { length: 1 }, { toString: 1 }, { id: {} }, Array.from({ length: 60 }, () => 1)],
)

const sizes = [256, 257, 2048, 2049, 4097, 8192, 15_000, 30_000, 60_000]

/** Long runs of a piece, or of two: of usual lengths, of the most characters that there may be, and of one more. */
export const longText = (most: number): fc.Arbitrary<string> =>
  fc
    .record({
      begin: fc.constantFrom('', '"', 'x', 'https://', '{"a":['),
      piece: fc.constantFrom(...pieces),
      second: fc.option(fc.constantFrom(...pieces), { freq: 3 }),
      size: fc.constantFrom(...sizes.filter((size) => size < most), most, most + 1),
      end: fc.constantFrom('', '"', 'x', '!'),
    })
    .map(({ begin, piece, second, size, end }) => {
      const room = Math.max(0, size - begin.length - end.length)
      const first = second === null ? room : room >> 1
      return begin + runOf(piece, first) + runOf(second ?? piece, room - first) + end
    })

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** Returns values that a JSON Schema allows, and now and then others. */
export const valuesOf = (schema: Schema, depth = 0): fc.Arbitrary<unknown> =>
  fc.oneof(
    { weight: 16, arbitrary: fitting(schema, depth) },
    { weight: 2, arbitrary: nasty },
    { weight: 1, arbitrary: longText(62_000) },
  )

const known = new Map<string, fc.Arbitrary<string>>()
/** What makes texts of a pattern is slow to prepare. */
const matching = (pattern: string): fc.Arbitrary<string> => {
  const made = known.get(pattern) ?? fc.stringMatching(new RegExp(pattern))
  known.set(pattern, made)
  return made
}

const texts = ({ pattern, format, maxLength }: Schema): fc.Arbitrary<unknown> => {
  if (typeof pattern === 'string') return fc.oneof({ weight: 8, arbitrary: matching(pattern) }, longText(300))
  const most = typeof maxLength === 'number' ? maxLength : 300
  return fc.oneof(
    fc.string({ maxLength: Math.min(most, 40) }),
    fc.string({ unit: 'grapheme', maxLength: 20 }),
    fc.constantFrom(
      '2030-01-31 18:00:00',
      'https://example.com/a?b=c#d',
      'example.com',
      'ann@example.com',
      'direct',
      'fr',
      'Canada',
    ),
    longText(most),
    ...(format === 'email' ? [fc.emailAddress()] : []),
  )
}

/** A type of JSON Schema, with the rules that go with it. */
const byType: Readonly<Record<string, (schema: Schema, depth: number) => fc.Arbitrary<unknown>>> = {
  null: () => fc.constant(null),
  boolean: () => fc.boolean(),
  integer: () => fc.oneof(fc.integer({ min: 1, max: 5 }), fc.integer(), fc.maxSafeInteger()),
  number: () => fc.double(),
  string: texts,
  array: ({ items }, depth) => fc.array(valuesOf((items ?? {}) as Schema, depth + 1), { maxLength: 4 }),
  object: ({ properties = {}, required }, depth) => {
    const entries = Object.entries(properties as Record<string, Schema>)
    const values = Object.fromEntries(entries.map(([name, schema]) => [name, valuesOf(schema, depth + 1)]))
    const needed = list(required).map(String)
    return fc.oneof(
      { weight: 6, arbitrary: fc.record(values, { requiredKeys: needed }) },
      { weight: 1, arbitrary: fc.record(values, { requiredKeys: [] }) },
    )
  },
}

const fitting = (schema: Schema, depth: number): fc.Arbitrary<unknown> => {
  if (depth > 6) return nasty
  if ('const' in schema) return fc.constant(schema['const'])
  const [values, choices] = [list(schema['enum']), [...list(schema['anyOf']), ...list(schema['oneOf'])] as Schema[]]
  if (values.length > 0) return fc.constantFrom(...values)
  if (choices.length > 0) return fc.oneof(...choices.map((choice) => valuesOf(choice, depth + 1)))
  const types = [schema['type']].flat().flatMap((type) => byType[String(type)] ?? [])
  return types.length === 0 ? fc.jsonValue({ maxDepth: 2 }) : fc.oneof(...types.map((make) => make(schema, depth)))
}
