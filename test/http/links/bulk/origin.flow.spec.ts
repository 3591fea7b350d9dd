import { expect } from 'chai'
import { startTestApp, type TestApp } from '../../../support/app.ts'
import { type Answer, until } from '../../../support/client.ts'

const address = (n: number | string) => `https://example.com/${n}`

describe('links that come from another service', () => {
  let app: TestApp
  let own: Awaited<ReturnType<TestApp['register']>>
  const ids = new Map<string, number>()
  before(async () => {
    app = await startTestApp()
    own = await app.register()
  })
  after(() => app.close())

  const get = async (path: string) => (await app.get(path, own)).json
  const bulk = (body: unknown, type = 'text/csv', query = 'op=create') =>
    app.post(`/api/urls/bulk?${query}`, { ...own, body, headers: { 'Content-Type': type } })
  const create = async (csv: string) => {
    const { json } = await bulk(csv)
    expect(json, JSON.stringify(json)).to.include({ error: 0, failed: 0 })
    return (json['rows'] as { id: number }[]).map(({ id }) => id)
  }
  const listed = async (query = '') =>
    (await get(`/api/urls?fields=alias,clicks,uniqueclicks,imported,date,status&${query}`))['data'].urls as {
      alias: string
      clicks: number
    }[]

  it('keep the date on which they were made, and the clicks that were counted there', async () => {
    const [old, counted, fresh] = await create(
      [
        'url,custom,date,clicks,uniqueclicks,source,max_clicks',
        `${address(1)},old,2019-03-01 12:00:00,1200,700,bit.ly,5`,
        `${address(2)},counted,2020-05-06,30,,kutt,`,
        `${address(3)},fresh,,,,,`,
      ].join('\n'),
    )
    for (const [name, id] of Object.entries({ old, counted, fresh })) ids.set(name, id!)
    const { details, data } = await get(`/api/url/${old}`)
    expect(details).to.include({ date: '2019-03-01 12:00:00', status: 'active' })
    expect(data).to.include({ clicks: 1200, uniqueClicks: 700, imported: 1200 })
    const { details: without, data: none } = await get(`/api/url/${fresh}`)
    expect(none).to.include({ clicks: 0, uniqueClicks: 0 }).and.not.to.have.property('imported')
    expect(without.date).not.to.match(/^20(?:19|20)/)
    const rows = await listed()
    expect(rows.find(({ alias }) => alias === 'counted')).to.include({
      clicks: 30,
      uniqueclicks: 0,
      imported: 30,
      date: '2020-05-06 00:00:00',
    })
    expect(rows.find(({ alias }) => alias === 'fresh')).to.not.have.property('imported')
  })

  it('have no more visitors than clicks', async () => {
    const rows = [
      { url: address('more'), clicks: 3, uniqueclicks: 9 },
      { url: address('none'), uniqueclicks: 5 },
    ]
    const { json } = await bulk({ rows }, 'application/json')
    expect((json['rows'] as object[]).map((row) => ({ ...row, message: undefined }))).to.deep.equal(
      [3, 0].map((max, n) => ({
        ...{ row: n + 1, error: 1, status: 400, message: undefined, code: 'out_of_range' },
        ...{ field: 'uniqueclicks', params: { min: 0, max } },
      })),
    )
  })

  it('are found by that date, and sorted by all of their clicks', async () => {
    expect((await listed('to=2019-12-31')).map(({ alias }) => alias)).to.deep.equal(['old'])
    const sorted = async () => (await listed('order=click')).map(({ alias }) => alias).join()
    await until(sorted, (aliases) => aliases === 'old,counted,fresh')
    expect((await listed('order=click&limit=1&page=2')).map(({ alias }) => alias)).to.deep.equal(['counted'])
  })

  it('add clicks here to the imported ones, and only clicks here count for `max_clicks`', async () => {
    expect((await app.visit('/old')).status).to.equal(302)
    const live = async () => (await get(`/api/url/${ids.get('old')}`))['data'].clicks as number
    for (let n = 0; n < 300 && (await live()) === 1200; n++) await new Promise((done) => setTimeout(done, 50))
    expect(await live()).to.equal(1201)
    expect((await get(`/api/url/${ids.get('old')}`))['details'].status).to.equal('active')
  })

  it('are in the totals of the account and of campaigns, and in no interval', async () => {
    const { json } = await app.post('/api/campaign/add', { ...own, body: { name: 'Spring' } })
    const changes = { url: address(2), campaign: json['id'] }
    await app.put(`/api/url/${ids.get('counted')}/update`, { ...own, body: changes })
    expect((await get(`/api/campaign/${json['id']}`))['data']).to.include({ clicks: 30, imported: 30 })
    const stats = (await get('/api/account/stats'))['data']
    expect(stats).to.include({ imported: 1230 })
    expect(stats.total.clicks).to.equal(1)
    expect((await get(`/api/url/${ids.get('counted')}/stats`))['data']).to.include({ imported: 30 })
  })

  it('say in their history where the clicks come from, and did not have them before', async () => {
    const { events } = (await get(`/api/url/${ids.get('counted')}/history`))['data']
    const types = events.map(({ type }: { type: string }) => type)
    expect(types).to.include.members(['ClicksImported', 'LinkCreated'])
    const found = events.find(({ type }: { type: string }) => type === 'ClicksImported')
    expect(found.changes).to.deep.equal([{ field: 'imported', old: null, new: 30 }])
    const created = events.find(({ type }: { type: string }) => type === 'LinkCreated')
    const then = await get(`/api/url/${ids.get('counted')}?at=event:${created.event}`)
    expect(then['data']?.clicks, JSON.stringify([then, events])).to.equal(0)
  })

  it('are refused with a date in the future, or a count that is none', async () => {
    const failed = async (row: object) => {
      const { json } = await bulk({ rows: [{ url: address('x'), ...row }] }, 'application/json')
      const [first] = json['rows'] as Answer['json'][]
      return [first!['field'], first!['code']]
    }
    expect(await failed({ date: '2999-01-01' })).to.deep.equal(['date', 'in_future'])
    expect(await failed({ clicks: -1 })).to.deep.equal(['clicks', 'out_of_range'])
    expect(await failed({ clicks: '1,200' })).to.deep.equal(['clicks', 'wrong_type'])
    expect(await failed({ source: 'Bit.ly!' })).to.deep.equal(['source', 'wrong_form'])
  })

  it('are answered with a warning for each column that is left out', async () => {
    const csv = await bulk(`url,vists,createdAt\n${address(7)},12,2020-01-01\n`)
    expect((csv.json['warnings'] as { field: string }[]).map(({ field }) => field)).to.deep.equal([
      'vists',
      'createdAt',
    ])
    const json = await bulk({ rows: [{ url: address(8), vists: 3 }] }, 'application/json', 'op=create&dryRun=true')
    expect(json.json['warnings'][0]).to.include({ code: 'not_supported', field: 'vists' })
    const changed = await bulk({ rows: [{ id: ids.get('fresh'), clicks: 3 }] }, 'application/json', 'op=update')
    expect(changed.json['warnings'][0]).to.include({ field: 'clicks' })
    expect((await bulk({ rows: [{ url: address(9) }] }, 'application/json')).json).to.not.have.property('warnings')
  })
})
