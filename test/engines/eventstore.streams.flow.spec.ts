import { expect } from 'chai'
import { startTestApp, type TestApp } from '../support/app.ts'
import { until } from '../support/client.ts'
import { type Engine, eventStoreEngine, openEventStore } from '../support/engine.ts'
import { appendClicks, objectsIn, readStream, sentEvents } from '../support/stream.ts'

describe(`streams of a log in ${eventStoreEngine}`, function () {
  this.timeout(300_000)
  let engine: Engine
  let app: TestApp
  let ours: Awaited<ReturnType<TestApp['register']>>

  const read = async (path: string, headers = {}) => {
    const reading = await readStream(app.address, path, { key: ours.key, headers })
    expect(await reading.ended).to.equal(true)
    return objectsIn(reading.text())
  }
  before(async () => {
    engine = await openEventStore()
    app = await startTestApp(engine.settings)
    ours = await app.register()
  })
  after(async () => {
    await app.close()
    await engine.close()
  })

  it('number events by their order, follow the log, and resume in the middle of the clicks of one event', async () => {
    const { ordinals, store } = app.app.ledger
    const { json } = await app.post('/api/url/add', { key: ours.key, body: { url: 'https://example.com/a' } })
    const link = json['id'] as number
    const events = await until(
      () => read('/api/events'),
      (found) => found.at(-1)?.['type'] === 'LinkCreated',
    )
    for (const { event } of events) {
      const position = await ordinals.positionOf(event as number)
      expect(position && (await store.idAt(position))).to.be.a('string')
    }
    const following = await readStream(app.address, '/api/clicks?follow=true&from=now', {
      key: ours.key,
      headers: { Accept: 'text/event-stream' },
    })
    const clicks = Array.from({ length: 5 }, (_, revision) => ({ account: ours.id, link, revision }))
    await appendClicks(store, clicks, clicks)
    await following.until((text) => sentEvents(text).length === 10)
    following.close()
    const ids = sentEvents(following.text()).map(({ id }) => id)
    const first = Number(ids[0]!.split('-')[0])
    const all = [first, first + 1].flatMap((event) => clicks.map((_, index) => `${event}-${index}`))
    expect(ids).to.deep.equal(all)
    expect((await read('/api/clicks', { 'Last-Event-ID': ids[2]! })).map(({ id }) => id)).to.deep.equal(all.slice(3))
    expect((await read(`/api/clicks?from=${ids[7]}`)).map(({ id }) => id)).to.deep.equal(all.slice(7))
  })
})
