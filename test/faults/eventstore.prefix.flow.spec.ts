import { expect } from 'chai'
import { asStored } from '../../src/events/codec.ts'
import { copyLog } from '../../src/store/copy.ts'
import { eventStoreDb } from '../../src/store/eventstoredb.ts'
import type { Opening } from '../../src/store/open.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { until } from '../support/client.ts'
import { type Double, startDouble } from '../support/eventstoredb.ts'
import { openStage } from '../support/faults.ts'
import { receiptOf } from './eventstore.ts'

describe('an EventStoreDB that several services share', function () {
  this.timeout(300_000)
  const stage = openStage()
  let double: Double
  beforeEach(async () => {
    double = await startDouble()
    stage.later(double.close)
  })
  afterEach(stage.clear)

  const settings = (prefix: string | undefined) => ({
    EVENTSTORE_URL: double.url,
    CHECKPOINT_SECONDS: '1',
    ...(prefix !== undefined && { EVENTSTORE_PREFIX: prefix }),
  })
  const add = async (app: TestApp, key: string, custom: string) => {
    const made = await app.post('/api/url/add', { key, body: { url: 'https://example.com/', custom } })
    expect(made.status, made.text).to.equal(200)
  }
  const data = async (app: TestApp, key: string, path: string) => (await app.get(path, { key })).json['data']
  const clicks = async (app: TestApp, key: string) =>
    Number((await data(app, key, '/api/account/stats'))?.['total']?.['clicks'])

  /** Another program stores what looks like an event of ours, in a stream of its own. */
  const disturb = () => {
    const [event] = double.log.all.filter(({ type }) => type === 'LinkCreated').slice(-1)
    const { stream: _, ...proposed } = event!
    double.log.append('shop.link-1', 'any', [proposed])
    double.log.append('Orders-7', 'any', [{ ...proposed, type: 'OrderPlaced', metadata: new Uint8Array() }])
  }

  it('shows each service its own events, with or without a prefix', async () => {
    const apps: { readonly app: TestApp; readonly key: string }[] = []
    for (const prefix of ['one', 'two', undefined]) {
      const app = await startTestApp(settings(prefix))
      stage.later(app.close)
      apps.push({ app, key: (await app.register()).key })
    }
    for (const { app, key } of apps) {
      await add(app, key, 'same')
      disturb()
    }
    for (const [n, { app }] of apps.entries())
      for (let visits = 0; visits <= n; visits++) expect((await app.visit('/same')).status).to.equal(302)
    for (const [n, { app, key }] of apps.entries()) {
      expect(
        await until(
          () => clicks(app, key),
          (found) => found === n + 1,
        ),
      ).to.equal(n + 1)
      expect(await data(app, key, '/api/urls')).to.include({ result: 1 })
      expect((await app.operator.get('/readyz')).json['problems']).to.deep.equal([])
    }
    const streams = double.log.all.map(({ stream }) => stream)
    expect(streams).to.include.members(['one.link-1', 'two.link-1', 'link-1', 'one.log', 'two.log', 'log'])
    expect(
      streams.filter((stream) => /^(?:one|two)\./.test(stream) && !/^(?:one|two)\.[a-z]+(?:-|$)/.test(stream)),
    ).to.deep.equal([])
  })

  it('keeps leaves and receipts equal when a log gets another prefix on it', async () => {
    const before = await startTestApp(settings('one'))
    const { key } = await before.register()
    await add(before, key, 'moved')
    const first = await receiptOf(before, key, 'link-1')
    await before.close()

    const source = await eventStoreDb({ url: double.url, prefix: 'one', codec: asStored })
    stage.later(source.close)
    disturb()
    const opening = (await source.last('log')) as Opening
    const target = await eventStoreDb({ url: double.url, prefix: 'two', codec: asStored, opening })
    stage.later(target.close)
    await copyLog(source, target)

    const moved = await startTestApp(settings('two'), before.connection)
    stage.later(moved.close)
    const again = await receiptOf(moved, key, 'link-1')
    expect([again.ordinal, again.json['event']]).to.deep.equal([first.ordinal, first.json['event']])
    expect(again.text).not.to.include('two.')
  })

  it('does not start a service whose prefix was set, changed or removed', async () => {
    const app = await startTestApp(settings('one'))
    await app.close()
    for (const [prefix, found] of [
      ['two', 'has nothing with EVENTSTORE_PREFIX two'],
      [undefined, 'is empty'],
    ] as const) {
      const refused = await startTestApp(settings(prefix), app.connection).catch(String)
      expect(refused).to.include(
        `the event store of EVENTSTORE_URL ${found}, but the read tables were filled from a log`,
      )
      expect(refused).to.include('correct the address or EVENTSTORE_PREFIX')
    }
    const plain = await startTestApp(settings(undefined))
    await plain.close()
    expect(await startTestApp(settings('two'), plain.connection).catch(String)).to.include('EVENTSTORE_PREFIX two')
  })
})
