import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { openSpool } from '../../src/clicks/spool/spool.ts'
import { pngOf } from '../../src/qr/logo.ts'
import { urlOf } from '../support/app.ts'
import { builtMain } from '../support/build.ts'
import { browser, until } from '../support/client.ts'
import { freshDatabase, migratedDatabase } from '../support/database.ts'
import { startDouble } from '../support/eventstoredb.ts'
import { openStage, query, randomFrom } from '../support/faults.ts'
import { runCommand, runProcess, type Service } from '../support/process.ts'
import { noise } from '../support/qr.ts'
import { visit } from '../support/spool.ts'

describe('linkledger log copy', function () {
  this.timeout(300_000)
  const stage = openStage()
  after(stage.clear)
  const SECRET = 'a secret for tests only'

  const png = pngOf(noise(20, 20, randomFrom(1))).toString('base64')

  /** Creates what a user has: an account, whose e-mail is sealed, a link with a click, and a QR code with a logo. */
  const fill = async (service: Service) => {
    const account = await service.register()
    const { key } = account
    const made = await service.post('/api/url/add', { key, body: { url: 'https://example.com/', custom: 'moved' } })
    await service.visit('/moved')
    const clicks = async () => (await service.get(`/api/url/${made.json['id']}`, { key })).json['data'].clicks
    expect(await until(clicks, (n) => n === 1)).to.equal(1)
    const logo = `data:image/png;base64,${png}`
    const code = await service.post('/api/qr/add', { key, body: { type: 'text', data: 'Hello', logo } })
    const { pathname } = new URL(String(code.json['link']))
    return { key, email: String(account.email), link: Number(made.json['id']), code: pathname }
  }
  /** Resolves when the read tables of a new log are filled. */
  const ready = async (service: Service) => {
    const status = async () => (await service.get('/readyz?of=api')).status
    expect(await until(status, (n) => n === 200)).to.equal(200)
    return service
  }
  type Filled = Awaited<ReturnType<typeof fill>>

  /** Expects the account and its link on the other engine, where both can be used as before. */
  const expectMoved = async (service: Service, { key, email, link, code }: Filled) => {
    const read = await service.get(`/api/url/${link}`, { key })
    expect([read.status, read.json['details'].alias, read.json['data'].clicks]).to.deep.equal([200, 'moved', 1])
    expect((await service.get('/api/account', { key })).json['data']).to.include({ email })
    expect((await service.visit('/moved')).status).to.equal(302)
    expect((await service.get(`${code}.svg`)).text).to.include(png)
    const next = await service.post('/api/url/add', { key, body: { url: 'https://example.com/next' } })
    expect([next.status, Number(next.json['id'])]).to.deep.equal([200, link + 1])
    const taken = await service.post('/api/url/add', { key, body: { url: 'https://example.com/', custom: 'MOVED' } })
    expect(taken.json['message']).to.include('alias is taken')
    const clicks = async () => (await service.get(`/api/url/${link}`, { key })).json['data'].clicks
    expect(await until(clicks, (n) => n === 2)).to.equal(2)
  }
  const copy = (from: string, to: string, settings: Readonly<Record<string, string>>) =>
    runCommand(['log', 'copy', '--from', from, '--to', to], { SECRET, ...settings })

  it('copies the embedded database to another PostgreSQL, and from there to an EventStoreDB', async () => {
    const DATA_DIR = await stage.dir()
    const embedded = await ready(await stage.start({ SECRET, DATA_DIR }))
    const filled = await fill(embedded)
    const url = urlOf(await freshDatabase())

    const busy = await copy('embedded', url, { DATA_DIR })
    expect([busy.code, busy.err]).to.satisfy(([code, err]: [number, string]) => code === 1 && /is in use by/.test(err))
    await embedded.end()
    const copied = await copy('embedded', url, { DATA_DIR })
    expect(copied.err).to.equal('')
    expect(copied.out).to.match(/^\d+ events, the keys, the sequences and the images are copied and verified\.$/m)

    const onPostgres = await ready(await stage.start({ SECRET, DATA_DIR, DATABASE_URL: url }))
    await expectMoved(onPostgres, filled)

    const used = await copy(url, 'embedded', { DATA_DIR: await stage.dir() })
    expect(used.err).to.match(/^linkledger: --from is in use by 1 linkledger process: stop it first$/m)
    await onPostgres.end()

    const server = await startDouble()
    stage.later(server.close)
    const moved = await copy(url, server.url, { DATA_DIR, DATABASE_URL: url })
    expect(moved.err).to.equal('')
    const settings = { SECRET, DATA_DIR, DATABASE_URL: url, EVENTSTORE_URL: server.url }
    const onEventStore = await ready(await stage.start(settings))
    const { json } = await onEventStore.get(`/api/url/${filled.link}`, { key: filled.key })
    expect(json['data'].clicks).to.equal(2)
    expect((await onEventStore.visit('/moved')).status).to.equal(302)
    expect((await onEventStore.get(`${filled.code}.svg`)).text).to.include(png)
  })

  it('continues after a kill, and no service or command accepts a partial copy as a log', async () => {
    const source = { SECRET, DATABASE_URL: urlOf(await freshDatabase()), DATA_DIR: await stage.dir() }
    const before = await ready(await stage.start(source))
    const filled = await fill(before)
    await before.end()
    const connection = await migratedDatabase()
    const target = { ...source, DATABASE_URL: urlOf(connection), DATA_DIR: await stage.dir() }
    const holder = await stage.connect(connection)
    await holder.query('begin; lock table log.events')
    const copying = spawn(
      process.execPath,
      [await builtMain(), 'log', 'copy', '--from', source.DATABASE_URL, '--to', target.DATABASE_URL],
      { env: { PATH: process.env['PATH'] ?? '', ...source }, stdio: 'ignore' },
    )
    await until(
      () => query(connection, `select from state.keys where name = 'service'`),
      ({ length }) => length === 1,
    )
    copying.kill('SIGKILL')
    await once(copying, 'exit')
    await holder.query('rollback')

    for (const command of [['start'], ['account', 'list']]) {
      const { code, err, out } = await runProcess(command, { ...target, PORT: '0' })
      expect([code, err + out]).to.satisfy(
        ([n, text]: [number, string]) => n === 1 && /has not finished: .* `linkledger log copy`/.test(text),
      )
    }
    const copied = await copy(source.DATABASE_URL, target.DATABASE_URL, source)
    expect([copied.code, copied.err]).to.deep.equal([0, ''])
    await expectMoved(await ready(await stage.start(target)), filled)
  })

  it('copies a log to another prefix of its EventStoreDB', async () => {
    const server = await startDouble()
    stage.later(server.close)
    const settings = { SECRET, DATA_DIR: await stage.dir(), DATABASE_URL: urlOf(await freshDatabase()) }
    const on = { ...settings, EVENTSTORE_URL: server.url }
    const before = await ready(await stage.start({ ...on, EVENTSTORE_PREFIX: 'one' }))
    const filled = await fill(before)
    await before.end()
    const to = (...more: string[]) =>
      runCommand(['log', 'copy', '--from', server.url, '--from-prefix', 'one', ...more], settings)
    expect((await to('--to', server.url, '--to-prefix', 'Two')).err).to.include('--to-prefix must have 1 to 32')
    expect((await to('--to', 'embedded', '--to-prefix', 'two')).err).to.include(
      '--to-prefix needs an EventStoreDB as --to',
    )
    const copied = await to('--to', server.url, '--to-prefix', 'two')
    expect(copied.err).to.equal('')
    expect(copied.out).to.match(/^\d+ events, the keys, the sequences and the images are copied and verified\.$/m)
    await expectMoved(await ready(await stage.start({ ...on, EVENTSTORE_PREFIX: 'two' })), filled)
  })

  it('refuses an EventStoreDB whose keys are elsewhere, says where it looked, and changes nothing', async () => {
    const server = await startDouble()
    stage.later(server.close)
    const [own, empty, target] = [await freshDatabase(), await freshDatabase(), await freshDatabase()].map(urlOf)
    const settings = { SECRET, DATA_DIR: await stage.dir(), EVENTSTORE_URL: server.url }
    const service = await stage.start({ ...settings, DATABASE_URL: own! })
    await service.register()
    await service.end()
    const DATA_DIR = await stage.dir()
    const refused = await copy(server.url, target!, { DATA_DIR, DATABASE_URL: empty! })
    expect(refused.code).to.equal(1)
    expect(refused.err).to.match(/the database has no keys.* The keys were looked for in DATABASE_URL \(\S+ on \S+\)\./)
    const copied = await copy(server.url, target!, { DATA_DIR, DATABASE_URL: own! })
    expect(copied.err).to.equal('')
    expect(copied.out).to.include('are copied and verified')
  })

  it('refuses a target that belongs to another Linkledger, and a SECRET other than the source has', async () => {
    const [one, other] = [urlOf(await freshDatabase()), urlOf(await freshDatabase())]
    for (const DATABASE_URL of [one, other]) {
      const service = await stage.start({ SECRET, DATABASE_URL, DATA_DIR: await stage.dir() })
      await service.end()
    }
    const DATA_DIR = await stage.dir()
    const keys = await copy(one, other, { DATA_DIR })
    expect([keys.code, keys.err]).to.deep.equal([
      1,
      'linkledger: the target holds the keys of another Linkledger: use an empty database\n',
    ])
    const secret = await copy(one, urlOf(await freshDatabase()), { DATA_DIR, SECRET: 'another secret entirely' })
    expect(secret.err).to.match(/^linkledger: SECRET does not open the keys of this database/)
  })
})

describe('linkledger spool import', function () {
  this.timeout(300_000)
  const stage = openStage()
  after(stage.clear)

  it('counts each click once however often the spool is imported, while the service runs', async () => {
    const settings = { SECRET: 'a secret for tests only', DATABASE_URL: urlOf(await freshDatabase()) }
    const service = await stage.start({ ...settings, DATA_DIR: await stage.dir() })
    await until(
      () => service.get('/readyz?of=api'),
      ({ status }) => status === 200,
    )
    const { key, id: account } = await service.register()
    const made = await service.post('/api/url/add', { key, body: { url: 'https://example.com/' } })
    const link = Number(made.json['id'])

    const gone = await stage.dir()
    const spool = await openSpool({ dir: join(gone, 'spool'), route: { log: 'local', partitions: 1 }, log: () => {} })
    for (let n = 0; n < 30; n++) await spool.add({ ...visit(n), account, link, agent: browser })
    await spool.close()

    const run = async (...args: string[]) =>
      runCommand(['spool', ...args], { ...settings, DATA_DIR: await stage.dir() })
    expect((await run('import', gone)).out).to.match(/^30 new clicks recorded from \S+\.$/m)
    expect((await run('import', join(gone, 'spool'))).out).to.match(/^0 new clicks recorded from/m)
    const clicks = async () => (await service.get(`/api/url/${link}`, { key })).json['data'].clicks
    expect(await until(clicks, (n) => n === 30)).to.equal(30)
  })

  it('refuses a spool that a running service uses, and no copy of one, wherever it is', async () => {
    const DATA_DIR = await stage.dir()
    const settings = { SECRET: 'a secret for tests only', DATABASE_URL: urlOf(await freshDatabase()) }
    await stage.start({ ...settings, DATA_DIR })
    const run = async (folder: string) =>
      runCommand(['spool', 'import', folder], { ...settings, DATA_DIR: await stage.dir() })
    const { code, err } = await run(DATA_DIR)
    expect([code, err]).to.satisfy(
      ([n, text]: [number, string]) => n === 1 && /is in use by another linkledger/.test(text),
    )
    await cp(join(DATA_DIR, 'spool'), join(DATA_DIR, 'copied'), { recursive: true })
    expect((await run(join(DATA_DIR, 'copied'))).out).to.match(/^0 new clicks recorded from/m)
  })
})
