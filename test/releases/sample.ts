import { z } from 'zod'

interface Schema {
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly examples?: readonly unknown[]
  readonly anyOf?: readonly Schema[]
  readonly type?: string | readonly string[]
  readonly format?: string
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: Schema | boolean
}

/** What a value is made of: a number for ids, and a word. */
interface Example {
  readonly n: number
  readonly word: string
}

/** Values for fields by their names: what folds and projections expect of them. */
const strings: Readonly<Record<string, (example: Example) => string>> = {
  addresses: () => '192.0.2.0/24',
  alias: ({ n, word }) => `${word}-${n}`,
  avatar: ({ word }) => `https://example.com/${word}.png`,
  data: ({ word }) => `"https://example.com/${word}"`,
  destination: ({ word }) => `https://example.com/${word}`,
  destinations: ({ word }) => `https://example.com/${word}`,
  domain: ({ n }) => `https://golden-${n}.example.com`,
  email: ({ n, word }) => `${word}-${n}@example.com`,
  entered: ({ word }) => `https://example.com/${word}?as=entered`,
  expired_url: () => 'https://example.com/ended',
  fields: () => '{"email":"visitor@example.com"}',
  holder: ({ n }) => `link-${n}`,
  id: ({ n }) => `golden-${n}`,
  key: ({ n, word }) => `${word}${n}`,
  image: ({ word }) => `https://example.com/${word}.png`,
  languages: () => 'en',
  link: ({ word }) => `https://example.com/${word}`,
  product: ({ word }) => `https://example.com/${word}`,
  redirect404: () => 'https://example.com/missing',
  redirectroot: () => 'https://example.com/',
  slug: ({ n, word }) => `${word}-${n}`,
  stream: ({ n }) => `link-${n}`,
  url: ({ word }) => `https://example.com/${word}`,
  username: ({ n, word }) => `${word}-${n}`,
  value: ({ n }) => String(n),
  visitor: () => '00000000000000ab',
  visitors: () => '00000000000000ab',
}
const resources = ['account', 'bio', 'campaign', 'channel', 'domain', 'id', 'item', 'link', 'overlay', 'pixels', 'qr']
const indexes = ['agent', 'destination', 'languages']

/** Fields that are ids of resources in one place and something else in another. */
const integerFor = (path: readonly string[], n: number) => {
  const name = path.findLast((part) => part !== '[]') ?? ''
  if (path.includes('clicks') && indexes.includes(name)) return 0
  if (['variants', 'links'].includes(path.at(-3) ?? '')) return 1
  return resources.includes(name) || name === 'subject' ? n : 1
}

const stringFor = ({ format }: Schema, path: readonly string[], example: Example) => {
  const name = path.findLast((part) => part !== '[]') ?? ''
  if (format === 'date-time') return '2031-01-02T03:04:05.000Z'
  if (format === 'uuid') return '00000000-0000-4000-8000-000000000001'
  return strings[name]?.(example) ?? example.word
}

const valueFor = (schema: Schema, path: readonly string[], example: Example): unknown => {
  if ('const' in schema) return schema.const
  if (schema.enum) return schema.enum[0]
  if (schema.examples) return schema.examples[0]
  if (schema.anyOf) return valueFor(schema.anyOf.find(({ type }) => type !== 'null') ?? {}, path, example)
  switch ([schema.type].flat().find((type) => type !== 'null')) {
    case 'string':
      return stringFor(schema, path, example)
    case 'integer':
    case 'number':
      return integerFor(path, example.n)
    case 'boolean':
      return true
    case 'array':
      return [valueFor(schema.items ?? {}, [...path, '[]'], example)]
    case 'object': {
      const { properties = {}, additionalProperties: more } = schema
      const known = Object.entries(properties).map(
        ([name, one]) => [name, valueFor(one, [...path, name], example)] as const,
      )
      const others = typeof more === 'object' ? [['golden', valueFor(more, [...path, 'golden'], example)] as const] : []
      return Object.fromEntries([...known, ...others])
    }
    default:
      return null
  }
}

/** Returns a payload with all fields of a schema. Its ids are the number `n`, its texts have the word. */
export const sampleOf = (schema: z.ZodType, n: number, word = 'golden') =>
  valueFor(z.toJSONSchema(schema, { io: 'input' }) as Schema, [], { n, word }) as Readonly<Record<string, unknown>>
