import { expect } from 'chai'
import { openClickRecord } from '../../../src/clicks/record.ts'
import { localRoute } from '../../../src/clicks/spool/folders.ts'
import type { DroppedVisits } from '../../../src/clicks/visit.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { until } from '../../support/client.ts'

describe('visits that could not be recorded, in statistics', () => {
  let app: TestApp
  let seq = 0
  before(async () => {
    app = await startTestApp()
  })
  after(() => app.close())

  const lose = (dropped: DroppedVisits) =>
    openClickRecord({ store: app.app.ledger.store, ...localRoute }).record(0, [{ spool: 'full', seq: ++seq, dropped }])
  const lostOf = async (key: string, query = 'from=2026-05-01&to=2026-05-31') =>
    (await app.get(`/api/stats?${query}`, { key })).json['data'].lost
  const may = (day: number) => `2026-05-0${day}T08:00:00.000Z`

  it('are reported with their time to the owner, and to every account when the owner is unknown', async () => {
    const [one, other] = [await app.register(), await app.register()]
    expect(await lostOf(one.key)).to.equal(undefined)
    await lose({ count: 12, from: may(3), to: may(3), accounts: [{ account: Number(one.id), count: 12 }] })
    const twelve = { from: '2026-05-03 08:00:00', to: '2026-05-03 08:00:00', visits: 12, of: 'account' }
    await until(
      () => lostOf(one.key),
      (lost) => lost !== undefined,
    )
    const before = (await app.get('/api/stats?from=2026-05-01&to=2026-05-31', { key: one.key })).headers
    const rest = [
      { account: Number(other.id), count: 2 },
      { account: 0, count: 3 },
    ]
    await lose({ count: 5, from: may(4), to: may(5), accounts: rest })
    await lose({ count: 7, from: may(6), to: may(6) })
    const time = { from: '2026-05-04 08:00:00', to: '2026-05-05 08:00:00' }
    const three = { ...time, visits: 3, of: 'service' }
    const seven = { from: '2026-05-06 08:00:00', to: '2026-05-06 08:00:00', visits: 7, of: 'service' }
    const found = await until(
      () => lostOf(one.key),
      (lost) => lost?.length === 3,
    )
    expect(found).to.deep.equal([twelve, three, seven])
    expect(await lostOf(other.key)).to.deep.equal([{ ...time, visits: 2, of: 'account' }, three, seven])
    expect(await lostOf(one.key, 'from=2026-05-05&to=2026-05-05'), 'of a period').to.deep.equal([three])
    expect(await lostOf(one.key, 'from=2026-05-07&to=2026-05-08')).to.equal(undefined)
    const then = String(before.get('linkledger-at'))
    expect(
      await lostOf(one.key, `from=2026-05-01&to=2026-05-31&at=${encodeURIComponent(then)}`),
      'as it was told then',
    ).to.deep.equal([twelve])
  })

  it('are not reported for one link: the visited link is unknown', async () => {
    const { key } = await app.register()
    const { json } = await app.post('/api/url/add', { key, body: { url: 'https://example.com/' } })
    expect(await lostOf(key)).to.have.length(2)
    expect(await lostOf(key, `from=2026-05-01&to=2026-05-31&link=${String(json['id'])}`)).to.equal(undefined)
  })
})
