import { expect } from 'chai'
import { streamsOf } from '../../../src/queries/accounts/export.ts'
import { query } from '../../support/faults.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'

describe('the streams of an account', () => {
  let app: TestApp
  before(async () => (app = await startTestApp()))
  after(() => app.close())

  it('are each exported once, despite deletions and restores meanwhile', async () => {
    const { key, id: account } = await app.register()
    const body = { type: 'bing', name: 'x', tag: 'abc' }
    const { json } = await app.post('/api/pixel/add', { key, body })
    expect(json['error'], JSON.stringify(json)).to.equal(0)
    const { pool, tables } = app.app.ledger
    const table = tables.name('pixels')
    const copies = await query<{ id: string }>(
      app.connection,
      `insert into ${table} select (jsonb_populate_record(p, jsonb_build_object(
         'id', p.id + n, 'deleted', case when n % 2 = 0 then now() end))).*
       from ${table} p, generate_series(1, 2500) n where p.id = $1 returning id`,
      [json['id']],
    )
    const all = [json['id'] as number, ...copies.map(({ id }) => Number(id))].map((id) => `pixel-${id}`)
    const met = []
    for await (const stream of streamsOf({ db: pool(1, 60_000, 'test'), table: tables.name }, account)) {
      if (!stream.startsWith('pixel-')) continue
      // between batches, all of them change sides
      if (met.length % 1000 === 500)
        await query(app.connection, `update ${table} set deleted = case when deleted is null then now() end`)
      met.push(stream)
    }
    expect(met).to.deep.equal(all)
  })
})
