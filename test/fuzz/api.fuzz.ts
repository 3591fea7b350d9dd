import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import fc from 'fast-check'
import { routes } from '../../src/http/routes.ts'
import { openApi } from '../../src/http/docs/openapi.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { type Answer, client } from '../support/client.ts'
import { checkAnswer } from '../support/document.ts'
import { repeatable, seed } from '../support/faults.ts'
import { requestHeaders } from '../../src/lib/strangers.ts'
import { settleTurns } from '../support/turns.ts'
import { longText, type Schema, valuesOf } from './schema.ts'
import { problem } from '../../src/lib/problems/problem.ts'

/** s; `FUZZ_SECONDS` sets it */
const duration = Number(process.env['FUZZ_SECONDS'] ?? 60)
/** ms after which a request counts as hanging: a bulk request may take 30 s */
const timeoutMs = 40_000

interface Request {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: unknown
  readonly hasKey: boolean
}

const { paths } = openApi({ routes, version: '' })
const operations = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), ...operation })),
)

const ids = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 1, max: 6 }).map(String) },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      '0',
      '-1',
      '1.0',
      '01',
      '+1',
      '1e3',
      '%31',
      '%00',
      '%ff',
      '%',
      'x',
      '99999999999999999999',
      '..',
      '1 ',
    ),
  },
  {
    weight: 1,
    arbitrary: fc
      .oneof(fc.string({ minLength: 1, maxLength: 12 }), longText(3000))
      .map((text) => encodeURIComponent(text.toWellFormed())),
  },
)
const asText = (value: unknown) => (typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).toWellFormed()

const pathOf = (path: string, parameters: readonly { readonly name: string; readonly schema: Schema }[]) => {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  const values = names.map((name) => {
    const { enum: known } = parameters.find((one) => one.name === name)?.schema ?? {}
    return Array.isArray(known) ? fc.oneof({ weight: 6, arbitrary: fc.constantFrom(...known.map(String)) }, ids) : ids
  })
  return fc
    .tuple(...values)
    .map((found) => names.reduce((at, name, i) => at.replace(`{${name}}`, () => found[i]!), path))
}

const queryOf = (
  parameters: readonly { readonly name: string; readonly schema: Schema; readonly required?: boolean }[],
) =>
  fc
    .tuple(
      ...parameters.map(({ name, schema, required = false }) =>
        fc.option(
          fc
            .array(valuesOf(schema), { minLength: 1, maxLength: 2 })
            .map((values) => values.map((value) => [name, asText(value)])),
          { nil: [], freq: required ? 20 : 1 },
        ),
      ),
    )
    .map((pairs) => new URLSearchParams(pairs.flat() as [string, string][]).toString())

type Content = Readonly<Record<string, { readonly schema?: Schema; readonly example?: unknown }>>

/** Bodies as the document has them, the example with some fields replaced, and bytes that are none of it. */
const bodyOf = (content: Content): fc.Arbitrary<{ readonly type: string; readonly body: unknown }> => {
  const { schema = {}, example = {} } = content['application/json'] ?? {}
  const properties = Object.entries((schema['properties'] ?? {}) as Record<string, Schema>)
  const changed = fc
    .record(Object.fromEntries(properties.map(([name, one]) => [name, valuesOf(one)])), { requiredKeys: [] })
    .map((fields) => ({ ...(example as object), ...fields }))
  const json = fc.oneof({ weight: 4, arbitrary: valuesOf(schema) }, { weight: 3, arbitrary: changed })
  const broken = fc.constantFrom(
    '',
    '{',
    '[]',
    'null',
    '"x"',
    '{"a":1}}',
    '{"__proto__":{"x":1}}',
    '['.repeat(10_000),
    `{"a":"${'x'.repeat(70_000)}"}`,
    '{"url":"\\ud800"}',
  )
  const long = fc.oneof(
    longText(64 * 1024),
    longText(64 * 1024).map((text) => `{"url":${text}}`),
  )
  const others = Object.entries(content).filter(([type]) => type !== 'application/json')
  const text = others.map(([type, one]) =>
    fc
      .oneof(
        fc.constant(String(one.example)),
        fc.tuple(fc.constant(String(one.example)), fc.string()).map((both) => both.join('\n')),
        fc.tuple(fc.constantFrom('', String(one.example)), longText(4 * 2 ** 20)).map((both) => both.join('\n')),
      )
      .map((body) => ({ type, body })),
  )
  return fc.oneof(
    { weight: 12, arbitrary: json.map((body) => ({ type: 'application/json', body })) },
    { weight: 1, arbitrary: fc.oneof(broken, long).map((body) => ({ type: 'application/json', body })) },
    {
      weight: 1,
      arbitrary: fc
        .tuple(
          fc.constantFrom(
            'text/plain',
            'application/json; charset=latin1',
            'application/x-www-form-urlencoded',
            ';',
            ...others.map(([type]) => type),
          ),
          broken,
        )
        .map(([type, body]) => ({ type, body })),
    },
    ...text.map((arbitrary) => ({ weight: 3, arbitrary })),
  )
}

const extraHeaders = fc.record(
  {
    Accept: fc.constantFrom('*/*', 'application/problem+json', 'text/html', 'x', ''),
    'If-Match': fc.constantFrom('*', '"0"', '"1"', 'W/"1"', '"1", "2"', 'x', '"'),
    'If-None-Match': fc.constantFrom('*', '"0"', '"1.0"', 'x'),
    'Idempotency-Key': fc.oneof(
      fc.constantFrom('a', '"b"', ''),
      fc.string({ unit: 'grapheme-ascii', maxLength: 300 }).map((text) => text.trim()),
    ),
    'X-Request-Id': fc.string({ unit: 'grapheme-ascii', maxLength: 200 }).map((text) => text.trim()),
    Origin: fc.constantFrom('https://example.org', 'null'),
    'X-Forwarded-For': fc.constantFrom('1.2.3.4', '::1', 'x'),
    'Content-Encoding': fc.constantFrom('gzip', 'identity'),
  },
  { requiredKeys: [] },
)

/** A long value in a header that the service reads. With `Host` or `Cookie`, the request is of another account. */
const longHeader = fc
  .record({ name: fc.constantFrom(...Object.keys(requestHeaders)), value: longText(15_000) })
  .map(({ name, value }) => ({ [name]: value.trim() }))

const requestsOf = (operation: (typeof operations)[number]): fc.Arbitrary<Request> => {
  const parameters = operation.parameters as readonly {
    readonly name: string
    readonly in: string
    readonly schema: Schema
  }[]
  const at = (where: string) => parameters.filter((one) => one.in === where)
  const body = 'requestBody' in operation ? bodyOf(operation.requestBody.content as Content) : fc.constant(undefined)
  return fc
    .record({
      path: pathOf(operation.path, at('path')),
      query: queryOf(at('query')),
      body: fc.option(body, { nil: undefined, freq: 20 }),
      headers: fc.oneof(
        { weight: 8, arbitrary: fc.constant({}) },
        { weight: 2, arbitrary: extraHeaders },
        { weight: 1, arbitrary: longHeader },
      ),
      hasKey: fc.integer({ min: 0, max: 20 }).map((n) => n > 0),
    })
    .map(({ path, query, headers, hasKey, body: sent }) => ({
      method: operation.method,
      path: query === '' ? path : `${path}?${query}`,
      headers: { ...(sent && { 'Content-Type': sent.type }), ...headers } as Record<string, string>,
      body: sent?.body,
      hasKey,
    }))
}

const requests = fc.constantFrom(...operations.map(requestsOf)).chain((one) => one)

/** Headers that the document need not name: those of HTTP itself, of CORS, of Node, and for a proxy. */
const general =
  /^(?:access-control-.*|allow|cache-control|connection|content-(?:length|security-policy|type)|cross-origin-opener-policy|date|keep-alive|transfer-encoding|vary|www-authenticate|x-accel-buffering|x-content-type-options|strict-transport-security)$/
const documented = new Set(
  Object.keys(openApi({ routes, version: '' }).components.headers).map((name) => name.toLowerCase()),
)

/** Whether Node has refused a request for its size, before it is known what it asks for. */
const isTooLong = (status: number, json: unknown) =>
  status === 431 && (json as { readonly params?: { readonly what?: string } }).params?.what === 'headers'

const expectDocumented = ({ status, headers, text, json }: Answer) => {
  expect(status, text).to.be.below(500)
  if (isTooLong(status, json)) return
  const isFile = status === 200 && !headers.get('Content-Type')?.startsWith('application/json')
  if (text !== '' && !isFile) expect(json, 'a JSON object').to.have.property('error')
  for (const [name] of headers) expect(general.test(name) || documented.has(name), `header ${name}`).to.equal(true)
  for (const name of ['x-request-id', 'x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'])
    expect(headers.has(name), name).to.equal(true)
}

describe('the API, with requests made from its document', function () {
  this.timeout(duration * 1000 + 120_000)
  let app: TestApp
  let key: string
  before(async () => {
    app = await startTestApp({ DOMAIN_CHECK: 'off', REGISTRATIONS_PER_HOUR: '0', QUOTA_LINKS: '0' }, undefined, {
      guardedFetch: async () => ({ ok: false, problem: problem('not_fetched', { what: 'unreachable' }) }),
    })
    ;({ key } = await app.register())
  })
  after(() => app.close())

  const send = async ({ method, path, headers, body, hasKey }: Request) => {
    const hanging = sleep(timeoutMs, undefined, { ref: false }).then(() => {
      throw new Error(`no answer within ${timeoutMs / 1000} s`)
    })
    const { ask } = client(app.address, (method, path, status, json) => {
      if (!isTooLong(status, json)) checkAnswer(method, path, status, json)
    })
    const asked = ask(method, path, { headers, ...(hasKey && { key }), ...(body !== undefined && { body }) })
    return Promise.race([asked, hanging])
  }

  it(`answers as documented, never with 5xx, and never hangs, for ${duration} s (${repeatable})`, async () => {
    const statuses = new Map<number, number>()
    const property = fc.asyncProperty(requests, async (request) => {
      const began = performance.now()
      const answer = await send(request)
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
      expectDocumented(answer)
      await settleTurns(began)
      // a request may have ended the key or the account
      if (request.hasKey && (answer.status === 401 || answer.status === 403)) ({ key } = await app.register())
    })
    await fc.assert(property, {
      seed,
      numRuns: 1_000_000,
      interruptAfterTimeLimit: duration * 1000,
      markInterruptAsFailure: false,
    })
    // a run whose requests are all refused would prove nothing
    expect(statuses.get(200) ?? 0, JSON.stringify([...statuses])).to.be.greaterThan(10)
    expect([...statuses.keys()]).to.include.members([400, 404])
  })
})
