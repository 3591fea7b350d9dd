import { startTestApp, type TestApp } from '../support/app.ts'
import { expectAll } from '../support/deliveries.ts'
import { type Double, startDouble } from '../support/eventstoredb.ts'
import { note, randomFrom, repeatable, seed } from '../support/faults.ts'
import { accept, hang, type Receiver, reset, respond, startReceiver } from '../support/receiver.ts'

describe(`webhooks on an EventStoreDB (${repeatable})`, function () {
  this.timeout(300_000)
  const random = randomFrom(seed)
  let double: Double
  let receiver: Receiver
  let app: TestApp
  before(async () => {
    double = await startDouble()
    receiver = await startReceiver(100)
    app = await startTestApp({ EVENTSTORE_URL: double.url }, undefined, {
      webhooks: { post: receiver.post, firstPause: 5 },
    })
  })
  after(async () => {
    await app.close()
    await receiver.close()
    await double.close()
  })

  it('send every event and every click in log order, with ids by ordinals, also after outages', async () => {
    const { key, id: account } = await app.register()
    const add = (n: number) =>
      app.post('/api/url/add', { key, body: { url: `https://example.com/${n}`, custom: `engine-${n}` } })
    await add(0)
    await app.post('/api/webhook/add', {
      key,
      body: { url: receiver.url(), events: ['LinkCreated', 'clicks'], from: 0 },
    })
    for (let n = 1; n <= 12; n++) {
      receiver.behave([accept, respond(500), hang, reset][random(4)]!)
      await add(n)
      await app.visit(`/engine-${random(n)}`)
      receiver.behave(accept)
    }
    const messages = await expectAll(app.app.ledger, receiver, account, '/hook')
    note(`${messages} messages, ${receiver.accepted().length} accepted`)
  })
})
