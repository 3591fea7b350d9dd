import { urlOf } from '../support/app.ts'
import { freshDatabase } from '../support/database.ts'
import { note, openStage, randomFrom, repeatable, seed } from '../support/faults.ts'
import { makeLinks, visitsTo } from '../support/load.ts'
import { type Broker, noBroker, startBroker } from './broker.ts'
import { expectOnce } from './clicks.ts'

describe(`clicks through Kafka (${repeatable})`, function () {
  this.timeout(120_000)
  const stage = openStage()
  const random = randomFrom(seed)
  let broker: Broker
  before(async function () {
    this.timeout(400_000)
    const reason = await noBroker()
    if (reason !== undefined) {
      note(`skipped: ${reason}`)
      return this.skip()
    }
    broker = await startBroker()
  })
  afterEach(stage.clear)
  after(() => broker?.clear())

  it('are in the statistics, each once', async () => {
    const database = await freshDatabase()
    const service = await stage.start({
      DATA_DIR: await stage.dir(),
      DATABASE_URL: urlOf(database),
      SECRET: 'a secret for tests only',
      KAFKA_BROKERS: broker.address,
      KAFKA_TOPIC: `clicks-${database.database}`,
    })
    const { key } = await service.register()
    const links = await makeLinks(service, key, 5)
    const load = stage.load(service, 20, visitsTo(links, random))
    await load.answers(2000)
    const { answered } = await expectOnce(service, key, database, await load.stop())
    note(`${answered} answered clicks`)
    if (process.env['SHOW']) process.stdout.write(service.output())
  })
})
