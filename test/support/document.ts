import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { routes } from '../../src/http/routes.ts'
import { openApi, template } from '../../src/http/docs/openapi.ts'

const document = openApi({ routes, version: 'test', closed: true })
// the reference's own spec validates the document; here most of the time would go into that and into making the code of
// a schema short
const ajv = new Ajv2020({
  strict: false,
  allErrors: true,
  validateSchema: false,
  inlineRefs: false,
  code: { optimize: false },
})
ajv.addSchema({ ...document, $id: 'document' })

const pointer = (...parts: readonly string[]) =>
  `document#/${parts.map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/')}`

const operations = routes.map(({ method, path }) => ({
  method: method.toUpperCase(),
  matches: new RegExp(`^${path.replaceAll(/:\w+/g, '[^/]*')}$`),
  at: ['paths', template(path), method] as const,
  statuses: Object.keys(document.paths[template(path)]![method]!.responses).map(Number),
  types: Object.keys(document.paths[template(path)]![method]!.responses[200].content),
}))

const validators = new Map<string, ValidateFunction>()
const validator = (ref: string) => {
  const found = validators.get(ref) ?? ajv.compile({ $ref: ref })
  validators.set(ref, found)
  return found
}

/** Throws unless a JSON answer of the API is as the OpenAPI document describes it, without any field more. */
export const checkAnswer = (method: string, path: string, status: number, json: unknown, type = '') => {
  const { pathname } = new URL(path, 'http://service')
  // a path that is served with other methods only
  const operation = operations.find((one) => one.method === method && one.matches.test(pathname))
  if (!operation) return
  const fail = (problem: string) => {
    throw new Error(`${method} ${path} ${status} is not as in /openapi.json: ${problem}\n${JSON.stringify(json)}`)
  }
  if (!operation.statuses.includes(status)) fail('it has no such status')
  const isFile =
    !operation.types.includes('application/json') || (type !== 'application/json' && operation.types.includes(type))
  if (status === 304 || (status === 200 && isFile)) return
  const ref =
    status === 200
      ? pointer(...operation.at, 'responses', '200', 'content', 'application/json', 'schema')
      : status === 202
        ? pointer('components', 'schemas', 'Proposed')
        : pointer('components', 'schemas', (json as { detail?: string }).detail === undefined ? 'Failure' : 'Problem')
  const validate = validator(ref)
  if (!validate(json)) fail(ajv.errorsText(validate.errors))
}
