import { expect } from 'chai'
import { startTestApp, type TestApp } from '../support/app.ts'
import { until } from '../support/client.ts'

describe('a short link, from its creation to its click', () => {
  let app: TestApp
  before(async () => (app = await startTestApp()))
  after(() => app.close())

  it('is created, followed, counted and read back', async () => {
    const { key } = await app.register()
    const made = await app.post('/api/url/add', { key, body: { url: 'https://example.com/a?b=c#d', custom: 'Hello' } })
    expect(made.json).to.include({ error: 0, shorturl: `${app.app.baseUrl}/Hello` })
    const visit = await app.visit('/hello')
    expect([visit.status, visit.headers.get('Location')]).to.deep.equal([302, 'https://example.com/a?b=c#d'])
    const read = await until(
      () => app.get(`/api/url/${made.json['id']}`, { key }),
      ({ json }) => json['data'].clicks === 1,
    )
    expect(read.json['data']).to.include({ clicks: 1, uniqueClicks: 1 })
    expect(read.json['data'].topBrowsers).to.deep.equal({ Chrome: '1' })
  })
})
