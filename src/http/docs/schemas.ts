import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'

export type Schema = Readonly<Record<string, unknown>>
export interface ObjectSchema extends Schema {
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
}

type Io = 'input' | 'output'
/**
 * Collects what has a name of its own, so that clients that are generated have it, too: `#/components/schemas/Link`.
 */
export interface Schemas {
  readonly of: (schema: z.ZodType, io: Io) => ObjectSchema
  readonly named: Readonly<Record<string, Schema>>
}

type Json = z.core.JSONSchema.BaseSchema

/**
 * Clients that are generated (by openapi-generator 7) do not compile with a field that is always null or always the
 * same boolean, or with a choice between a map and something else. Here such rules are in words that generators pass
 * over: they take any value.
 */
const easeGenerators = (schema: z.core.$ZodType, json: Json) => {
  for (const property of Object.values(json.properties ?? {}) as Json[]) {
    if (property.type === 'null') {
      delete property.type
      property.const = null
    } else if (property.type === 'boolean' && property.const !== undefined) {
      property.not = { const: !property.const }
      delete property.const
    }
  }
  const map = schema instanceof z.ZodUnion ? schema.options.findIndex((option) => option instanceof z.ZodRecord) : -1
  if (map === -1 || !json.anyOf) return
  const others = json.anyOf.filter((_, index) => index !== map)
  Object.assign(json, { if: json.anyOf[map], else: others.length === 1 ? others[0] : { anyOf: others } })
  delete json.anyOf
}

/**
 * Returns the JSON Schema (draft 2020-12, the dialect of OpenAPI 3.1) of what a client sends (`input`) or receives
 * (`output`).
 */
const schemaOf = (schema: z.ZodType, io: Io, closed: boolean) =>
  z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      // the limits of whole numbers in JavaScript are no rule of the API
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
      if (jsonSchema.additionalProperties === false && !(closed && io === 'output'))
        delete jsonSchema.additionalProperties
      easeGenerators(zodSchema, jsonSchema)
    },
  })

/** Returns an empty collection. `closed`: answers have no other fields. */
export const openSchemas = (closed: boolean): Schemas => {
  const named: Record<string, Schema> = {}
  const collect = ([name, schema]: readonly [string, Schema]) => {
    if (!isDeepStrictEqual(named[name] ?? schema, schema)) throw new Error(`two schemas have the name ${name}`)
    named[name] = schema
  }
  const of = (schema: z.ZodType, io: Io) => {
    // what has a name is only referred to from within another schema
    const { properties, $defs } = schemaOf(z.object({ schema }), io, closed)
    const found = JSON.stringify({ properties, $defs }).replaceAll('"#/$defs/', '"#/components/schemas/')
    const parsed = JSON.parse(found) as { properties: { schema: ObjectSchema }; $defs?: Record<string, Schema> }
    Object.entries(parsed.$defs ?? {}).forEach(collect)
    return parsed.properties.schema
  }
  return { of, named }
}
