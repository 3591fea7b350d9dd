import { expect } from 'chai'
import { routes } from '../../../../src/http/routes.ts'
import { send } from '../../../support/raw.ts'
import { startTestApp, type TestApp } from '../../../support/app.ts'

describe('a dry run', () => {
  let app: TestApp
  let key: string
  let id: number
  const url = 'https://example.com/'
  before(async () => {
    app = await startTestApp()
    key = (await app.register()).key
    id = Number((await app.post('/api/url/add', { key, body: { url, title: 'before' } })).json['id'])
  })
  after(() => app.close())

  it('is refused by routes that have none, and where they do not look for it, and changes nothing', async () => {
    const asked: readonly [method: string, path: string, body: object, field: string][] = [
      ['PUT', `/api/url/${id}/update?dryRun=true`, { url, title: 'after' }, 'dryRun'],
      ['PUT', `/api/url/${id}/update?dry_run=1`, { url, title: 'after' }, 'dry_run'],
      ['PUT', `/api/url/${id}/update`, { url, title: 'after', dryrun: true }, 'dryrun'],
      ['POST', '/api/url/add?dryRun=true', { url }, 'dryRun'],
      ['POST', '/api/campaign/add', { name: 'a', dryRun: true }, 'dryRun'],
      ['POST', `/api/url/${id}/restore?dryRun=true`, { revision: 0 }, 'dryRun'],
      ['POST', '/api/urls/bulk?op=delete', { rows: [{ id }], dryRun: true }, 'dryRun'],
      ['DELETE', `/api/url/${id}/delete?dryRun=true`, {}, 'dryRun'],
      ['DELETE', `/api/url/${id}/delete?dryRun[]=true`, {}, 'dryRun[]'],
      ['DELETE', `/api/url/${id}/delete?dry%20run=true`, {}, 'dry run'],
      ['POST', '/api/url/add?--dry-run', { url }, '--dry-run'],
    ]
    const before = await app.app.ledger.store.head('all')
    for (const [method, path, body, field] of asked) {
      const { status, json } = await app.ask(method, path, { key, ...(method !== 'DELETE' && { body }) })
      expect([status, json['code'], json['field']], `${method} ${path}`).to.deep.equal([400, 'not_supported', field])
      expect(json['message']).to.equal(`This address does not support \`${field}\`: leave it out.`)
    }
    expect(await app.app.ledger.store.head('all')).to.equal(before)
  })

  it('is refused in the body of every route that takes none, however that is sent', async () => {
    const dry = '{"dryRun":true}'
    const before = await app.app.ledger.store.head('all')
    const ask = (method: string, path: string, body: string, headers: Record<string, string> = {}) =>
      send(app.address, method, path, { body, headers: { Authorization: key, ...headers } })
    const bodyless = routes.filter(({ body, method, scope = [] }) => !body && method !== 'get' && [scope].flat().length)
    expect(bodyless.length).to.be.greaterThan(20)
    const paths = bodyless.map(({ method, path }) => [method.toUpperCase(), path.replaceAll(/:\w+/g, '1')] as const)
    const refused: string[] = []
    for (const [method, path] of paths) {
      const { status, text } = await ask(method, path, dry)
      // others are none of this account, or are for people who are signed in
      if (status === 400) refused.push(`${method} ${path} ${(JSON.parse(text) as { field?: string }).field}`)
      expect(status, `${method} ${path} ${text}`).to.be.oneOf([400, 403, 404])
    }
    expect(refused).to.include.members([`DELETE /api/url/1/delete dryRun`, `POST /api/import/1/start dryRun`])
    const remove = (body: string, headers = {}) => ask('DELETE', `/api/url/${id}/delete`, body, headers)
    for (const headers of [{ 'Content-Type': 'application/x-www-form-urlencoded' }, { 'Content-Type': 'text/plain' }])
      expect((await remove(`\uFEFF\n ${dry}`, headers)).status, headers['Content-Type']).to.equal(400)
    expect((await remove(`{"x":"${'x'.repeat(70_000)}","dryRun":true}`)).status).to.equal(413)
    expect(await app.app.ledger.store.head('all')).to.equal(before)
  })

  it('is not looked for in what is no JSON object', async () => {
    for (const body of ['dryRun=true', '{"dryRun":true', '[1]', ' ', 'x'.repeat(200_000), '{"other":true}']) {
      const made = Number((await app.post('/api/url/add', { key, body: { url } })).json['id'])
      const headers = { Authorization: key }
      const { status, text } = await send(app.address, 'DELETE', `/api/url/${made}/delete`, { headers, body })
      expect(status, `${body.slice(0, 20)} ${text}`).to.equal(200)
    }
  })

  it('is done by the routes that have one', async () => {
    const bulk = await app.post('/api/urls/bulk?op=update&dryRun=true', {
      key,
      body: { rows: [{ id, url, title: 'after' }] },
    })
    const restored = await app.post(`/api/url/${id}/restore`, { key, body: { revision: 0, dryRun: true } })
    expect([bulk.status, bulk.json['succeeded'], restored.status]).to.deep.equal([200, 1, 200])
    expect((await app.get(`/api/url/${id}`, { key })).json['details'].title).to.equal('before')
  })
})
