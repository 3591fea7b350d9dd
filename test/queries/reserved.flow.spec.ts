import { expect } from 'chai'
import { listHeld } from '../../src/queries/reserved.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { until } from '../support/client.ts'

describe('what has an address that a release reserves', () => {
  let app: TestApp
  before(async () => {
    app = await startTestApp({ DOMAIN_CHECK: 'off' })
  })
  after(() => app.close())

  it('is listed by each address, also one that a link has besides its main one, and no more once it is deleted', async () => {
    const { id: account, key } = await app.register()
    const post = async (path: string, body: object) => {
      const { json, status, text } = await app.post(path, { key, body })
      expect(status, text).to.equal(200)
      return Number(json['id'])
    }
    const domain = await post('/api/domain/add', { domain: 'https://brand.example' })
    const link = await post('/api/url/add', { url: 'https://example.com/', custom: 'Soon' })
    await post(`/api/url/${link}/addresses`, { custom: 'Later', domain: 'brand.example' })
    const bio = await post('/api/bio/add', { name: 'x', alias: 'page', links: [] })
    const gone = await post('/api/url/add', { url: 'https://example.com/', custom: 'gone' })
    await post(`/api/url/${gone}/addresses`, { custom: 'gone-2' })
    await app.del(`/api/url/${gone}/delete`, { key })
    const { pool, tables } = app.app.ledger
    const reader = { db: pool(1, 60_000, 'test'), table: tables.name }
    const held = () => listHeld(reader, ['soon', 'later', 'page', 'gone', 'gone-2'])
    const found = await until(held, (rows) => rows.length === 3)
    const name = ({ name }: { readonly name: string }) => name.toLowerCase()
    expect(found.toSorted((a, b) => name(a).localeCompare(name(b)))).to.deep.equal([
      { kind: 'link', id: link, account, name: 'Later', domain },
      { kind: 'bio', id: bio, account, name: 'page', domain: null },
      { kind: 'link', id: link, account, name: 'Soon', domain: null },
    ])
  })
})
