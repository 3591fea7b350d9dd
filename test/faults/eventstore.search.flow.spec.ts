import { expect } from 'chai'
import { startTestApp } from '../support/app.ts'
import { until } from '../support/client.ts'
import { startDouble } from '../support/eventstoredb.ts'
import { openStage } from '../support/faults.ts'

describe('a service whose log on EventStoreDB takes long to search', function () {
  this.timeout(300_000)
  const stage = openStage()
  afterEach(stage.clear)

  it('listens and redirects first, reports the reason for the wait, and can be stopped meanwhile', async () => {
    const double = await startDouble()
    stage.later(double.close)
    const before = await startTestApp({ EVENTSTORE_URL: double.url })
    const { key } = await before.register()
    const url = { url: 'https://example.com/', custom: 'found' }
    expect((await before.post('/api/url/add', { key, body: url })).status).to.equal(200)
    await before.close()

    let release: (value?: unknown) => void = () => {}
    const held = new Promise((resolve) => (release = resolve))
    double.fail(({ stream, backwards }) => (stream === '$all' && backwards ? { held } : undefined))
    const searching = await startTestApp({ EVENTSTORE_URL: double.url }, before.connection)
    const readyz = await searching.operator.get('/readyz?of=api')
    expect(readyz.status).to.equal(503)
    expect(readyz.json['problems']).to.include('the log is being searched for changes that the read tables do not have')
    expect((await searching.get('/found')).status).to.equal(302)
    const began = Date.now()
    await searching.close()
    expect(Date.now() - began, 'it does not wait for the search').to.be.below(15_000)

    release()
    double.fail(() => undefined)
    const found = await startTestApp({ EVENTSTORE_URL: double.url }, before.connection)
    stage.later(found.close)
    await until(
      async () => (await found.operator.get('/readyz?of=api')).status,
      (status) => status === 200,
    )
  })
})
