import { expect } from 'chai'
import { routes } from '../../../src/http/api/routes.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { bodies } from '../../support/bodies.ts'
import { expectFailure } from '../../support/conventions.ts'

describe('an id of another account (threat 27, fault 32)', () => {
  let app: TestApp
  let key: string
  let other: string
  before(async () => {
    app = await startTestApp()
    key = (await app.register()).key
    other = (await app.register()).key
    // keys are numbered in each account: those of the other one get numbers that ours does not reach
    const ahead = { key: other, body: { name: 'x', scopes: ['read'] } }
    for (let n = 0; n < 20; n++) await app.post('/api/key/add', ahead)
  })
  after(() => app.close())
  const head = () => app.domainHead()

  it('gets the same response on every route as an unknown, deleted or malformed id, byte by byte', async () => {
    const withId = routes.filter(({ path }) => /^\/api\/[a-z]+\/:id(\/|$)/.test(path))
    expect(withId).to.have.length.at.least(3)
    for (const { method, path } of withId) {
      const resource = path.split('/')[2]!
      const [body, valid] = bodies[resource] ?? []
      if (!body || !valid) throw new Error(`${path}: this spec needs a body that creates the resource`)
      const create = async (by: string) => {
        const { json, text } = await app.post(`/api/${resource}/add`, { key: by, body: body() })
        expect(json['error'], `${resource} ${text}`).to.equal(0)
        return Number(json['id'])
      }
      const [foreign, deleted, mine] = [await create(other), await create(key), await create(key)]
      const gone = await app.del(`/api/${resource}/${deleted}/delete`, { key })
      expect(gone.status, gone.text).to.equal(200)
      const ask = (id: string | number, body: unknown) =>
        app.ask(method.toUpperCase(), path.replace(':id', String(id)), { key, ...(method === 'get' ? {} : { body }) })
      const written = await head()

      const expected = await ask(999_999, {})
      expectFailure(expected, 404, path)
      const odd =
        '0 -1 -0 +1 01 1.0 1.5 1e16 1e1 9007199254740993 9223372036854775808 99999999999999999999 abc null NaN'.split(
          ' ',
        )
      const encoded = ['%31', `${mine}%00`, '%D9%A1', '%20', `${mine}%20`, `${mine};`, '1,2', '*', '%27', `${mine}%2F`]
      const ids = [foreign, deleted, ...odd, ...encoded]
      const asks = ids.map(async (id, i) => ({ id, ...(await ask(id, i % 3 === 0 ? valid : {})) }))
      for (const { id, status, text } of await Promise.all(asks))
        expect([status, text], `${method} ${path} ${id}`).to.deep.equal([404, expected.text])
      expect(await head(), path).to.equal(written)
      expect((await ask(mine, valid)).status, `${method} ${path} of one's own`).to.equal(200)
    }
  }).timeout(60_000)

  it('gets a 404 before the body is validated, while an id of the account gets a 400 that names the field', async () => {
    const invalid: Record<string, object> = {
      url: { url: 5 },
      domain: { redirectroot: 5 },
      pixel: { tag: 5 },
      qr: { data: 'x', foreground: 5 },
      campaign: { name: 5 },
      channel: { name: 5 },
      splash: { name: 5 },
      overlay: { name: 5 },
      bio: { name: 5 },
      key: { name: 5 },
    }
    const updates = routes.filter(({ method, path }) => method === 'put' && path.includes(':id'))
    expect(updates.map(({ path }) => path.split('/')[2])).to.have.members(Object.keys(invalid))
    for (const { path } of updates) {
      const resource = path.split('/')[2]!
      const create = async (by: string) =>
        (await app.post(`/api/${resource}/add`, { key: by, body: bodies[resource]![0]() })).json['id'] as number
      const [foreign, mine] = [await create(other), await create(key)]
      const update = (id: number) => app.put(path.replace(':id', String(id)), { key, body: invalid[resource] })
      expectFailure(await update(foreign), 404, path)
      const own = await update(mine)
      expectFailure(own, 400, path)
      expect(own.json['message'], path).to.match(/^`[a-z0-9]+` must be /)
    }
  })
})
