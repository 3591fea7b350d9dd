import { expect } from 'chai'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { until } from '../../support/client.ts'

interface Row {
  readonly revision: number
  readonly event: number
  readonly from: string
  readonly until: string
  readonly actor: object
  readonly type: string
  readonly deleted: boolean
  readonly longurl: string
  readonly location: object
  readonly clicks: number
  readonly visits: number
  readonly sent: readonly { readonly rule: string; readonly destination: string; readonly clicks: number }[]
}

describe('the revisions of a link', () => {
  let app: TestApp
  let key: string
  before(async () => {
    app = await startTestApp({ REGISTRATION: 'open' })
    ;({ key } = await app.register())
    const { post, put, visit } = app
    await post('/api/url/add', { key, body: { url: 'https://example.com/a', custom: 'spring' } })
    const page = { name: 'Ann', alias: 'ann', links: [{ title: 'Spring', url: `${app.app.baseUrl}/spring` }] }
    expect((await post('/api/bio/add', { key, body: page })).status).to.equal(200)
    await visit('/spring')
    await visit('/ann/1')
    await visit('/spring', { 'User-Agent': 'Googlebot/2.1' })
    const devicetarget = [{ device: 'Windows', link: 'https://example.com/pc' }]
    expect(
      (await put('/api/url/1/update', { key, body: { url: 'https://example.com/b', devicetarget } })).status,
    ).to.equal(200)
    await visit('/spring')
    await put('/api/url/1/update', { key, body: { url: 'https://example.com/b', title: 'Summer' } })
    await until(
      async () => (await app.get('/api/url/1/stats', { key })).json['data'].total.visits as number,
      (visits) => visits === 4,
    )
  })
  after(() => app.close())

  const revisions = async (query = '', as = key) => {
    const { json } = await app.get(`/api/url/1/revisions${query}`, { key: as })
    return json['data'] as { readonly result: number; readonly revisions: readonly Row[] }
  }

  it('say when and by whom they were in force, and how many clicks each sent where by which rule', async () => {
    const { result, revisions: rows } = await revisions()
    expect(result).to.equal(3)
    expect(
      rows.map(({ revision, type, deleted, longurl, clicks, visits }) => [
        revision,
        type,
        deleted,
        longurl,
        clicks,
        visits,
      ]),
    ).to.deep.equal([
      [2, 'LinkUpdated', false, 'https://example.com/b', 0, 0],
      [1, 'LinkUpdated', false, 'https://example.com/b', 1, 1],
      [0, 'LinkCreated', false, 'https://example.com/a', 2, 3],
    ])
    expect(rows[1]?.sent).to.deep.equal([
      { rule: 'device:windows', destination: 'https://example.com/pc', clicks: 1, visits: 1 },
    ])
    expect(rows[2]?.sent).to.deep.equal([{ rule: 'link', destination: 'https://example.com/a', clicks: 2, visits: 3 }])
    expect(rows.map((row) => row.actor)).to.deep.equal(Array(3).fill({ kind: 'key', key: 1, name: 'Main key' }))
    expect(rows.map((row) => row.until)).to.deep.equal(['', rows[0]?.from, rows[1]?.from])
    expect(rows.every(({ event }, i) => i === 0 || event < rows[i - 1]!.event)).to.equal(true)
    const total = (await app.get('/api/url/1', { key })).json['data'].clicks as number
    expect(rows.reduce((sum, { clicks }) => sum + clicks, 0)).to.equal(total)
  })

  it('are paged by number and by cursor, in both orders, and searched by their values', async () => {
    const numbers = async (query: string) => (await revisions(query)).revisions.map(({ revision }) => revision)
    expect(await numbers('?limit=2')).to.deep.equal([2, 1])
    expect(await numbers('?limit=2&page=2')).to.deep.equal([0])
    expect(await numbers('?limit=2&order=oldest')).to.deep.equal([0, 1])
    expect(await numbers('?q=EXAMPLE.com/A')).to.deep.equal([0])
    const first = (await app.get('/api/url/1/revisions?limit=2&cursor', { key })).json['data'] as {
      next_cursor: string
    }
    expect(await numbers(`?limit=2&cursor=${first.next_cursor}`)).to.deep.equal([0])
    const found = (await app.get('/api/url/1/revisions?limit=1&cursor&q=example.com', { key })).json['data'] as {
      result: number
      next_cursor: string
    }
    const next = `/api/url/1/revisions?limit=2&q=example.com&cursor=${found.next_cursor}`
    const { data } = (await app.get(next, { key })).json as { data: { result: number; revisions: Row[] } }
    expect([found.result, data.result]).to.deep.equal([3, 3])
    expect(data.revisions.map(({ revision }) => revision)).to.deep.equal([1, 0])
  })

  it('are those of deleted links, too, and of no other account', async () => {
    const { json } = await app.post('/api/url/add', { key, body: { url: 'https://example.com/gone' } })
    const id = String(json['id'])
    await app.del(`/api/url/${id}/delete`, { key })
    const { data } = (await app.get(`/api/url/${id}/revisions`, { key })).json as { data: { revisions: Row[] } }
    expect(data.revisions.map(({ type, deleted }) => [type, deleted])).to.deep.equal([
      ['LinkDeleted', true],
      ['LinkCreated', false],
    ])
    const other = await app.register()
    const answers = await Promise.all(
      [id, '1', '999'].map((one) => app.get(`/api/url/${one}/revisions`, { key: other.key })),
    )
    expect(answers.map(({ status, json: body }) => [status, body])).to.deep.equal(
      Array(3).fill([404, { error: 1, message: 'Link not found.', code: 'not_found', params: { what: 'link' } }]),
    )
  })
})
