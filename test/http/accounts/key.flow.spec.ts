import { expect } from 'chai'
import { allScopes } from '../../../src/events/accounts/scope.ts'
import { routes } from '../../../src/http/routes.ts'
import { openApi } from '../../../src/http/docs/openapi.ts'
import { newKey } from '../../../src/security/apikeys.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { until } from '../../support/client.ts'
import { secondsLater } from '../../support/clock.ts'
import { expectFailure } from '../../support/conventions.ts'

describe('API keys', () => {
  let app: TestApp
  /** another process, which does not project */
  let web: TestApp
  let running = true
  let main: string
  let other: string
  before(async () => {
    app = await startTestApp({ TRUST_PROXY: '1' })
    web = await startTestApp({ TRUST_PROXY: '1', ROLES: 'http,relay' }, app.connection)
    main = (await app.register()).key
    other = (await app.register()).key
  })
  after(async () => {
    await web?.close()
    if (running) await app.close()
  })

  const add = async (body: object, key = main) => {
    const { status, json } = await app.post('/api/key/add', { key, body: { name: 'a key', ...body } })
    expect(status, JSON.stringify(json)).to.equal(200)
    return { id: Number(json['id']), key: String(json['key']) }
  }
  interface Listed extends Record<string, unknown> {
    readonly id: number
  }
  const listed = async (key = main) => (await app.get('/api/keys?limit=1000', { key })).json['data'].keys as Listed[]
  const status = async (key: string, at = app, from = '192.0.2.1') =>
    (await at.get('/api/account', { key, headers: { 'X-Forwarded-For': from } })).status
  const soon = async (key: string, wanted: number, at: TestApp) =>
    expect(
      await until(
        () => status(key, at),
        (now) => now === wanted,
      ),
    ).to.equal(wanted)

  it('with one scope may call exactly the operations of that scope in the OpenAPI document', async () => {
    const { paths } = openApi({ routes, version: '' })
    const operations = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
    )
    for (const scope of allScopes) {
      const { key } = await add({ scopes: [scope] })
      for (const { method, path, operation } of operations) {
        const what = `${method} ${path} with ${scope}`
        const open: readonly string[] | undefined = 'x-scope' in operation ? operation['x-scope'] : undefined
        // operator actions need a session, for any scopes of a key
        const bySession = operation.security.some((one) => 'session' in one)
        const allowed = !bySession && (open === undefined || open.length === 0 || open.includes(scope))
        // what is allowed fails at its body, which cannot be read, or at an id that does not exist
        const body =
          method === 'GET' || method === 'DELETE'
            ? undefined
            : 'x-scope-or' in operation
              ? { email: 'a@b.example' }
              : '{'
        const answer = await app.ask(method, path.replace('{type}', 'links').replaceAll(/\{\w+\}/g, '999999'), {
          key,
          ...(body === undefined || (allowed && 'x-scope-or' in operation) ? {} : { body }),
        })
        if (allowed) expect(answer.status, what).to.be.oneOf([200, 400, 404])
        else {
          expectFailure(answer, 403, what)
          expect(answer.json['message'], what).to.include(bySession ? 'Only an operator' : `\`${open?.at(-1)}\``)
        }
      }
    }
  })

  it('are listed with their rights, but without their secret', async () => {
    const expires = '2040-01-31 12:00:00'
    const { id, key } = await add({
      name: 'import',
      scopes: ['write', 'read'],
      expires,
      addresses: ['10.0.0.0/8 ', '2001:DB8::/32'],
    })
    const [row] = await listed()
    expect(row).to.deep.include({
      id,
      name: 'import',
      scopes: ['read', 'write'],
      expires,
      addresses: ['10.0.0.0/8', '2001:db8::/32'],
      lastused: '',
      current: false,
    })
    expect(key.startsWith(String(row?.['key']).slice(0, -1))).to.equal(true)
    expect(JSON.stringify(row)).not.to.include(key.slice(20))
    const first = (await listed()).at(-1)
    expect(first).to.deep.include({
      id: 1,
      name: 'Main key',
      scopes: allScopes,
      expires: '',
      addresses: [],
      current: true,
    })
    expect(await listed(other), 'of another account').to.have.length(1)
    expect((await app.put(`/api/key/${id}/update`, { key: other, body: { name: 'x' } })).status).to.equal(404)
    expect((await app.del(`/api/key/${id}/delete`, { key: other })).status).to.equal(404)
  })

  it('show when they were used last', async () => {
    const { id, key } = await add({ scopes: ['read'] })
    await status(key)
    const row = await until(
      async () => (await listed()).find((one) => one.id === id),
      (found) => Boolean(found?.['lastused']),
    )
    expect(row?.['lastused']).to.match(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/)
  })

  it('work only from the networks they are allowed for', async () => {
    const { key } = await add({ scopes: ['read'], addresses: ['198.51.100.0/24', '2001:db8::/32'] })
    for (const from of ['198.51.100.7', '2001:DB8:1::2', '::ffff:198.51.100.8'])
      expect(await status(key, app, from)).to.equal(200)
    for (const from of ['198.51.101.7', '2001:db9::1']) {
      const answer = await app.get('/api/account', { key, headers: { 'X-Forwarded-For': from } })
      expectFailure(answer, 403, from)
      expect(answer.json['message']).to.include('address')
    }
  })

  it('cannot make or change keys beyond themselves', async () => {
    const { key } = await add({ scopes: ['account', 'read'] })
    for (const [method, path, body] of [
      ['POST', '/api/key/add', { name: 'x', scopes: ['write'] }],
      ['PUT', '/api/key/1/update', { scopes: ['links:write'] }],
      ['POST', '/api/key/1/rotate', {}],
    ] as const)
      expectFailure(await app.ask(method, path, { key, body }), 403, path)
    await add({ scopes: ['stats:read'] }, key)
  })

  it('name the field that is wrong', async () => {
    for (const [field, body] of [
      ['name', { scopes: ['read'] }],
      ['name', { name: ' ', scopes: ['read'] }],
      ['scopes', { name: 'x' }],
      ['scopes', { name: 'x', scopes: [] }],
      ['scopes.0', { name: 'x', scopes: ['admin'] }],
      ['expires', { name: 'x', scopes: ['read'], expires: '2001-01-01' }],
      ['addresses.0', { name: 'x', scopes: ['read'], addresses: ['10.0.0.0/33'] }],
      ['addresses', { name: 'x', scopes: ['read'], addresses: '10.0.0.0/8' }],
    ] as const) {
      const { status, json } = await app.post('/api/key/add', { key: main, body })
      expect([status, String(json['message']).split(' ')[0]], JSON.stringify(body)).to.deep.equal([400, `\`${field}\``])
    }
  })

  it('overlap when they are rotated', async () => {
    const { id, key: old } = await add({ scopes: ['read'], name: 'server' })
    const { json } = await app.post(`/api/key/${id}/rotate`, { key: main, body: { overlap: 60 } })
    const key = String(json['key'])
    expect(json['old'].id).to.equal(id)
    for (const at of [app, web]) {
      await soon(key, 200, at)
      expect(await status(old, at)).to.equal(200)
    }
    expect((await listed())[0]).to.deep.include({ id: json['id'], name: 'server', scopes: ['read'], expires: '' })
    await secondsLater(61, async () => expect([await status(old), await status(key)]).to.deep.equal([401, 200]))

    const { json: again } = await app.post(`/api/key/${json['id']}/rotate`, { key: main, body: { overlap: 0 } })
    expect([await status(key), await status(String(again['key']))]).to.deep.equal([401, 200])
  })

  it('end in all processes, by their id or by being shown, with the same answer for any key', async () => {
    const byId = await add({ scopes: ['read'] })
    const shown = await add({ scopes: ['read'], addresses: ['10.0.0.0/8'] })
    expect((await app.del(`/api/key/${byId.id}/delete`, { key: main })).status).to.equal(200)
    const revoke = (key: unknown) => app.post('/api/key/revoke', { body: { key } })
    const answers = [await revoke(shown.key), await revoke(shown.key), await revoke(newKey(Buffer.alloc(32)).key)]
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).to.equal(1)
    expect(answers[0]?.status).to.equal(200)
    for (const at of [app, web]) for (const { key } of [byId, shown]) await soon(key, 401, at)
    const ids = (await listed()).map(({ id }) => id)
    expect(ids).not.to.include(byId.id).and.not.to.include(shown.id)
    expect((await revoke('ll_x')).status).to.equal(400)
    expect((await app.del(`/api/key/${byId.id}/delete`, { key: main })).status).to.equal(404)
  })

  it('end with the same answer for all of several simultaneous requests', async () => {
    const { key } = await add({ scopes: ['read'] })
    const revoke = () => app.post('/api/key/revoke', { body: { key } })
    const answers = await Promise.all([revoke(), revoke(), revoke(), revoke()])
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`))).to.have.property('size', 1)
    expect(answers[0]?.status).to.equal(200)
    await soon(key, 401, app)
  })

  it('are given again for an Idempotency-Key only to the key that made them', async () => {
    const headers = { 'Idempotency-Key': 'the first key' }
    const body = { name: 'strong', scopes: ['read', 'write'] }
    const send = (key: string) => app.post('/api/key/add', { key, body, headers })
    const made = await send(main)
    expect((await send(main)).text).to.equal(made.text)
    const weak = await add({ scopes: ['account'] })
    const answer = await send(weak.key)
    expectFailure(answer, 422, 'add')
    expect(answer.text).not.to.include(made.json['key'])
    const rotate = (key: string) =>
      app.post(`/api/key/${made.json['id']}/rotate`, { key, body: {}, headers: { 'Idempotency-Key': 'rotated' } })
    expect((await rotate(main)).status).to.equal(200)
    expectFailure(await rotate(weak.key), 422, 'rotate')
  })

  it('without the scope `account` change the account with its password only', async () => {
    const { key } = await add({ scopes: ['write'] })
    const update = (by: string, body: object) => app.put('/api/account/update', { key: by, body })
    const email = `ann-${crypto.randomUUID()}@example.com`
    const refused = await update(key, { email })
    expectFailure(refused, 403, 'without a password')
    expect(refused.json['message']).to.include('`account`').and.to.include('`current_password`')
    expect((await update(key, { email, current_password: 'wrong' })).status).to.equal(400)
    expect((await update(key, { email, current_password: 'correct horse 1' })).status).to.equal(200)
    expect((await update(main, { email: `x${email}` })).status).to.equal(200)
  })

  it('end at once also while the tables are late', async () => {
    const { id, key } = await add({ scopes: ['read'] })
    await soon(key, 200, web)
    running = false
    await app.close()
    const answer = await web.del(`/api/key/${id}/delete`, { key: main })
    expect([answer.status, answer.headers.get('X-Projection-Pending')]).to.deep.equal([200, '1'])
    expect(await status(key, web)).to.equal(401)
    expect(await status(main, web)).to.equal(200)
  })
})
