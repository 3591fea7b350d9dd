import { gunzipSync } from 'node:zlib'
import { expect } from 'chai'
import { routes } from '../../../src/http/routes.ts'
import { contracts } from '../../../src/http/docs/contracts.ts'
import { openApi, template } from '../../../src/http/docs/openapi.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'

// the test client compares every answer of every flow with the document
describe('the API reference', () => {
  let app: TestApp
  before(async () => {
    app = await startTestApp()
  })
  after(() => app.close())

  it('is served to programs of any origin, compressed, and not sent again while it is the same', async () => {
    const first = await app.get('/openapi.json')
    expect(first.status).to.equal(200)
    expect(first.json['openapi']).to.equal('3.1.0')
    expect(first.headers.get('Access-Control-Allow-Origin')).to.equal('*')
    const etag = first.headers.get('ETag') ?? ''
    const again = await app.get('/openapi.json', { headers: { 'If-None-Match': `"other", W/${etag}` } })
    expect([again.status, again.text]).to.deep.equal([304, ''])
    expect((await app.post('/openapi.json')).status).to.equal(405)

    const { request } = await import('node:http')
    const zipped = await new Promise<Buffer>((resolve) => {
      request(`${app.address}/openapi.json`, { headers: { 'Accept-Encoding': 'br, gzip' } }, (res) => {
        expect(res.headers['content-encoding']).to.equal('gzip')
        const parts: Buffer[] = []
        res.on('data', (part: Buffer) => parts.push(part)).on('end', () => resolve(Buffer.concat(parts)))
      }).end()
    })
    expect(gunzipSync(zipped).toString()).to.equal(first.text)
  })

  it('has examples that the service accepts', async () => {
    const { paths } = openApi({ routes, version: '' })
    /** of the account that the first example makes: the others fit it */
    let key = ''
    /** the id of what was created last below a path: `/api/pixel` */
    const ids = new Map<string, unknown>()
    // resetting a password needs a mail server, signing in a browser, and a code the time: see the flows of mail and
    // sessions, members and approvals; a message has the number of its event
    const others = [
      '/api/account/reset',
      '/api/session',
      '/api/session/confirm',
      '/api/account/totp',
      '/api/account/add',
      '/api/account/handover',
      '/api/membership/:id/erase',
      '/api/proposal/:id/approve',
      '/api/proposal/:id/refuse',
      '/api/account/approval',
      '/api/webhook/:id/resend',
      '/api/invitation',
      '/api/invitation/accept',
      '/api/identity/add',
      '/api/session/confirm/identity',
      '/api/session/passkey',
      '/api/session/confirm/passkey',
      '/api/passkey/begin',
      '/api/passkey/add',
      '/api/passkey/:id/update',
    ]
    // operators are signed in: see the flow of their view
    const writing = routes.filter(
      ({ method, path, body }) =>
        body && method !== 'get' && !others.includes(path) && !path.startsWith('/api/operator/'),
    )
    const isFirst = ({ path }: { readonly path: string }) => path === '/register'
    const ordered = [
      ...writing.filter(isFirst),
      ...writing.filter((route) => route.method === 'post' && !isFirst(route)),
      ...writing.filter(({ method }) => method === 'put'),
    ]
    for (const { method, path } of ordered) {
      const operation = paths[template(path)]![method]!
      const body = 'requestBody' in operation ? operation.requestBody.content['application/json'].example : undefined
      const kind = path.split('/').slice(0, 3).join('/')
      const endpoint = `${method.toUpperCase()} ${path}`
      const { exampleQuery } = Object.values(contracts).find((described) => endpoint in described)![endpoint]!
      const query = exampleQuery ? `?${new URLSearchParams(exampleQuery).toString()}` : ''
      const { status, json } = await app.ask(method.toUpperCase(), path.replace(':id', String(ids.get(kind))) + query, {
        key,
        body,
      })
      expect(status, `${method} ${path} ${JSON.stringify(json)}`).to.equal(200)
      if (path === '/register') key = String(json['api_key'])
      if (method === 'post' && json['id'] !== undefined) ids.set(kind, json['id'])
    }
  })
})
