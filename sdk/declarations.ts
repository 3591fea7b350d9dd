interface Schema {
  readonly $ref?: string
  readonly description?: string
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
  readonly if?: Schema
  readonly else?: Schema
  readonly type?: string | readonly string[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: Schema
}
type Content = Readonly<Record<string, { readonly schema: Schema }>>
interface Response {
  readonly $ref?: string
  readonly description?: string
  readonly content?: Content
}
interface Parameter {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly description?: string
  readonly schema: Schema
}
interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly description?: string
  readonly parameters: readonly Parameter[]
  readonly requestBody?: { readonly required: boolean; readonly content: Content }
  readonly responses: Readonly<Record<string, Response>>
}

/** What is read of an OpenAPI document. */
export interface ApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>
    readonly responses: Readonly<Record<string, Response>>
  }
}

interface Member {
  readonly name: string
  readonly type: string
  readonly optional?: boolean
  readonly comment?: string | undefined
}

const literal = (value: unknown) => JSON.stringify(value)
const keyOf = (name: string) => (/^([a-z_$][\w$]*|\d+)$/i.test(name) ? name : literal(name))
const commentOf = (text: string | undefined) =>
  text === undefined ? '' : `/** ${text.replaceAll('*/', '*\\/').replaceAll(/\s+/g, ' ')} */\n`

const memberText = ({ name, type, optional = false, comment }: Member) =>
  `${commentOf(comment)}${keyOf(name)}${optional ? '?' : ''}: ${type}`
const block = (members: readonly Member[]) =>
  members.length === 0 ? '{}' : `{\n${members.map(memberText).join('\n').replaceAll(/^/gm, '  ')}\n}`

/** `#/components/schemas/Link` is `components["schemas"]["Link"]`. */
const referenced = (ref: string) => {
  const [, first, ...others] = ref.split('/')
  return `${first}${others.map((part) => `[${literal(part)}]`).join('')}`
}

const joined = (types: readonly string[], sign: '|' | '&') => {
  const [first = 'never', ...others] = new Set(types)
  return others.length === 0 ? first : `(${[first, ...others].join(` ${sign} `)})`
}
const union = (types: readonly string[]) => joined(types, '|')

const objectType = ({ properties, required = [], additionalProperties: rest }: Schema) => {
  const map = rest && `{ [name: string]: ${typeOf(rest)} }`
  if (properties === undefined) return map ?? 'Record<string, unknown>'
  const members = Object.entries(properties).map(([name, schema]) => ({
    name,
    type: typeOf(schema),
    optional: !required.includes(name),
    comment: schema.description,
  }))
  if (members.length === 0) return map ?? 'Record<string, never>'
  return joined([block(members), ...(map ? [map] : [])], '&')
}

const plainType = (type: string | undefined, schema: Schema) => {
  switch (type) {
    case 'string':
    case 'boolean':
    case 'null':
      return type
    case 'number':
    case 'integer':
      return 'number'
    case 'array':
      return `${typeOf(schema.items ?? {})}[]`
    case 'object':
      return objectType(schema)
    case undefined:
      return schema.properties ? objectType(schema) : 'unknown'
    default:
      throw new Error(`no declaration is known for the type ${type}`)
  }
}

const typeOf = (schema: Schema): string => {
  if (schema.$ref !== undefined) return referenced(schema.$ref)
  if ('const' in schema) return literal(schema.const)
  if (schema.enum) return union(schema.enum.map(literal))
  const either = schema.anyOf ?? schema.oneOf ?? (schema.if && schema.else && [schema.if, schema.else])
  if (either) return union(either.map(typeOf))
  if (schema.allOf) return joined(schema.allOf.map(typeOf), '&')
  return typeof schema.type === 'object'
    ? union(schema.type.map((type) => plainType(type, schema)))
    : plainType(schema.type, schema)
}

const contentType = (content: Content) =>
  block(Object.entries(content).map(([name, { schema }]) => ({ name, type: typeOf(schema) })))

const responseType = ({ $ref, content }: Response) => {
  if ($ref !== undefined) return referenced($ref)
  return block(
    content ? [{ name: 'content', type: contentType(content) }] : [{ name: 'content', optional: true, type: 'never' }],
  )
}
const responseMember = ([name, response]: readonly [string, Response]): Member => ({
  name,
  type: responseType(response),
  comment: response.description,
})

const parametersType = (parameters: readonly Parameter[]) => {
  const places = [...new Set(parameters.map((parameter) => parameter.in))]
  return block(
    places.map((place) => {
      const inPlace = parameters.filter((parameter) => parameter.in === place)
      const members = inPlace.map(({ name, required, description, schema }) => ({
        name,
        type: typeOf(schema),
        optional: !required,
        comment: description,
      }))
      return { name: place, type: block(members), optional: members.every(({ optional }) => optional) }
    }),
  )
}

const operationType = ({ parameters, requestBody, responses }: Operation) =>
  block([
    { name: 'parameters', type: parametersType(parameters) },
    ...(requestBody
      ? [
          {
            name: 'requestBody',
            type: block([{ name: 'content', type: contentType(requestBody.content) }]),
            optional: !requestBody.required,
          },
        ]
      : []),
    { name: 'responses', type: block(Object.entries(responses).map(responseMember)) },
  ])

const pathMember = ([name, methods]: readonly [string, Readonly<Record<string, Operation>>]): Member => ({
  name,
  type: block(
    Object.entries(methods).map(([method, { operationId, summary, description }]) => ({
      name: method,
      type: `operations[${literal(operationId)}]`,
      comment: description === undefined ? summary : `${summary}. ${description}`,
    })),
  ),
})

/** Returns the TypeScript declarations of an OpenAPI document, in the shape that `openapi-fetch` reads. */
export const declarationsOf = ({ paths, components }: ApiDocument) => {
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods))
  const schemas = Object.entries(components.schemas).map(([name, schema]) => ({
    name,
    type: typeOf(schema),
    comment: schema.description,
  }))
  const interfaces = {
    paths: Object.entries(paths).map(pathMember),
    components: [
      { name: 'schemas', type: block(schemas) },
      { name: 'responses', type: block(Object.entries(components.responses).map(responseMember)) },
    ],
    operations: operations.map((operation) => ({ name: operation.operationId, type: operationType(operation) })),
  }
  return Object.entries(interfaces)
    .map(([name, members]) => `export interface ${name} ${block(members)}\n`)
    .join('\n')
}
