import pg from 'pg'
import { expect } from 'chai'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { until } from '../../support/client.ts'
import { query } from '../../support/faults.ts'

describe('reading while statistics are slow', () => {
  let app: TestApp
  let keys: readonly string[]
  let slow: pg.Client
  before(async () => {
    app = await startTestApp()
    keys = await Promise.all([app.register(), app.register()]).then((all) => all.map(({ key }) => key))
    slow = new pg.Client(app.connection)
    await slow.connect()
  })
  after(async () => {
    await slow.end()
    await app.close()
  })
  const waiting = async () => {
    const [row] = await query<{ n: string }>(
      app.connection,
      `select count(distinct pid) as n from pg_locks where not granted and database = (select oid from pg_database where datname = current_database())`,
    )
    return Number(row?.n)
  }

  it('answers other requests, redirects and writes, and gives each account only a part of the connections', async () => {
    const [key = '', other = ''] = keys
    const { json } = await app.post('/api/url/add', { key, body: { url: 'https://example.com/', custom: 'quick' } })
    await slow.query('begin')
    await slow.query(`lock table ${app.app.ledger.tables.name('link_stats')} in access exclusive mode`)
    const path = `/api/url/${json['id']}`
    const asked = Array.from({ length: 20 }, () => app.get(path, { key }))
    expect(await until(waiting, (n) => n === 2)).to.equal(2)
    const others = Array.from({ length: 20 }, () => app.get('/api/account/stats', { key: other }))

    for (let n = 0; n < 12; n++) expect((await app.get('/api/pixels', { key })).status).to.equal(200)
    expect((await app.get('/api/campaigns', { key: other })).status).to.equal(200)
    expect((await app.visit('/quick')).headers.get('Location')).to.equal('https://example.com/')
    const added = await app.post('/api/pixel/add', { key, body: { type: 'gtmpixel', name: 'x', tag: 'GTM-ABC123' } })
    expect(added.status).to.equal(200)
    expect(await waiting()).to.be.at.most(4)

    await slow.query('rollback')
    // on a slow machine, some have waited for longer than a request may take
    for (const { status } of await Promise.all([...asked, ...others])) expect(status).to.be.oneOf([200, 503])
  })

  it('leaves the connections of writes and sign-ins to these, also where an answer is of the present only', async () => {
    const [key = '', other = ''] = keys
    await slow.query('begin; lock table state.misses in access exclusive mode')
    const asked = Array.from({ length: 20 }, () => app.get('/api/misses', { key }))
    expect(await until(waiting, (n) => n === 2)).to.equal(2)

    const { key: registered } = await app.register()
    for (const own of [key, other, registered]) {
      const body = { type: 'gtmpixel', name: 'x', tag: 'GTM-ABC123' }
      expect((await app.post('/api/pixel/add', { key: own, body })).status).to.equal(200)
      expect((await app.get('/api/sessions', { key: own })).status).to.equal(200)
      expect((await app.get('/api/account/stats', { key: other })).status).to.equal(200)
    }
    expect(await waiting()).to.be.at.most(2)

    await slow.query('rollback')
    for (const { status } of await Promise.all(asked)) expect(status).to.be.oneOf([200, 503])
  })

  it('gives long pages of one account one connection at a time, and others theirs', async () => {
    const [key = '', other = ''] = keys
    await slow.query('begin')
    await slow.query(`lock table ${app.app.ledger.tables.name('links')} in access exclusive mode`)
    const asked = Array.from({ length: 20 }, () => app.get('/api/urls?limit=1000&cursor=', { key }))
    expect(await until(waiting, (n) => n > 0)).to.be.above(0)

    expect((await app.get('/api/pixels?limit=1000', { key: other })).status).to.equal(200)
    for (let n = 0; n < 3; n++) expect((await app.get('/api/pixels', { key })).status).to.equal(200)
    expect(await waiting()).to.be.at.most(1)

    await slow.query('rollback')
    for (const { status } of await Promise.all(asked)) expect(status).to.be.oneOf([200, 503])
  })
})
