import { expect } from 'chai'
import { asStored } from '../../src/events/codec.ts'
import { createSignal } from '../../src/lib/async/signal.ts'
import { openPool } from '../../src/postgres/database.ts'
import { copyLog } from '../../src/store/copy.ts'
import { eventStoreDb } from '../../src/store/eventstoredb.ts'
import type { Opening } from '../../src/store/open.ts'
import { postgresStore } from '../../src/store/postgres.ts'
import { startTestApp } from '../support/app.ts'
import { until } from '../support/client.ts'
import { startDouble } from '../support/eventstoredb.ts'
import { long, note, openStage, randomFrom, repeatable, seed } from '../support/faults.ts'
import { expectSame, openWorkload, type Saved } from '../support/workload.ts'

describe(`answers of the past on another engine (${repeatable})`, function () {
  this.timeout(600_000)
  const stage = openStage()
  afterEach(stage.clear)

  it('are those that were given before the log was copied: events keep their numbers', async () => {
    const before = await startTestApp()
    const workload = await openWorkload(() => before, randomFrom(seed))
    const saved: Saved[] = []
    for (let moment = 0; moment < (long ? 50 : 4); moment++) {
      for (let n = 0; n < 20; n++) await workload.step()
      saved.push(...(await workload.save(14)))
    }
    // addresses begin with it
    const { baseUrl } = before.app
    await before.close()

    const pool = openPool(before.connection, { name: 'copy', max: 2, timeout: 30_000, onError: () => {} })
    stage.later(() => pool.end())
    const source = await postgresStore(pool, asStored, createSignal(), {})
    stage.later(source.close)
    const double = await startDouble()
    stage.later(double.close)
    // positions are others
    for (let n = 0; n < 7; n++) double.log.system('$statsCollected')
    const target = await eventStoreDb({
      url: double.url,
      codec: asStored,
      opening: (await source.last('log')) as Opening,
    })
    stage.later(target.close)
    await copyLog(source, target)

    const moved = await startTestApp({ EVENTSTORE_URL: double.url, BASE_URL: baseUrl }, before.connection)
    stage.later(moved.close)
    await until(
      async () => (await moved.operator.get('/readyz?of=api')).json,
      (answer) => answer['ready'] === true,
    )
    const [first] = saved
    await until(
      () => moved.get('/api/account', { key: first?.key ?? '' }),
      ({ headers }) => headers.has('Linkledger-At'),
    )
    await expectSame(moved, saved)
    // and there, what was deleted comes back, once
    const { key } = await moved.register()
    const { id } = (await moved.post('/api/url/add', { key, body: { url: 'https://example.com/', custom: 'moved' } }))
      .json
    await moved.del(`/api/url/${id}/delete`, { key })
    const back = () => moved.post(`/api/url/${id}/restore`, { key, body: {}, headers: { 'Idempotency-Key': 'back' } })
    const answers = [await back(), await back()]
    expect(answers.map(({ status, json }) => [status, json['revision']])).to.deep.equal([
      [200, 2],
      [200, 2],
    ])
    expect((await moved.visit('/moved')).status).to.equal(302)
    note(`${saved.length} answers`)
    expect(saved.length).to.be.above(20)
  })
})
