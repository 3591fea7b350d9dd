import { expect } from 'chai'
import { startTestApp, type TestApp } from '../support/app.ts'
import { type Answer, until } from '../support/client.ts'
import { query } from '../support/faults.ts'

describe('while the projection of links is halted', function () {
  this.timeout(60_000)
  let app: TestApp
  /** another process on the same database, which does not project */
  let other: TestApp
  let key: string
  let table: string
  before(async () => {
    app = await startTestApp()
    other = await startTestApp({ ROLES: 'http,relay' }, app.connection)
    ;({ key } = await app.register())
    table = app.app.ledger.tables.name('links')
  })
  after(async () => {
    await other.close()
    await app.close()
  })

  const add = async (custom: string, fields: object = {}) => {
    const { status, json } = await app.post('/api/url/add', {
      key,
      body: { url: 'https://example.com/', custom, ...fields },
    })
    expect(status).to.equal(200)
    return Number(json['id'])
  }
  const problems = async () => ((await app.get('/readyz')).json['problems'] as readonly string[]).join()
  const statusIs = (status: number) => (answer: Answer) => answer.status === status

  it('links follow their changes in every process, and responses say that lists are behind (fault 147)', async () => {
    const [deleted, locked] = [await add('deleted'), await add('locked')]
    for (const process of [app, other])
      for (const path of ['/deleted', '/locked']) expect((await process.visit(path)).status).to.equal(302)
    await query(app.connection, `alter table ${table} add constraint broken check (title <> 'poison')`)
    await add('poison', { title: 'poison' })
    expect(await until(problems, (text) => text.includes('links'))).to.include('links')

    const changes = [
      await app.del(`/api/url/${deleted}/delete`, { key }),
      await other.put(`/api/url/${locked}/update`, { key, body: { password: 'a secret word' } }),
      await app.post('/api/url/add', { key, body: { url: 'https://example.com/new', custom: 'new' } }),
    ]
    expect(changes.map(({ status }) => status)).to.deep.equal([200, 200, 200])
    for (const process of [app, other]) {
      await until(() => process.visit('/deleted'), statusIs(404))
      await until(
        async () => (await process.visit('/locked')).text,
        (text) => text.includes('password'),
      )
      await until(() => process.visit('/new'), statusIs(302))
      await until(() => process.visit('/poison'), statusIs(302))
    }
    const created = await app.post('/api/url/add', { key, body: { url: 'https://example.com/late', custom: 'late' } })
    expect(created.headers.get('X-Projection-Pending')).to.equal('1')
    expect((await app.get(`/api/url/${Number(created.json['id'])}`, { key })).json['details']).to.include({
      alias: 'late',
    })

    await query(app.connection, `alter table ${table} drop constraint broken`)
    await until(problems, (text) => !text.includes('links'))
    const listed = async () => (await app.get('/api/urls', { key })).json['data'].urls as readonly { alias: string }[]
    expect((await listed()).map(({ alias }) => alias)).to.have.members(['locked', 'poison', 'new', 'late'])
    for (const process of [app, other]) {
      expect((await process.visit('/deleted')).status).to.equal(404)
      expect((await process.visit('/locked')).text).to.include('password')
    }
    const next = async () =>
      (await app.post('/api/url/add', { key, body: { url: 'https://example.com/next' } })).headers.get(
        'X-Projection-Pending',
      )
    await until(next, (pending) => pending === null)
  })
})
