import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { openLocks } from '../../../src/postgres/listen.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { until } from '../../support/client.ts'

describe('a reclassification that waits for its turn', () => {
  let app: TestApp
  before(async () => {
    app = await startTestApp()
  })
  after(() => app.close())

  /** While it is held, no process of the service works on jobs. */
  const hold = async () => {
    const locks = await openLocks(app.connection, 'a test')
    await until(
      () => locks.acquire([7275473n]),
      (held) => held.has(7275473n),
    )
    return locks
  }

  it('is not answered for a day that something still runs', async () => {
    const { key } = await app.register()
    const headers = { 'Idempotency-Key': randomUUID() }
    const ask = () => app.post('/api/account/reclassify', { key, headers, body: { background: true, dryRun: true } })
    const locks = await hold()
    await app.post('/api/account/reclassify', { key, body: { background: true } })
    const refused = await ask()
    expect([refused.status, refused.json['code'], refused.headers.get('Retry-After')]).to.deep.equal([
      ...[409, 'still_running', '5'],
    ])
    await locks.close()
    await until(
      async () => (await app.get('/api/account/reclassify', { key })).json['data'],
      ({ job }) => job.ended !== null,
    )
    const again = await ask()
    expect([again.status, again.headers.get('Idempotent-Replayed')]).to.deep.equal([200, null])
  })
})
