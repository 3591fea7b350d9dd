import { expect } from 'chai'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { until } from '../../support/client.ts'

describe('an import that ends with a conflict', () => {
  let app: TestApp
  before(async () => {
    app = await startTestApp()
  })
  after(() => app.close())

  it('has a line for each link that it has created, creates few behind it, and is taken back as a whole', async () => {
    const [other, own] = [await app.register(), await app.register()]
    await app.post('/api/url/add', { ...other, body: { url: 'https://example.com/other', custom: 'ends-50' } })
    const rows = Array.from({ length: 400 }, (_, n) => `https://example.com/${n},ends-${n}`)
    const { json } = await app.post('/api/import?conflict=fail', {
      ...own,
      body: ['url,alias', ...rows].join('\n'),
      headers: { 'Content-Type': 'text/csv' },
    })
    const path = `/api/import/${String(json['id'])}`
    const ended = () =>
      until(
        async () => (await app.get(path, own)).json['details'] as { state: string; created: number; done: number },
        ({ state }) => !['running', 'undoing'].includes(state),
        60_000,
      )
    const details = await ended()
    expect(details).to.include({ state: 'failed', conflicts: 1 })
    const { urls } = (await app.get('/api/urls?limit=1000', own)).json['data'] as { urls: { alias: string }[] }
    expect(details.created).to.equal(urls.length).and.to.be.within(50, 70)
    expect(details.done).to.equal(details.created + 1)
    const { text } = await app.get(`${path}/report`, own)
    for (const { alias } of urls) expect(text).to.contain(`,${alias},`)
    await app.post(`${path}/start`, { ...own, body: {} })
    expect(await ended(), 'goes on behind the conflict').to.include({ state: 'done', created: 399, conflicts: 1 })
    await app.del(`${path}/delete`, own)
    expect(await ended()).to.include({ state: 'undone', kept: 0 })
    expect((await app.get('/api/urls?limit=1000', own)).json['data']).to.include({ result: 0 })
  }).timeout(300_000)
})
