import { expect } from 'chai'
import { run } from '../../src/cli/run.ts'
import { startTestApp, type TestApp, urlOf } from '../support/app.ts'
import { until } from '../support/client.ts'
import { query } from '../support/faults.ts'

describe('a database that has lost the key of an account', () => {
  const word = 'sesame open'
  let app: TestApp
  let key: string
  const api = async (path: string, body: object) => {
    const { json, text } = await app.post(path, { key, body })
    expect(json['error'], text).to.equal(0)
    return json
  }
  let link: number
  let rotator: string
  let list: string
  let scan: string
  before(async () => {
    app = await startTestApp()
    const { connection } = app
    const registered = await app.register('lost-key')
    ;({ key } = registered)
    const campaign = await api('/api/campaign/add', { name: 'c', slug: 'lost', public: true })
    const fields = { url: 'https://example.com/private', custom: 'locked', password: word, campaign: campaign['id'] }
    link = Number((await api('/api/url/add', fields))['id'])
    const code = await api('/api/qr/add', { type: 'link', data: 'https://example.com/private' })
    scan = `${new URL(String(code['link'])).pathname}/go`
    rotator = new URL(String(campaign['rotator'])).pathname
    list = `/u/lost-key/lost-${String(campaign['id'])}`
    await app.close()
    await query(connection, 'delete from state.keys where name = $1', [`account-${registered.id}`])
    await query(connection, 'drop schema read cascade')
    app = await startTestApp({}, connection)
  })
  after(() => app.close())

  const post = (password: string) => {
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded' }
    return app.post('/locked', { body: `password=${encodeURIComponent(password)}`, headers })
  }

  it('keeps a protected link protected, wherever it is shown', async () => {
    const page = await app.visit('/locked')
    expect(page.status, page.headers.get('Location') ?? '').to.equal(200)
    expect(page.text).to.include('type="password"').and.not.to.include('/private')
    expect((await app.visit(rotator)).headers.get('Location')).to.match(/\/locked$/)
    // the name of the page's owner is sealed, too, so the page is gone
    expect((await app.visit(list)).status).to.equal(404)
    expect((await app.get(`/api/url/${link}`, { key })).json['details']).to.include({ password: true })
    for (const password of [word, 'unreadable', '']) {
      const answer = await post(password)
      expect(answer.status, password).to.equal(503)
      expect(answer.headers.get('Set-Cookie'), password).to.equal(null)
    }
  })

  it('answers 503, not 500, for a QR code whose content is sealed', async () => {
    expect((await app.visit(scan)).status).to.equal(503)
    expect((await app.visit(scan.replace('/go', ''))).status).to.equal(503)
  })

  it('accepts a new password of the owner', async () => {
    const { json, text } = await app.put(`/api/url/${link}/update`, {
      key,
      body: { url: 'https://example.com/private', password: 'another word' },
    })
    expect(json['error'], text).to.equal(0)
    expect((await post(word)).status).to.equal(401)
    expect((await post('another word')).status).to.equal(303)
  })
})

describe('a database that has lost the key of an account, whose texts are in the tables still', function () {
  this.timeout(300_000)
  let app: TestApp
  let owner: { readonly id: number; readonly key: string }
  before(async () => {
    app = await startTestApp()
    owner = await app.register('lost-still')
    await app.close()
    await query(app.connection, 'delete from state.keys where name = $1', [`account-${owner.id}`])
    app = await startTestApp({}, app.connection)
  })
  after(() => app.close())

  const command = async (...args: readonly string[]) => {
    const { dir, connection, config } = app
    const lines: string[] = []
    const print = (line: string) => void lines.push(line)
    const variables = { DATA_DIR: dir, DATABASE_URL: urlOf(connection), SECRET: config.SECRET }
    const code = await run(args, { variables, print, printError: print })
    return { code, text: lines.join('\n') }
  }
  const missing = () => `the keys of accounts are missing in state.keys (${owner.id})`

  it('says so in /readyz, and makes no new key', async () => {
    const problems = async () => String((await app.operator.get('/readyz')).json['problems'])
    expect(await until(problems, (text) => text.includes('keys'), 90_000)).to.include(missing())
    const body = { url: 'https://example.com/', title: 'a text' }
    expect((await app.post('/api/url/add', { key: owner.key, body })).status).to.equal(503)
  })

  it('is verified with an error that names the missing key, and is rebuilt with --lost-keys only', async () => {
    const verified = await command('verify', '--tables')
    expect(verified.code, verified.text).to.equal(1)
    expect(verified.text).to.include(missing()).and.not.to.include('makes the tables again')
    const refused = await command('rebuild')
    expect(refused.code, refused.text).to.equal(1)
    expect(refused.text).to.include(missing())
    expect((await app.get('/api/account', { key: owner.key })).text).to.include('lost-still')
    const done = await command('rebuild', '--lost-keys')
    expect(done.code, done.text).to.equal(0)
  })
})
