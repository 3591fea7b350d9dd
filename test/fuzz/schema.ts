import fc from 'fast-check'

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

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** Returns values that a JSON Schema allows, and now and then others. */
export const valuesOf = (schema: Schema, depth = 0): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 8, arbitrary: fitting(schema, depth) }, { weight: 1, arbitrary: nasty })

const texts = ({ pattern, format, maxLength }: Schema): fc.Arbitrary<unknown> => {
  if (typeof pattern === 'string') return fc.stringMatching(new RegExp(pattern))
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
    fc.constant('x'.repeat(most + 1)),
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
