import { z } from 'zod'
import type { Route } from '../api/route.ts'
import { rateHeaders } from '../api/limits/limiter.ts'
import { namesOf, openedBy } from '../api/scope.ts'
import type { Description, FailureStatus, OwnFailure } from '../api/contract.ts'
import { failures, headers, requestHeaders, responses, securitySchemes, shapes, timeFields } from '../api/failures.ts'
import { mayWait } from '../approvals/guard.ts'
import { contracts, topics } from './contracts.ts'
import { introduction } from './introduction.ts'
import { type ObjectSchema, openSchemas, type Schema, type Schemas } from './schemas.ts'

export interface DocumentOptions {
  readonly routes: readonly Route[]
  readonly version: string
  /**
   * Says of objects in answers that they have no other fields. Clients must expect more: the service adds fields over
   * time.
   */
  readonly closed?: boolean
}

/** Adds the meanings of fields to their schemas. */
const explained = ({ properties = {}, ...rest }: ObjectSchema, meanings: Description['fields'] = {}): ObjectSchema => ({
  ...rest,
  properties: Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => {
      const description = meanings[name]
      return [name, description === undefined ? schema : { ...schema, description }]
    }),
  ),
})

const id = { type: 'integer', minimum: 1 }
const pathSchemas: Readonly<Record<string, Schema>> = { type: { type: 'string', enum: ['links', 'bio', 'qr'] } }

/** Whether requests may have an Idempotency-Key. */
const takesKey = ({ method, ofSession }: Route) => method !== 'get' && !ofSession

/** Returns the names of the headers that a request may have. */
const headersOf = (route: Route): readonly (keyof typeof requestHeaders)[] => {
  const { method, single, stream } = route
  if (stream) return ['Last-Event-ID']
  if (method === 'get') return single ? ['If-None-Match'] : []
  return [...(takesKey(route) ? (['Idempotency-Key'] as const) : []), ...(single ? (['If-Match'] as const) : [])]
}

/** Whether a GET answers for a moment of the past, too. */
const hasPast = ({ method, nowOnly }: Route) => method === 'get' && nowOnly === undefined
const parametersOf = (route: Route, { fields }: Description, schemas: Schemas) => {
  const { path, query } = route
  const inPath = [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    schema: pathSchemas[name] ?? id,
  }))
  const { properties = {}, required = [] } = query ? schemas.of(query, 'input') : {}
  const inQuery = Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query',
    ...(required.includes(name) ? { required: true } : {}),
    ...(fields?.[name] === undefined ? {} : { description: fields[name] }),
    schema,
  }))
  const inHeader = headersOf(route).map((name) => ({
    name,
    in: 'header',
    description: requestHeaders[name],
    schema: { type: 'string' },
  }))
  const ofTime = route.method === 'get' ? timeFields(hasPast(route), 'from' in properties) : []
  return [...inPath, ...inQuery, ...ofTime, ...inHeader]
}

const bodyOf = ({ body }: Route, { fields, example, texts = {}, ...described }: Description, schemas: Schemas) => {
  if (!body) return {}
  const schema = explained(schemas.of(described.body ?? body, 'input'), fields)
  const asText = Object.entries(texts).map(([type, text]) => [type, { schema: { type: 'string' }, example: text }])
  return {
    requestBody: {
      required: (schema.required ?? []).length > 0,
      content: {
        'application/json': { schema, ...(example && { example }) },
        ...(Object.fromEntries(asText) as Readonly<Record<string, object>>),
      },
    },
  }
}

const always = ['X-Request-Id', ...rateHeaders]

const headersNamed = (names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))

/** Adds the headers that every answer has. */
const withShared = <R extends object>(response: R & { readonly headers?: object }) => ({
  ...response,
  headers: { ...headersNamed(always), ...response.headers },
})

/** The failure response of a route: its own, or the one that it shares with other routes. */
const failureOf = (status: FailureStatus, own: OwnFailure | undefined, schemas: Schemas) => {
  if (own === undefined) return { $ref: `#/components/responses/${status}` }
  const { description, shape } = own
  if (!shape) return withShared({ ...failures[status], description })
  const shared = { $ref: '#/components/schemas/Failure' }
  const schema = { allOf: [shared, schemas.of(z.object(shape), 'output')] }
  return withShared({ ...failures[status], description, content: { 'application/json': { schema } } })
}

const answersOf = (route: Route, described: Description, schemas: Schemas) => {
  const { answer, answerType, answersAs = {}, failures: special = {} } = described
  const isList = route.query !== undefined && /"(?:page|cursor)"/.test(JSON.stringify(schemas.of(route.query, 'input')))
  const isTagged = route.single && route.method === 'get'
  const own = [
    ...always,
    ...(takesKey(route) ? ['Idempotent-Replayed'] : []),
    ...(hasPast(route) ? ['Linkledger-At'] : []),
    ...(route.method !== 'get' || hasPast(route) ? ['X-Projection-Pending'] : []),
    ...(isList ? ['Link'] : []),
    ...(isTagged ? ['ETag'] : []),
    ...(answerType === undefined || route.stream ? [] : ['Content-Disposition']),
  ]
  const statuses: FailureStatus[] = [
    ...(isTagged ? [304 as const] : []),
    ...(takesKey(route) ? ([409, 422] as const) : []),
    ...(!takesKey(route) && special[409] ? [409 as const] : []),
    ...(route.single && !isTagged ? [412 as const] : []),
    400,
    ...(route.public ? [] : ([401, 403] as const)),
    ...(route.public && special[403] ? [403 as const] : []),
    // registration can be turned off, and a session may choose an account that it is no member of
    404,
    ...(route.body ? ([413, 415] as const) : route.method === 'get' ? [] : ([413] as const)),
    429,
    ...(route.single ? [431 as const] : []),
    ...([500, 503] as const),
  ]
  return {
    200: {
      description: 'It succeeded.',
      headers: headersNamed(own),
      content: {
        [answerType ?? 'application/json']: { schema: schemas.of(answer, 'output') },
        ...(Object.fromEntries(
          Object.entries(answersAs).map(([type, description]) => [type, { schema: { type: 'string', description } }]),
        ) as Readonly<Record<string, object>>),
      },
    },
    ...(mayWait(route) && { 202: { $ref: '#/components/responses/202' } }),
    ...Object.fromEntries(statuses.map((status) => [status, failureOf(status, special[status], schemas)])),
  }
}

/** `POST /api/url/add` becomes `postUrlAdd`. */
const operationId = ({ method, path }: Route) =>
  method +
  path
    .replace(/^\/api/, '')
    .replaceAll(':', 'by-')
    .replaceAll(/[/-](\w)/g, (_, letter: string) => letter.toUpperCase())

/**
 * In OpenAPI 3.1, a security requirement of a bearer key lists the roles that it needs; several requirements are
 * alternatives.
 */
const accessOf = ({ scope, passwordInstead }: Route) => {
  if (scope === undefined) return { security: [] }
  if (scope === 'operator') return { security: [{ session: [] }] }
  const scopes = openedBy(scope)
  return {
    security: scopes.length === 0 ? [{ apiKey: [] }] : scopes.map((name) => ({ apiKey: [name] })),
    'x-scope': scopes,
    ...(passwordInstead && { 'x-scope-or': 'current_password' }),
  }
}

const descriptionWith = ({ scope = [], passwordInstead }: Route, { description }: Description) => {
  const scopes =
    scope !== 'operator' &&
    openedBy(scope).length > 0 &&
    `Scope: ${namesOf(scope)}${passwordInstead ? ', or `current_password`' : ''}.`
  const sentences = [description, scopes].filter(Boolean)
  return sentences.length > 0 && { description: sentences.join(' ') }
}

const operationOf = (route: Route, tag: string, description: Description, schemas: Schemas) => ({
  operationId: operationId(route),
  tags: [tag],
  summary: description.summary,
  ...descriptionWith(route, description),
  ...accessOf(route),
  parameters: parametersOf(route, description, schemas),
  ...bodyOf(route, description, schemas),
  responses: answersOf(route, description, schemas),
})

const descriptions = new Map(
  Object.entries(contracts).flatMap(([tag, described]) =>
    Object.entries(described).map(([endpoint, description]) => [endpoint, { tag, description }] as const),
  ),
)
/** Throws for a route without a description: a test looks at all. */
const descriptionOf = ({ method, path }: Route) => {
  const found = descriptions.get(`${method.toUpperCase()} ${path}`)
  if (!found) throw new Error(`${method} ${path} is not described in the contract of its subject`)
  return found
}

/** `/api/url/:id` is `/api/url/{id}` in OpenAPI. */
export const template = (path: string) => path.replaceAll(/:(\w+)/g, '{$1}')

/** Returns the description of the API in OpenAPI 3.1, made from the schemas that validate its requests. */
export const openApi = ({ routes, version, closed = false }: DocumentOptions) => {
  const schemas = openSchemas(closed)
  const paths: Record<string, Record<string, ReturnType<typeof operationOf>>> = {}
  for (const route of routes) {
    const { tag, description } = descriptionOf(route)
    ;(paths[template(route.path)] ??= {})[route.method] = operationOf(route, tag, description, schemas)
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Linkledger',
      version,
      description: introduction,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    security: [{ apiKey: [] }],
    tags: Object.entries(topics).map(([name, { about }]) => ({ name, description: about })),
    paths,
    components: {
      securitySchemes,
      schemas: { ...shapes, ...schemas.named },
      headers,
      responses: Object.fromEntries(
        Object.entries(responses).map(([status, response]) => [status, withShared(response)]),
      ),
    },
  }
}
