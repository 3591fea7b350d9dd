import { expect } from 'chai'
import { makeClient } from '../../sdk/make.ts'
import type * as Linkledger from '../../sdk/dist/index.js'
import { startTestApp, type TestApp } from '../support/app.ts'

describe('the typed client', () => {
  let app: TestApp
  let linkledger: typeof Linkledger.linkledger
  before(async () => {
    makeClient()
    ;({ linkledger } = await import('../../sdk/dist/index.js'))
    app = await startTestApp()
  })
  after(() => app.close())

  it('creates, reads, lists and deletes links as `/openapi.json` describes it', async () => {
    const { key } = await app.register()
    const api = linkledger(app.address, key)
    const { data: made } = await api.POST('/api/url/add', { body: { url: 'https://example.com/sdk', title: 'SDK' } })
    expect(made?.short).to.include('http')
    const path = { id: made!.id }
    const { data: found } = await api.GET('/api/url/{id}', { params: { path } })
    expect(found?.details.title).to.equal('SDK')

    const { data: listed } = await api.GET('/api/urls', { params: { query: { q: 'sdk', limit: 5 } } })
    expect(listed && listed.error === '0' ? listed.data.urls.map(({ id }) => id) : []).to.deep.equal([made!.id])

    const bulk = await api.POST('/api/urls/bulk', {
      params: { query: { op: 'update' } },
      body: { rows: [{ id: made!.id, title: 'Changed' }, { id: 999_999 }] },
    })
    expect(bulk.data?.rows.map((row) => (row.error === 0 ? row.id : row.message))).to.deep.equal([
      made!.id,
      'Link not found.',
    ])

    await api.DELETE('/api/url/{id}/delete', { params: { path } })
    const { error, response } = await api.GET('/api/url/{id}', { params: { path } })
    expect([response.status, error?.message]).to.deep.equal([404, 'Link not found.'])
  })
})
