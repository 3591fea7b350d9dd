import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { pino } from 'pino'
import { startApp } from '../../src/app/service.ts'
import type { WaitingStart } from '../../src/app/waiting.ts'
import { readConfig } from '../../src/config.ts'
import type { Connection } from '../../src/postgres/database.ts'
import { startTestApp, urlOf } from '../support/app.ts'
import { client, until } from '../support/client.ts'
import { freshDatabase } from '../support/database.ts'
import { type Double, startDouble } from '../support/eventstoredb.ts'
import { note, openStage, randomFrom, repeatable, seed } from '../support/faults.ts'
import { runCommand } from '../support/process.ts'
import { logged } from './eventstore.ts'

const SECRET = 'a secret for tests only'
/** Waits for a server that is there, however busy the machine is. */
const patient: WaitingStart = { onWaiting: () => {}, signal: new AbortController().signal, timeoutMs: 30_000 }

describe(`a service that starts while its EventStoreDB is away (${repeatable})`, function () {
  this.timeout(300_000)
  const random = randomFrom(seed)
  const stage = openStage()
  let double: Double
  let connection: Connection
  let [key, id, visits] = ['', 0, 0]

  before(async () => {
    double = await startDouble()
    connection = await freshDatabase()
    const app = await startTestApp({ EVENTSTORE_URL: double.url }, connection)
    key = (await app.register()).key
    const made = await app.post('/api/url/add', { key, body: { url: 'https://example.com/', custom: 'busy' } })
    id = Number(made.json['id'])
    await visit(app, 5)
    await until(
      () => clicks(app),
      (n) => n === visits,
    )
    await app.close()
  })
  after(() => double.close())
  afterEach(stage.clear)

  interface WithOperator {
    readonly operator: ReturnType<typeof client>
  }
  type Service = Pick<ReturnType<typeof client>, 'get' | 'post' | 'visit'>
  const visit = async ({ visit: follow }: Service, count: number) => {
    for (let n = 0; n < count; n++, visits++) expect((await follow('/busy')).status).to.equal(302)
  }
  const clicks = async ({ get }: Service) =>
    Number((await get(`/api/url/${id}`, { key })).json['data']?.['clicks'] ?? -1)
  const add = ({ post }: Service) => post('/api/url/add', { key, body: { url: 'https://example.com/' } })
  const ready = (service: Service) =>
    until(
      () => service.get('/readyz?of=api'),
      ({ status }) => status === 200,
    )
  const settings = (url: string) => ({ EVENTSTORE_URL: url, DATABASE_URL: urlOf(connection), SECRET })
  /** Starts an app in this process, without waiting for anything. */
  const start = async (url: string, given: Readonly<Record<string, string>> = {}, waiting?: WaitingStart) => {
    const variables = { ...settings(url), DATA_DIR: await stage.dir(), PORT: '0', RATE_LIMIT_PER_MINUTE: '0', ...given }
    const starting = startApp(readConfig(variables), pino({ level: 'silent' }), { inOneThread: true }, waiting)
    stage.later(() =>
      starting.then(
        ({ close }) => close(),
        () => {},
      ),
    )
    const { address, operatorAddress } = await starting
    return { ...client(address), operator: client(operatorAddress) }
  }
  /** Returns what to start with, and where the service listens while it waits. */
  const whereItWaits = () => {
    const { signal } = new AbortController()
    let onWaiting: WaitingStart['onWaiting'] = () => {}
    const service = new Promise<ReturnType<typeof client> & WithOperator>((resolve) => {
      onWaiting = ({ address, operatorAddress }) => resolve({ ...client(address), operator: client(operatorAddress) })
    })
    return { waiting: { onWaiting: (...args: Parameters<typeof onWaiting>) => onWaiting(...args), signal }, service }
  }
  const problemsOf = async ({ operator }: WithOperator) => {
    const { status, json } = await operator.get('/readyz?of=api')
    return { status, problems: String(json['problems']) }
  }

  it('redirects, keeps clicks in the spool, refuses writes, goes on by itself, and counts each click once through kill -9', async () => {
    const DATA_DIR = await stage.dir()
    await double.down()
    const first = await stage.start({ ...settings(double.url), DATA_DIR })
    await visit(first, 10)
    expect(await clicks(first), 'it answers reads').to.equal(5)
    const refused = await add(first)
    expect([refused.status, refused.headers.has('Retry-After')]).to.deep.equal([503, true])
    const { status, problems } = await problemsOf(first)
    expect(status).to.equal(503)
    expect(problems).to.include('(EVENTSTORE_URL) cannot be reached')
    await double.up()
    const pause = random(1500)
    await sleep(pause)
    await first.end('SIGKILL')

    await double.down()
    const second = await start(double.url, { DATA_DIR })
    await visit(second, 10)
    await double.up()
    await ready(second)
    expect((await add(second)).status).to.equal(200)
    expect(
      await until(
        () => clicks(second),
        (n) => n >= visits,
      ),
    ).to.equal(visits)
    note(`killed ${pause} ms after the server was back`)
  })

  it('does not use another log behind the address, or an empty one, and says so until the right one is back', async () => {
    await double.down()
    const service = await start(double.url)
    const used = await startDouble({ port: double.port })
    await (await startTestApp({ EVENTSTORE_URL: used.url })).close()
    const before = logged(used)
    const found = await until(
      () => problemsOf(service),
      ({ problems }) => problems.includes('has the log'),
      20_000,
    )
    expect(found.status).to.equal(503)
    expect(found.problems).to.include('EVENTSTORE_URL').and.include('the read tables were filled from')
    await visit(service, 3)
    expect((await add(service)).status).to.equal(503)
    expect(logged(used), 'nothing is appended to it').to.deep.equal(before)
    await used.close()
    const unused = await startDouble({ port: double.port })
    const other = await until(
      () => problemsOf(service),
      ({ problems }) => problems.includes('is empty'),
      20_000,
    )
    expect(other.status).to.equal(503)
    expect(logged(unused)).to.deep.equal([])
    await unused.close()
    await double.up()
    await ready(service)
    expect(
      await until(
        () => clicks(service),
        (n) => n >= visits,
      ),
    ).to.equal(visits)
  })

  it('does not start on an empty log when the tables were filled from another, until the operator gives that up', async () => {
    const tables = await freshDatabase()
    const [filled, emptied] = [await startDouble(), await startDouble()]
    stage.later(() => Promise.all([filled.close(), emptied.close()]))
    await (await startTestApp({ EVENTSTORE_URL: filled.url }, tables)).close()
    const given = { DATABASE_URL: urlOf(tables), DATA_DIR: await stage.dir() }
    const refused = await start(emptied.url, given, patient).catch((error: unknown) => error)
    expect(refused)
      .to.be.instanceOf(Error)
      .with.property('message')
      .that.includes('EVENTSTORE_URL is empty')
      .and.includes('linkledger rebuild --new-log')
    const command = await runCommand(['account', 'list'], { ...settings(emptied.url), ...given })
    expect(command.code).to.not.equal(0)
    expect(command.err).to.include((refused as Error).message)
    expect(logged(emptied), 'nothing is appended').to.deep.equal([])
    expect((await runCommand(['rebuild', '--new-log'], { ...settings(emptied.url), ...given })).err).to.equal('')
    await ready(await start(emptied.url, given, patient))
  })

  it('serves nothing while the tables lack an erasure of the register, and applies it when the server is back', async () => {
    const app = await startTestApp({ EVENTSTORE_URL: double.url }, connection)
    const erased = await app.register('erased')
    const made = await app.post('/api/url/add', {
      key: erased.key,
      body: { url: 'https://example.com/', custom: 'erased' },
    })
    expect(made.status).to.equal(200)
    const { logId } = app.app.ledger.store
    let registered = ''
    for await (const { id } of app.app.ledger.store.read(`account-${erased.id}`, 0n, 1)) registered = id
    await app.close()
    await double.down()
    const DATA_DIR = await stage.dir()
    const line = { log: logId, account: erased.id, registered, at: new Date().toISOString() }
    await writeFile(join(DATA_DIR, 'erasures'), `${JSON.stringify(line)}\n`)
    const { waiting, service: waits } = whereItWaits()
    const starting = start(double.url, { DATA_DIR }, waiting)
    const service = await waits
    const { status } = await service.visit('/erased')
    await double.up()
    await starting
    expect(status).to.equal(503)
    expect((await service.visit('/erased')).status).not.to.equal(302)
  })

  it('for the first time listens, reports the reason for the wait, and then opens the log', async () => {
    const server = await startDouble()
    stage.later(server.close)
    await server.down()
    const { waiting, service: waits } = whereItWaits()
    const starting = start(server.url, { DATABASE_URL: urlOf(await freshDatabase()) }, waiting)
    const service = await waits
    expect((await problemsOf(service)).problems)
      .to.include('waits for its event store')
      .and.include('EVENTSTORE_URL')
    for (const path of ['/readyz', '/api/urls', '/busy']) expect((await service.get(path)).status, path).to.equal(503)
    expect((await service.get('/api/urls')).headers.has('Retry-After')).to.equal(true)
    expect((await service.get('/healthz')).status).to.equal(200)
    await server.up()
    await starting
    await ready(service)
    expect(
      (await service.post('/register', { body: { email: 'ann@example.com', password: 'correct horse 1' } })).status,
    ).to.equal(200)
  })

  it('ends at once when it is stopped, when the server refuses its password, and when it is a command', async () => {
    const server = await startDouble()
    stage.later(server.close)
    server.fail(() => 'unauthenticated')
    const fresh = { DATABASE_URL: urlOf(await freshDatabase()) }
    const refused = await start(server.url, fresh).catch(String)
    expect(refused).to.include('the user or the password in EVENTSTORE_URL is wrong')
    expect(await start(server.url).catch(String), 'with read tables').to.equal(refused)
    await server.down()
    const ended = new AbortController()
    const stopped = start(server.url, fresh, { onWaiting: () => ended.abort(), signal: ended.signal })
    const command = runCommand(['account', 'list'], { ...settings(server.url), DATA_DIR: await stage.dir() })
    expect(await stopped.catch(({ name }: Error) => name)).to.equal('AbortError')
    const { code, err } = await command
    expect(code).to.equal(1)
    expect(err).to.include('(EVENTSTORE_URL) cannot be reached')
  })
})
