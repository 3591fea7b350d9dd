import { expect } from 'chai'
import { asStored, codec } from '../../src/events/codec.ts'
import { NoEventThere } from '../../src/events/store.ts'
import { copyLog } from '../../src/store/copy.ts'
import { eventStoreDb } from '../../src/store/eventstoredb.ts'
import type { Opening } from '../../src/store/open.ts'
import { postgresStore } from '../../src/store/postgres.ts'
import { createSignal } from '../../src/lib/async/signal.ts'
import { openPool } from '../../src/postgres/database.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { until } from '../support/client.ts'
import { startDouble } from '../support/eventstoredb.ts'
import { openStage } from '../support/faults.ts'
import { memoryKeyring } from '../support/keyring.ts'
import { timed, write } from './eventstore.ts'

describe('a log copied to EventStoreDB, with read tables of the other engine', function () {
  this.timeout(300_000)
  const stage = openStage()
  afterEach(stage.clear)

  /** Copies the log of a service that has ended to an EventStoreDB whose positions are others. */
  const copyFrom = async ({ connection, config }: TestApp) => {
    const pool = openPool(connection, { name: 'copy', max: 2, timeout: 30_000, onError: () => {} })
    stage.later(() => pool.end())
    const url = config.EVENTSTORE_URL
    const source = await (url
      ? eventStoreDb({ url, codec: asStored })
      : postgresStore(pool, asStored, createSignal(), {}))
    stage.later(source.close)
    const double = await startDouble()
    stage.later(double.close)
    for (let n = 0; n < 7; n++) double.log.system('$statsCollected')
    const opening = (await source.last('log')) as Opening
    const target = await eventStoreDb({ url: double.url, codec: asStored, opening })
    stage.later(target.close)
    await copyLog(source, target)
    return double
  }

  for (const engine of ['PostgreSQL', 'another EventStoreDB'])
    it(`fills tables that were filled on ${engine} by itself`, async () => {
      const first = await startDouble()
      stage.later(first.close)
      const before = await startTestApp(engine === 'PostgreSQL' ? {} : { EVENTSTORE_URL: first.url })
      const { key } = await before.register()
      const add = (app: TestApp, custom: string) =>
        app.post('/api/url/add', { key, body: { url: 'https://example.com/', custom } })
      for (const alias of ['one', 'two', 'three']) expect((await add(before, alias)).status).to.equal(200)
      await before.close()
      const double = await copyFrom(before)

      const moved = await startTestApp({ EVENTSTORE_URL: double.url }, before.connection)
      stage.later(moved.close)
      await until(
        async () => (await moved.operator.get('/readyz?of=api')).json,
        (answer) => answer['ready'] === true,
      )
      expect((await moved.get('/two')).status).to.equal(302)
      expect((await add(moved, 'four')).status).to.equal(200)
      const links = async () => (await moved.get('/api/urls', { key })).json['data']?.result as number | undefined
      expect(await until(links, (n) => n === 4), 'links').to.equal(4)
    })

  it('ends a subscription with an error that names the cure when no event begins at its position', async () => {
    const double = await startDouble()
    const store = await eventStoreDb({ url: double.url, codec: codec(memoryKeyring()) })
    stage.later(async () => {
      await store.close()
      await double.close()
    })
    const appended = await store.append([write()])
    const after = (appended.ok ? appended.position : 0n) - 1n
    const signal = new AbortController().signal
    const reading = async () => {
      for await (const events of store.subscribe({ after, filter: 'domain', limit: 10, signal })) return events
      return undefined
    }
    const { outcome } = await timed(reading())
    expect(outcome).to.be.instanceOf(NoEventThere)
    expect(String(outcome)).to.include(`no event begins at position ${after}`).and.include('linkledger rebuild')
  })
})
