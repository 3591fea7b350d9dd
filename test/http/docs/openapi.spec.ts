import { Validator } from '@seriousme/openapi-schema-validator'
import { expect } from 'chai'
import { routes } from '../../../src/http/routes.ts'
import { contracts } from '../../../src/http/docs/contracts.ts'
import { openApi, template } from '../../../src/http/docs/openapi.ts'

describe('the OpenAPI document', () => {
  const document = openApi({ routes, version: '1.2.3' })
  const operations = Object.values(document.paths).flatMap((path) => Object.values(path))

  it('is valid OpenAPI 3.1', async () => {
    const { valid, errors } = await new Validator().validate(structuredClone(document))
    expect(errors).to.equal(undefined)
    expect(valid).to.equal(true)
  })

  it('has every route, and describes none that does not exist', () => {
    const served = routes.map(({ method, path }) => `${method.toUpperCase()} ${path}`)
    expect(Object.values(contracts).flatMap((described) => Object.keys(described))).to.have.members(served)
    for (const { method, path } of routes) expect(document.paths[template(path)]).to.have.property(method)
  })

  it('gives each operation a name of its own, for generated clients', () => {
    const names = operations.map(({ operationId }) => operationId)
    expect(new Set(names).size).to.equal(names.length)
    expect(names).to.include.members(['postUrlAdd', 'getUrlById', 'postChannelByChannelidAssignByTypeByItemid'])
  })

  it('names the objects that it answers with, for generated clients', () => {
    const { schemas } = document.components
    expect(schemas).to.include.keys(
      'Account Campaign Channel Domain Failure Link LinkDetails LinkList Overlay Pixel Problem QrCode Splash Statistics'.split(
        ' ',
      ),
    )
    const inline = JSON.stringify(document.paths)
    expect(inline).to.include('"$ref":"#/components/schemas/LinkDetails"')
    for (const shared of ['perpage', 'topCountries']) expect(inline).not.to.include(`"${shared}"`)
  })

  it('has nothing in answers that generated clients do not compile with, and says the same in other words', () => {
    const { LinkStatistics, QrCodeStatistics, DeletedForGood, Account } = document.components.schemas as Readonly<
      Record<string, { readonly properties: Readonly<Record<string, unknown>> }>
    >
    const labels = { $ref: '#/components/schemas/Labels' }
    expect(LinkStatistics!.properties['topOs']).to.deep.equal({
      description: 'clicks by label, the ten with most clicks; 0 without data',
      if: labels,
      else: { type: 'number', const: 0 },
    })
    expect(QrCodeStatistics!.properties['topOs']).to.deep.equal(labels)
    expect(DeletedForGood!.properties['undo']).to.deep.equal({ const: null, description: 'it cannot be taken back' })
    expect(Account!.properties['operator']).to.deep.include({ type: 'boolean', not: { const: false } })
  })

  it('has `tz` wherever a request or a response has days', () => {
    const isDay = /"pattern":"\^\\\\d\{4\}-\\\\d\\\\d-\\\\d\\\\d\$"/
    const { schemas } = document.components as { readonly schemas: Readonly<Record<string, object>> }
    const whole = (part: object, known: readonly string[] = []): string => {
      const text = JSON.stringify(part)
      const names = [...text.matchAll(/#\/components\/schemas\/(\w+)/g)].map(([, name = '']) => name)
      const further = [...new Set(names)].filter((name) => !known.includes(name))
      return [text, ...further.map((name) => whole(schemas[name] ?? {}, [...known, ...further]))].join('')
    }
    const withDays = operations.filter(({ responses, parameters, ...operation }) => {
      const isPeriod = (part: unknown) => /"from":\{.*"to":\{/.test(JSON.stringify(part))
      return (
        isDay.test(whole(responses[200])) ||
        parameters.some(({ name }) => ['interval', 'from'].includes(name)) ||
        ('requestBody' in operation && isPeriod(operation.requestBody) && isPeriod(responses[200]))
      )
    })
    const names = withDays.map(({ operationId }) => operationId)
    expect(names).to.include.members(['getMisses', 'getOperatorMisses', 'getChannelById', 'getStats', 'getUrls'])
    expect(names).to.include('postUrlByIdRehearse')
    const hasZone = ({ parameters, ...operation }: (typeof operations)[number]) =>
      parameters.some(({ name }) => name === 'tz') || JSON.stringify(operation).includes('"tz":{')
    expect(withDays.filter((one) => !hasZone(one)).map(({ operationId }) => operationId)).to.deep.equal([])
  })

  it('explains only fields that exist', () => {
    for (const route of routes) {
      const endpoint = `${route.method.toUpperCase()} ${route.path}`
      const { fields = {} } = Object.values(contracts).find((described) => endpoint in described)![endpoint]!
      const operation = document.paths[template(route.path)]![route.method]!
      const inBody =
        'requestBody' in operation ? operation.requestBody.content['application/json'].schema.properties : {}
      const names = [...operation.parameters.map(({ name }) => name), ...Object.keys(inBody ?? {})]
      expect(names, endpoint).to.include.members(Object.keys(fields))
    }
  })

  it('shows an example of every body', () => {
    for (const operation of operations)
      if ('requestBody' in operation)
        expect(operation.requestBody.content['application/json'], operation.operationId).to.have.property('example')
  })

  it('opens with each scope the routes in docs/api.md', () => {
    const opened = (scope: string) =>
      Object.entries(document.paths).flatMap(([path, methods]) =>
        Object.entries(methods).flatMap(([method, operation]) =>
          'x-scope' in operation && operation['x-scope'].includes(scope) ? [`${method.toUpperCase()} ${path}`] : [],
        ),
      )
    expect(opened('links:write')).to.have.members([
      'POST /api/url/add',
      'PUT /api/url/{id}/update',
      'DELETE /api/url/{id}/delete',
      'POST /api/url/{id}/addresses',
      'DELETE /api/url/{id}/address/{address}/delete',
      'POST /api/urls/bulk',
      'POST /api/import',
      'POST /api/import/{id}/start',
      'DELETE /api/import/{id}/delete',
      'POST /api/url/{id}/restore',
    ])
    expect(opened('stats:read')).to.have.members([
      'GET /api/url/{id}/stats',
      'GET /api/account/stats',
      'GET /api/visits',
      'GET /api/stats',
      'GET /api/misses',
      'POST /api/url/{id}/rehearse',
    ])
    expect(
      opened('account').filter(
        (endpoint) =>
          !/ \/api\/(?:(?:key|member|passkey|session|webhook)s|identities|(?:identity|key|member|passkey|session|webhook)\/.*|account(?:\/.*)?)$/.test(
            endpoint,
          ),
      ),
    ).to.deep.equal([])
    // a rehearsal changes nothing, but has a body
    for (const endpoint of opened('read')) expect(endpoint).to.match(/^GET |\/rehearse$/)
    for (const endpoint of opened('write')) {
      expect(endpoint).not.to.match(/^GET /)
      expect(opened('account')).not.to.include(endpoint)
    }
  })

  it('describes each group of operations, and the headers of every response', () => {
    for (const { name, ...tag } of document.tags) expect(tag, name).to.have.property('description')
    for (const [status, { headers }] of Object.entries(document.components.responses))
      expect(headers, status).to.include.keys('X-Request-Id', 'X-RateLimit-Remaining')
  })

  it('requires no parameter with a default, and has all operations of a link among the links', () => {
    const required = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.values(methods).flatMap(({ parameters }) =>
        parameters.flatMap((one) =>
          one.in === 'query' && 'required' in one && one.required ? [`${path} ${one.name}`] : [],
        ),
      ),
    )
    expect(required).to.deep.equal(['/api/urls/bulk op'])
    expect(document.paths['/api/url/{id}/stats']?.['get']?.tags).to.deep.equal(['Links'])
  })

  it('describes the next step after each one, as the manual does', () => {
    const { description } = document.info
    for (const word of ['Idempotency-Key', 'If-Match', 'cursor', 'An account has a number of requests', 'redirect404'])
      expect(description).to.include(word)
    for (const [path, next] of [
      ['/api/domain/add', '/verify'],
      ['/api/splash/add', 'splash-<id>'],
      ['/api/overlay/add', 'overlay-<id>'],
      ['/api/pixel/add', '`pixels`'],
    ] as const)
      expect(document.paths[path]?.['post']?.description, path).to.include(next)
  })

  it('lets clients expect further fields in answers', () => {
    expect(JSON.stringify(document)).not.to.include('"additionalProperties":false')
  })
})
