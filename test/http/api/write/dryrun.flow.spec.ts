import { expect } from 'chai'
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
    ]
    const before = await app.app.ledger.store.head('all')
    for (const [method, path, body, field] of asked) {
      const { status, json } = await app.ask(method, path, { key, ...(method !== 'DELETE' && { body }) })
      expect([status, json['code'], json['field']], `${method} ${path}`).to.deep.equal([400, 'not_supported', field])
      expect(json['message']).to.equal(`This address does not support \`${field}\`: leave it out.`)
    }
    expect(await app.app.ledger.store.head('all')).to.equal(before)
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
