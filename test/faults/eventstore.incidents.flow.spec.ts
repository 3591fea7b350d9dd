import { expect } from 'chai'
import { projectedPosition } from '../../src/app/log/projector.ts'
import { startTestApp } from '../support/app.ts'
import { until } from '../support/client.ts'
import { startDouble } from '../support/eventstoredb.ts'
import { openStage } from '../support/faults.ts'
import { keepLines } from '../support/logger.ts'
import { expectOutage } from '../support/outages.ts'

describe('the log of a service', function () {
  this.timeout(300_000)
  const stage = openStage()
  afterEach(stage.clear)

  const start = async () => {
    const double = await startDouble()
    stage.later(double.close)
    const { lines, logger } = keepLines()
    const app = await startTestApp({ EVENTSTORE_URL: double.url }, undefined, {}, logger)
    stage.later(app.close)
    return { double, app, lines, key: (await app.register()).key }
  }

  it('has a few lines of an outage of EventStoreDB, in which each write gets 503', async () => {
    const { double, app, lines, key } = await start()
    await expectOutage(app, key, lines, 'EventStoreDB', { begin: double.down, end: double.up })
  })

  it('says that EventStoreDB was put back to an older copy, and so does /readyz, until it has its data again', async () => {
    const { double, app, lines, key } = await start()
    const ready = () => app.operator.get('/readyz?of=api')
    const { length } = double.log.all
    const made = await app.post('/api/url/add', { key, body: { url: 'https://example.com/', custom: 'lost' } })
    expect(made.status).to.equal(200)
    const { ledger } = app.app
    const head = await ledger.store.head('domain')
    await until(
      async () => projectedPosition(ledger.db),
      (position) => position >= head,
    )

    await double.down()
    const giveBack = double.log.putBack(length)
    await double.up()
    const { text } = await until(ready, (answer) => answer.text.includes('older copy'), 30_000)
    expect(text).to.include('Restart all processes of the service')
    const { json } = await app.operator.get('/readyz')
    expect(json['ready'], 'it redirects').to.equal(true)
    expect((await app.visit('/lost')).status).to.equal(302)

    await double.down()
    giveBack()
    await double.up()
    await until(ready, ({ status }) => status === 200, 30_000)
    const said = lines.filter(({ msg }) => msg.includes('older copy'))
    expect(said.length, 'a line a minute at most').to.be.within(1, 3)
    expect(lines.some(({ msg }) => msg.startsWith('the event log has all events again'))).to.equal(true)
  })
})
