import { setTimeout as sleep } from 'node:timers/promises'
import { startTestApp, type TestApp } from '../support/app.ts'
import { until } from '../support/client.ts'
import { expectAll } from '../support/deliveries.ts'
import { long, note, randomFrom, repeatable, rounds, seed } from '../support/faults.ts'
import { accept, forget, hang, type Receiver, reset, respond, slowly, startReceiver } from '../support/receiver.ts'

describe(`a webhook whose receiver fails (${repeatable})`, function () {
  this.timeout(long ? 600_000 : 120_000)
  const random = randomFrom(seed)
  let app: TestApp
  let receiver: Receiver
  before(async () => {
    // an attempt is given up after 100 ms instead of 20 s
    receiver = await startReceiver(100)
    app = await startTestApp({}, undefined, { webhooks: { post: receiver.post, firstPause: 5 } })
  })
  after(async () => {
    await app.close()
    await receiver.close()
  })

  it('gets every event and every click in log order after random outages, with the same ids', async () => {
    const { key, id: account } = await app.register()
    const add = (n: number) =>
      app.post('/api/url/add', { key, body: { url: `https://example.com/${n}`, custom: `outage-${n}` } })
    await add(0)
    const { json } = await app.post('/api/webhook/add', {
      key,
      body: { url: receiver.url(), events: ['LinkCreated', 'clicks'], from: 0 },
    })
    const outages = [
      async () => receiver.behave(respond([400, 404, 429, 500, 503][random(5)]!, { 'Retry-After': '0' })),
      async () => receiver.behave(respond(302, { Location: receiver.url('/elsewhere') })),
      async () => receiver.behave(hang),
      async () => receiver.behave(reset),
      async () => receiver.behave(forget),
      async () => receiver.behave(slowly(random(150))),
      async () => receiver.down(random(60)),
    ]
    let n = 0
    let writing = true
    const write = async () => {
      while (writing) {
        await add(++n)
        await app.visit(`/outage-${random(n)}`)
        await sleep(random(10))
      }
    }
    const written = write()
    let made = 0
    for (const round of rounds(8, 100)) {
      await outages[round % outages.length]!()
      await sleep(20 + random(60))
      receiver.behave(accept)
      await sleep(random(40))
      made++
    }
    writing = false
    await written
    // the next attempt may be a while away: another address is tried at once
    await app.put(`/api/webhook/${json['id']}/update`, { key, body: { name: 'again' } })
    await until(
      async () => app.app.ledger.store.head('clicks'),
      (head) => head > 0n,
    )
    await sleep(300)
    const messages = await expectAll(app.app.ledger, receiver, account, '/hook')
    note(`${made} outages, ${messages} messages, ${receiver.accepted().length} accepted`)
  })
})
