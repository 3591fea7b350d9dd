import { expect } from 'chai'
import { loadHalts } from '../../src/projections/engine/halts.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { until } from '../support/client.ts'

describe('a projection that was halted', () => {
  let app: TestApp
  before(async () => (app = await startTestApp()))
  after(() => app.close())
  const halted = async () => (await loadHalts(app.app.ledger.db)).map(({ projection }) => projection)

  it('serves no link from the cache as it was before, once it runs again', async () => {
    const { db, tables } = app.app.ledger
    const { key } = await app.register()
    const { json } = await app.post('/api/url/add', { key, body: { url: 'https://example.com/old', custom: 'halted' } })
    const target = async () => (await app.get('/halted')).headers.get('location')
    expect(await target()).to.equal('https://example.com/old')

    const links = tables.name('links')
    await db.raw(`alter table ${links} add constraint broken check (url not like '%new')`)
    const change = { key, body: { url: 'https://example.com/new' } }
    expect((await app.put(`/api/url/${json['id']}/update`, change)).status).to.equal(200)
    expect(await until(halted, ({ length }) => length > 0)).to.deep.equal(['links'])

    await db.raw(`alter table ${links} drop constraint broken`)
    expect(await until(halted, ({ length }) => length === 0)).to.deep.equal([])
    const now = await until(target, (url) => url === 'https://example.com/new')
    expect(now).to.equal('https://example.com/new')
  })

  it('is reported by the processes that do not project, too', async () => {
    const { db, tables } = app.app.ledger
    const other = await startTestApp({ ROLES: 'http,relay' }, app.connection)
    try {
      const ready = () => other.operator.get('/readyz?of=api')
      expect((await until(ready, ({ status }) => status === 200)).json['problems']).to.deep.equal([])
      await db.raw(`alter table ${tables.name('links')} add constraint broken check (false) not valid`)
      const { key } = await app.register()
      await app.post('/api/url/add', { key, body: { url: 'https://example.com/' } })
      const { status, text } = await until(ready, (answer) => answer.status === 503)
      expect([status, text]).to.satisfy(() => status === 503 && text.includes('the projection links is halted'))
      await db.raw(`alter table ${tables.name('links')} drop constraint broken`)
      expect((await until(ready, (answer) => answer.status === 200)).status).to.equal(200)
    } finally {
      await other.close()
    }
  })
})
