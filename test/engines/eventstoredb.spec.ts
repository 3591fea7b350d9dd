import { expect } from 'chai'
import { startTestApp, type TestApp } from '../support/app.ts'
import { until } from '../support/client.ts'
import { type Engine, eventStoreEngine, openEventStore } from '../support/engine.ts'
import { query } from '../support/faults.ts'
import { listed } from '../support/load.ts'

describe(`a service on ${eventStoreEngine}`, function () {
  this.timeout(60_000)
  let engine: Engine
  let app: TestApp
  const start = async (before?: TestApp) =>
    startTestApp({ EVENTSTORE_URL: engine.url, BASE_URL: 'http://short.test' }, before?.connection)
  before(async () => {
    engine = await openEventStore()
    app = await start()
  })
  after(async () => {
    await app.close()
    await engine.close()
  })

  it('does all that a client sees, and has it still when it is started again', async () => {
    const ann = await app.register()
    const { key } = ann
    const ok = async (answer: ReturnType<TestApp['ask']>) => {
      const { status, json, text } = await answer
      expect(status, text).to.equal(200)
      return json
    }
    const [first, second] = ['https://example.com/first', 'https://example.com/second']
    const alias = `hello-${ann.id}-${Math.random().toString(36).slice(2, 8)}`
    const { id } = await ok(app.post('/api/url/add', { key, body: { url: first, custom: alias } }))
    // what was written is there to be read at once
    expect((await ok(app.get(`/api/url/${id}`, { key })))['details']).to.include({ longurl: first, alias })
    expect((await app.visit(`/${alias}`)).headers.get('Location')).to.equal(first)
    const updated = await app.put(`/api/url/${id}/update`, { key, body: { url: second } })
    expect(updated.status).to.equal(200)
    expect(updated.headers.has('X-Projection-Pending')).to.equal(false)
    expect((await app.visit(`/${alias}`)).headers.get('Location')).to.equal(second)
    const taken = await app.post('/api/url/add', { key, body: { url: first, custom: alias.toUpperCase() } })
    expect([taken.status, taken.json['error']]).to.deep.equal([400, 1])

    const clicks = async () => (await ok(app.get(`/api/url/${id}`, { key })))['data']['clicks'] as number
    expect(await until(clicks, (n) => n === 2)).to.equal(2)
    const many = await Promise.all(
      Array.from({ length: 40 }, (_, n) =>
        app.post('/api/url/add', { key, body: { url: `https://example.com/${n}` } }),
      ),
    )
    expect(many.filter(({ status }) => status === 200)).to.have.length(40)
    expect(await listed(app, key)).to.have.length(41)
    expect((await app.get('/readyz')).status).to.equal(200)
    const [{ count } = { count: '' }] = await query<{ count: string }>(
      app.connection,
      'select count(*) from log.events',
    )
    expect(count, 'events in PostgreSQL').to.equal('0')

    await app.close()
    app = await start(app)
    await until(
      () => app.get('/readyz'),
      ({ status }) => status === 200,
    )
    expect((await app.visit(`/${alias}`)).headers.get('Location')).to.equal(second)
    expect(await until(clicks, (n) => n === 3)).to.equal(3)
    expect(await listed(app, key)).to.have.length(41)
    expect((await ok(app.get('/api/account', { key })))['data']).to.include({ email: ann.email })
    const more = await ok(app.post('/api/url/add', { key, body: { url: first } }))
    expect(more['id']).to.be.above(Number(id))
  })
})
