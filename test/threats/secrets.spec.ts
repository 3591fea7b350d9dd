import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import type { Connection } from '../../src/postgres/database.ts'
import { urlOf } from '../support/app.ts'
import { type Answer, type Ask, until } from '../support/client.ts'
import { freshDatabase } from '../support/database.ts'
import { query } from '../support/faults.ts'
import { runProcess, type Service, startProcess } from '../support/process.ts'
import { wire } from '../support/raw.ts'

describe('a service that logs everything and fails in many ways', () => {
  const word = 'canarypassword67'
  const email = 'canaryemail67@example.com'
  const SECRET = 'canarysecret67canarysecret67'
  /** personal data of a visitor */
  const address = '203.0.113.67'
  const injected = '\n{"level":60,"msg":"injected39"}\n'
  let dir: string
  let connection: Connection
  let service: Service
  /** must not be in the output or in a response to a request that failed */
  let secrets: string[] = [word, email, SECRET, address]
  /** the responses to requests that failed */
  const failures: Answer[] = []
  let output = ''

  before(async function () {
    this.timeout(300_000)
    dir = await mkdtemp(join(tmpdir(), 'linkledger-secrets-'))
    connection = await freshDatabase()
    const settings = { DATABASE_URL: urlOf(connection), DATA_DIR: dir, SECRET }
    service = await startProcess({ ...settings, LOG_LEVEL: 'trace', TRUST_PROXY: '1', DEBUG: '*' })
    await until(
      () => service.get('/readyz?of=api'),
      ({ status }) => status === 200,
    )
    await fail()
    await service.end()
    output = service.output()
  })
  after(async () => {
    await service.end('SIGKILL')
    await rm(dir, { recursive: true, force: true })
  })

  const failing = async (statuses: readonly number[], method: string, path: string, ask: Ask = {}) => {
    const answer = await service.ask(method, path, ask)
    expect(statuses, `${method} ${path} ${answer.text}`).to.include(answer.status)
    failures.push(answer)
  }
  const fail = async () => {
    const made = await service.post('/register', { body: { email, password: word, username: 'canaryname67' } })
    const key = String(made.json['api_key'])
    secrets = [...secrets, key, key.slice(16), String(connection.password)]
    const link = { url: 'https://example.com/', custom: 'locked', password: word }
    const { json } = await service.post('/api/url/add', { key, body: link })

    // mistakes of clients
    for (const body of [
      `{"email":"${email}","password":"${word}"`,
      { email, password: word },
      { email: `${word} ${email}`, password: word },
      { email, password: word.slice(0, 7), username: word },
      { email, password: word.repeat(100) },
      `"${word}"`,
    ])
      await failing([400], 'POST', '/register', { body })
    await failing([413], 'POST', '/register', { body: { email, password: word.repeat(5000) } })
    await failing([415], 'POST', '/register', { body: word, headers: { 'Content-Type': 'text/plain' } })
    for (const Authorization of [
      `${key}x`,
      `Basic ${Buffer.from(`${email}:${word}`).toString('base64')}`,
      `Bearer ${word}`,
    ])
      await failing([401], 'GET', '/api/account', { headers: { Authorization } })
    for (const field of ['url', 'type', 'expiry', 'domain', 'custom', 'geotarget', 'parameters', 'metaimage'])
      await failing([400], 'POST', '/api/url/add', { key, body: { ...link, [field]: `${word} ${email} ${key}` } })
    await failing([400], 'PUT', '/api/account/update', { key, body: { email: word, password: word } })
    for (const path of [
      `/api/${word}`,
      `/api/url/${key}?password=${word}`,
      `/${word}/${key}`,
      `/%0a${encodeURIComponent(injected)}`,
    ])
      await failing([404], 'GET', path, { key })
    for (let i = 0; i < 12; i++)
      await failing([401, 429], 'POST', '/locked', {
        body: `password=${word}x`,
        headers: { 'Content-Type': 'text/plain' },
      })
    await wire(service.address, `GET /api/account HTTP/1.1\r\nAuthorization: ${key}\r\nX: ${word.repeat(2000)}\r\n\r\n`)
    await wire(
      service.address,
      `POST /register HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{"password":"${word}"`,
      200,
    )
    const agent = { 'User-Agent': encodeURIComponent(injected), Referer: `https://x/${encodeURIComponent(injected)}` }
    await service.visit('/locked', agent)

    // failures of the service: the database loses a table, then all its connections
    const inRead = async (sql: (table: string) => string) => {
      const tables = await query<{ name: string }>(
        connection,
        `select tablename as name from pg_tables where schemaname = 'read'`,
      )
      for (const { name } of tables.filter(({ name }) => /^(aside_)?(accounts|links)_/.test(name)))
        await query(connection, sql(name))
    }
    await inRead((table) => `alter table read.${table} rename to aside_${table}`)
    await failing([500], 'GET', '/api/urls', { key })
    await failing([500], 'GET', '/api/account', { key })
    // stored, but not projected: the projector fails while it holds all their values
    const body = { email: `second-${email}`, password: word }
    expect((await service.post('/register', { body })).status).to.equal(200)
    await service.put(`/api/url/${json['id']}/update`, {
      key,
      body: { ...link, password: `${word} again`, title: injected },
    })
    const problems = async () => String((await service.operator.get('/readyz?of=api')).json['problems'])
    expect(await until(problems, (text) => text.includes('accounts'))).to.include('accounts')
    await inRead((table) => `alter table read.${table} rename to ${table.replace('aside_', '')}`)
    await until(
      () => service.get('/api/urls', { key }),
      ({ status }) => status === 200,
    )

    await query(connection, 'alter table state.rate_limits rename to aside')
    const headers = { 'Content-Type': 'text/plain', 'X-Forwarded-For': address }
    await failing([500], 'POST', '/locked', { body: `password=${word}x`, headers })
    await query(connection, 'alter table state.aside rename to rate_limits')
    await query(connection, 'alter function log.append rename to aside')
    await failing([500, 503], 'POST', '/register', { body: { email: `third-${email}`, password: word } })
    await failing([500, 503], 'PUT', '/api/account/update', { key, body: { email: `fourth-${email}`, password: word } })
    await query(connection, 'alter function log.aside rename to append')
    const writes = Array.from({ length: 10 }, (_, i) =>
      service
        .put('/api/account/update', { key, body: { email: `fifth${i}-${email}`, password: word } })
        .catch(() => undefined),
    )
    await query(
      connection,
      'select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and datname = current_database()',
    )
    await Promise.all(writes)
    await until(
      () => service.get('/api/account', { key }),
      ({ status }) => status === 200,
    )
  }

  it('has failed, and has logged the failures', () => {
    expect(failures.filter(({ status }) => status >= 500)).to.have.length.at.least(4)
    expect(output)
      .to.match(/request failed/)
      .and.to.include('projection halted')
  })

  it('writes no secret to its log', () => {
    for (const secret of secrets) {
      const at = output.indexOf(secret)
      expect(at === -1 ? '' : output.slice(Math.max(0, at - 300), at + 100), secret.slice(0, 14)).to.equal('')
    }
  })

  it('puts neither a secret nor an internal detail in a response', () => {
    for (const { status, text, headers } of failures) {
      const all = text + JSON.stringify([...headers])
      for (const secret of secrets) expect(all).not.to.include(secret)
      expect(all).not.to.match(/node_modules|at async|\.ts:\d+|select |insert |relation /)
      if (status === 500 && text.startsWith('{'))
        expect(JSON.parse(text)).to.include({
          error: 1,
          message: 'An unexpected error occurred. Please report the request id to the operator of this service.',
        })
    }
  })

  it('writes one JSON object per line, for any request', () => {
    const [, ...lines] = output.split('\n').filter((line) => line !== '')
    const logged = lines.filter((line) => !startupText.test(line))
    expect(logged.length).to.be.at.least(10)
    for (const line of logged) {
      expect(() => JSON.parse(line), line).not.to.throw()
      const { level, time } = JSON.parse(line) as { level: unknown; time: unknown }
      expect(level).to.be.a('number')
      expect(time).to.match(/^\d{4}-\d\d-\d\dT/)
      expect(line).not.to.match(/^\{"level":60/)
      expect(line.length).to.be.below(8000)
    }
  })

  describe('that cannot start', () => {
    const failures: readonly [what: string, code: number, args: readonly string[], settings: Record<string, string>][] =
      [
        [
          'its settings are invalid',
          1,
          ['start'],
          { SECRET: 'short', BASE_URL: `https://x:${word}@example.com`, DATABASE_URL: `mysql://u:${word}@h/d` },
        ],
        [
          'its database cannot be reached',
          1,
          ['start'],
          { SECRET, DATABASE_URL: `postgres://user:${word}@127.0.0.1:1/none`, LOG_LEVEL: 'trace', DEBUG: '*' },
        ],
        ['its SECRET is another one', 1, ['account', 'add', email, '--password', word], { SECRET: `${SECRET} not` }],
        ['the password of an account is too short', 2, ['account', 'add', email, '--password', word.slice(0, 7)], {}],
      ]
    for (const [what, status, args, settings] of failures)
      it(`shows no secret when ${what}`, async () => {
        const { code, out, err } = await runProcess(args, {
          DATABASE_URL: urlOf(connection),
          DATA_DIR: dir,
          ...settings,
        })
        expect(code, err).to.equal(status)
        expect(err).to.match(/^linkledger: .+/m)
        for (const secret of [...secrets, word.slice(0, 7)]) expect(out + err).not.to.include(secret)
      }).timeout(300_000)
  })
})

/** What a service prints on standard output once it listens, and when it has stopped: for a person, not a log. */
const startupText =
  /^(Linkledger listens|Open the dashboard|Or try it in|  #|  curl|  KEY=|All of the API is at|Stop the service|Stopped)/
