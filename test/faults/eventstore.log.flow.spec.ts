import { startTestApp } from '../support/app.ts'
import { startDouble } from '../support/eventstoredb.ts'
import { openStage } from '../support/faults.ts'
import { keepLines } from '../support/logger.ts'
import { expectOutage } from '../support/outages.ts'

describe('the log of a service', function () {
  this.timeout(120_000)
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
})
