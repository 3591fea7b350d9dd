import { expect } from 'chai'
import { routes } from '../../src/http/routes.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { bodies, type Path } from '../support/bodies.ts'
import { expectFailure } from '../support/conventions.ts'
import { long } from '../support/faults.ts'

describe('an id of another account', () => {
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
  const create = async (resource: string, by: string) => {
    const { json, text } = await app.post(`/api/${resource}/add`, { key: by, body: bodies[resource]![0]() })
    expect(json['error'], `${resource} ${text}`).to.equal(0)
    return Number(json['id'])
  }

  const withId = routes.filter(
    // a session is opened by signing in: see session.flow.spec.ts; members, proposals, identities and passkeys are not added by
    // a key: see members.flow.spec.ts, approval.flow.spec.ts, oidc.flow.spec.ts and passkey.flow.spec.ts; ids of
    // imports are no numbers: see import.flow.spec.ts; the API creates no clicks: see tenants.flow.spec.ts; a visitor
    // sends an answer: see visitortexts.flow.spec.ts
    ({ path }) =>
      /^\/api\/[a-z]+\/:id(\/|$)/.test(path) &&
      !/^\/api\/(?:session|clicks|member|membership|proposal|identity|passkey|import)\//.test(path) &&
      !path.includes(':answer'),
  )
  /** no request of these tests changes them */
  const others = new Map<string, readonly [foreign: number, deleted: number]>()
  let message = ''
  before(async () => {
    await create('pixel', key)
    message = `evt_${Number(await head()) - 1}`
  })
  const createAndDelete = async (resource: string) => {
    const id = await create(resource, key)
    const gone = await app.del(`/api/${resource}/${id}/delete`, { key })
    expect(gone.status, gone.text).to.equal(200)
    return id
  }

  it('is requested on many routes', () => expect(withId).to.have.length.at.least(3))

  // each route has a test of its own: on a busy machine, all of them together take minutes
  for (const [place, { method, path }] of withId.entries())
    it(`gets the same response as an unknown, deleted or malformed id, byte by byte: ${method} ${path}`, async () => {
      const resource = path.split('/')[2]!
      const [, update] = bodies[resource] ?? []
      if (!update) throw new Error(`${path}: this spec needs a body that creates the resource`)
      const action = path.split('/').at(-1)!
      const valid = { restore: { revision: 0, dryRun: true }, rehearse: {}, resend: { message } }[action] ?? update
      const [foreign, deleted] = others.get(resource) ?? [
        await create(resource, other),
        await createAndDelete(resource),
      ]
      others.set(resource, [foreign, deleted])
      const mine = await create(resource, key)
      // a further address, which its number is that of
      if (path.includes(':address')) await app.post(`/api/url/${mine}/addresses`, { key, body: {} })
      const at = path.replace(':address', '2')
      const ask = (id: string | number, body: unknown) =>
        app.ask(method.toUpperCase(), at.replace(':id', String(id)), { key, ...(method === 'get' ? {} : { body }) })
      const written = await head()

      const expected = await ask(999_999, {})
      expectFailure(expected, 404, path)
      const odd =
        '0 -1 -0 +1 01 1.0 1.5 1e16 1e1 9007199254740993 9223372036854775808 99999999999999999999 abc null NaN'.split(
          ' ',
        )
      const encoded = ['%31', `${mine}%00`, '%D9%A1', '%20', `${mine}%20`, `${mine};`, '1,2', '*', '%27', `${mine}%2F`]
      // what was deleted has a history, and can be restored
      const deletedToo = /^(?:history|revisions|restore)$/.test(action) ? [] : [deleted]
      // each route gets one sixth of the malformed ids, in turn; `npm run test:faults` sends all of them to each route
      const malformed = [...odd, ...encoded].filter((_, i) => long || (i + place) % 6 === 0)
      const ids = [foreign, ...deletedToo, ...malformed]
      const asks = ids.map(async (id, i) => ({ id, ...(await ask(id, i % 2 === 0 ? valid : {})) }))
      for (const { id, status, text } of await Promise.all(asks))
        expect([status, text], `${method} ${path} ${id}`).to.deep.equal([404, expected.text])
      expect(await head(), path).to.equal(written)
      // revision 0 is the account's, which is older than the key
      const status = path === '/api/key/:id/restore' ? 400 : 200
      expect((await ask(mine, valid)).status, `${method} ${path} of one's own`).to.equal(status)
    })

  it('gets a 404 before the body is validated, while an id of the account gets a 400 that names the field', async () => {
    const invalid: Readonly<Record<Path, object>> = {
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
      webhook: { name: 5 },
    }
    const updates = withId.filter(({ method }) => method === 'put')
    expect(updates.map(({ path }) => path.split('/')[2])).to.have.members(Object.keys(invalid))
    for (const { path } of updates) {
      const resource = path.split('/')[2]!
      const create = async (by: string) =>
        (await app.post(`/api/${resource}/add`, { key: by, body: bodies[resource]![0]() })).json['id'] as number
      const [foreign, mine] = [await create(other), await create(key)]
      const update = (id: number) => app.put(path.replace(':id', String(id)), { key, body: invalid[resource as Path] })
      expectFailure(await update(foreign), 404, path)
      const own = await update(mine)
      expectFailure(own, 400, path)
      expect(own.json['message'], path).to.match(/^`[a-z0-9]+` must be /)
    }
  })
})
