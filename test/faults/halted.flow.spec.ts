import { expect } from 'chai'
import { startTestApp, type TestApp, urlOf } from '../support/app.ts'
import { type Answer, until } from '../support/client.ts'
import { query } from '../support/faults.ts'
import { runCommand } from '../support/process.ts'

describe('while the projection of links is halted', function () {
  this.timeout(300_000)
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
  const problems = async () => ((await app.operator.get('/readyz?of=api')).json['problems'] as readonly string[]).join()
  /** Expects what every process answers, within seconds. */
  const answers = async (path: string, matches: (answer: Answer) => boolean) => {
    for (const process of [app, other]) {
      const answer = await until(() => process.visit(path), matches)
      expect(matches(answer), `${path}: ${answer.status} ${answer.text}`).to.equal(true)
    }
  }
  const redirects = ({ status }: Answer) => status === 302
  const isMissing = ({ status }: Answer) => status === 404
  const asksForPassword = ({ text }: Answer) => text.includes('password')

  it('links follow their changes in every process, and responses say that lists are behind', async () => {
    const [deleted, locked] = [await add('deleted'), await add('locked')]
    await answers('/deleted', redirects)
    await answers('/locked', redirects)
    await query(app.connection, `alter table ${table} add constraint broken check (title <> 'poison')`)
    await add('poison', { title: 'poison' })
    expect(await until(problems, (text) => text.includes('links'))).to.include('links')

    const changes = [
      await app.del(`/api/url/${deleted}/delete`, { key }),
      await other.put(`/api/url/${locked}/update`, {
        key,
        body: { url: 'https://example.com/', password: 'a secret word' },
      }),
      await app.post('/api/url/add', { key, body: { url: 'https://example.com/new', custom: 'new' } }),
    ]
    expect(changes.map(({ status }) => status)).to.deep.equal([200, 200, 200])
    await answers('/deleted', isMissing)
    await answers('/locked', asksForPassword)
    await answers('/new', redirects)
    await answers('/poison', redirects)
    const created = await app.post('/api/url/add', { key, body: { url: 'https://example.com/late', custom: 'late' } })
    expect(created.headers.get('X-Projection-Pending')).to.equal('1')
    expect((await app.get(`/api/url/${Number(created.json['id'])}`, { key })).json['details']).to.include({
      alias: 'late',
    })

    await query(app.connection, `alter table ${table} drop constraint broken`)
    const { code } = await runCommand(['projections', 'retry', 'links'], {
      DATABASE_URL: urlOf(app.connection),
      DATA_DIR: app.dir,
      SECRET: 'a secret for tests only',
    })
    expect(code).to.equal(0)
    expect(await until(problems, (text) => !text.includes('links'))).to.not.include('links')
    const listed = async () =>
      ((await app.get('/api/urls', { key })).json['data'].urls as readonly { alias: string }[]).map(
        ({ alias }) => alias,
      )
    const aliases = ['locked', 'poison', 'new', 'late']
    expect(await until(listed, ({ length }) => length === aliases.length)).to.have.members(aliases)
    await answers('/deleted', isMissing)
    await answers('/locked', asksForPassword)
    const next = async () =>
      (await app.post('/api/url/add', { key, body: { url: 'https://example.com/next' } })).headers.get(
        'X-Projection-Pending',
      )
    expect(await until(next, (pending) => pending === null)).to.equal(null)
  })
})
