import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { expect } from 'chai'
import { lostIds } from '../../src/postgres/ids.ts'
import { createChain, type Entry } from '../../src/lib/chain.ts'
import { pngOf } from '../../src/qr/logo.ts'
import { withEnd } from '../../src/store/archive.ts'
import { startTestApp, urlOf } from '../support/app.ts'
import { builtMain } from '../support/build.ts'
import { until } from '../support/client.ts'
import { freshDatabase, migratedDatabase } from '../support/database.ts'
import { startDouble } from '../support/eventstoredb.ts'
import { openStage, query, randomFrom } from '../support/faults.ts'
import { runCommand, runProcess, type Service } from '../support/process.ts'
import { noise } from '../support/qr.ts'

const page = readFileSync(join(import.meta.dirname, '../../docs/operations.md'), 'utf8')
/** Returns the commands of the first code block of a chapter, line by line and without comments. */
const commandsOf = (chapter: string): readonly string[] => {
  const text = page.split(`\n## ${chapter}\n`)[1]?.split('\n## ')[0] ?? ''
  const [, block = ''] = /```sh\n(.*?)```/s.exec(text) ?? []
  const commands = block.split('\n').map((line) => line.replace(/\s+#.*$/, ''))
  return commands.filter((command) => command !== '')
}

describe('linkledger backup and restore', function () {
  this.timeout(300_000)
  const stage = openStage()
  before(async () => void ([home, backups] = [await stage.dir(), await stage.dir()]))
  after(stage.clear)
  const png = pngOf(noise(20, 20, randomFrom(1))).toString('base64')
  let [home, backups] = ['', '']
  let service: Service
  let mine: Filled
  let other: { readonly key: string; readonly email: string }

  type Client = Pick<Service, 'get' | 'post' | 'visit' | 'register'>
  const fill = async (on: Client) => {
    const { key } = await on.register()
    const made = await on.post('/api/url/add', { key, body: { url: 'https://example.com/', custom: 'kept' } })
    await on.visit('/kept')
    const clicks = async () => (await on.get(`/api/url/${made.json['id']}`, { key })).json['data'].clicks
    expect(await until(clicks, (n) => n === 1)).to.equal(1)
    const logo = `data:image/png;base64,${png}`
    const code = await on.post('/api/qr/add', { key, body: { type: 'text', data: 'Hello', logo } })
    return { key, link: Number(made.json['id']), code: new URL(String(code.json['link'])).pathname }
  }
  type Filled = Awaited<ReturnType<typeof fill>>

  const isReady = async (on: Client) => {
    const status = async () => (await on.get('/readyz?of=api')).status
    expect(await until(status, (n) => n === 200)).to.equal(200)
  }
  const start = async () => {
    service = await stage.start({ DATA_DIR: join(home, 'data'), CHECKPOINT_SECONDS: '1' })
    await isReady(service)
  }

  /** Runs a command of the documentation in the folder of the installation. */
  const runLine = async (line: string) => {
    const text = line.replaceAll('/mnt/backup', backups)
    const ours = /^npx linkledger ([^>]+?)(?: > (\S+))?$/.exec(text)
    if (text === 'npm start') await start()
    else if (!ours) execFileSync('sh', ['-c', text], { cwd: home })
    else {
      const args = ours[1]!.split(' ').map((arg) => (arg.startsWith('data') ? join(home, arg) : arg))
      const { code, out, err } = await runCommand(args, { DATA_DIR: join(home, 'data') })
      expect([code, err], text).to.deep.equal([0, ''])
      if (ours[2] !== undefined) writeFileSync(ours[2], out)
      return out
    }
    return ''
  }

  /** Returns the receipt of the event that created a link. */
  const receiptOf = async (on: Client, { key, link }: Filled) => {
    const { json } = await on.get(`/api/url/${link}/history`, { key })
    const [created] = (json['data'] as unknown as { events: { event: number }[] }).events.slice(-1)
    const ask = () => on.get(`/api/events/${created!.event}/proof`, { key })
    const { status, text } = await until(ask, (answer) => answer.status === 200, 20_000)
    expect(status, text).to.equal(200)
    return text
  }

  /** Expects what was there when the backup was made, and that it can be used as before. */
  const expectRestored = async (on: Client, { key, link, code }: Filled, next: number) => {
    const read = await on.get(`/api/url/${link}`, { key })
    expect([read.status, read.json['details'].alias, read.json['data'].clicks]).to.deep.equal([200, 'kept', 1])
    expect((await on.get(`${code}.svg`)).text).to.include(png)
    const added = await on.post('/api/url/add', { key, body: { url: 'https://example.com/next' } })
    expect(Number(added.json['id'])).to.equal(next)
    const taken = await on.post('/api/url/add', { key, body: { url: 'https://example.com/', custom: 'KEPT' } })
    expect(taken.json['message']).to.include('alias is taken')
  }

  it('bring a service back with the commands of the documentation, without an account that was erased since', async () => {
    await runLine('npm start')
    mine = await fill(service)
    const receipt = join(await stage.dir(), 'receipt.json')
    writeFileSync(receipt, await receiptOf(service, mine))
    const vkey = (await runLine('npx linkledger proof key'))?.trim()
    other = (await service.register()) as typeof other
    const [save, ...rest] = commandsOf('Backup')
    expect(await runLine(save!)).to.match(
      /^\d+ events, .* are saved\.\nThe backup can be used only with \S+\/data\/secret: keep that, too, in another place\.$/m,
    )
    await service.post('/api/url/add', { key: mine.key, body: { url: 'https://example.com/too-late', custom: 'late' } })
    await runLine(`npx linkledger account erase ${other.email} --yes`)
    for (const line of rest) await runLine(line)
    const late = await service.visit('/late')
    expect(late.headers.get('location')).to.equal('https://example.com/too-late')
    await service.end('SIGKILL')

    for (const line of commandsOf('Restore')) await runLine(line)
    await expectRestored(service, mine, mine.link + lostIds + 1)
    // a visit of the link that was lost counts for no other
    const urls = (await service.get('/api/urls?order=click', { key: mine.key })).json['data'].urls as {
      clicks: number
    }[]
    expect(urls.map(({ clicks }) => clicks)).to.deep.equal([1, 0])
    expect((await service.get('/api/account', { key: other.key })).status).to.equal(401)
    expect((await service.visit('/late')).status).to.equal(404)
    // proofs go on: of before, and of now
    const again = join(await stage.dir(), 'again.json')
    writeFileSync(again, await receiptOf(service, mine))
    for (const file of [receipt, again])
      expect(await runLine(`npx linkledger proof verify ${file} --key ${vkey}`)).to.include('"LinkCreated"')
    expect(await runLine('npx linkledger verify')).to.include('The log holds')
    await service.end()
  })

  it('continue an interrupted restore, which the service refuses to start on, and move to other engines', async () => {
    const file = join(backups, 'linkledger.ndjson.gz')
    const server = await startDouble()
    stage.later(server.close)
    const connection = await freshDatabase()
    const SECRET = (await readFile(join(backups, 'secret'), 'utf8')).trim()
    const settings = { DATABASE_URL: urlOf(connection), EVENTSTORE_URL: server.url, DATA_DIR: await stage.dir() }

    const wrong = await runCommand(['restore', file], { ...settings, SECRET: 'another secret entirely' })
    expect([wrong.code, wrong.err]).to.deep.equal([
      1,
      'linkledger: the value of SECRET does not open the keys of this backup: use the secret of the time when it was made\n',
    ])
    const none = await runCommand(['restore', file], settings)
    expect(none.err).to.match(/^linkledger: there is no \S+\/secret: put the secret of the backup there, or set SECRET/)

    // as after an interruption before the state: only the events are there
    await runCommand(['log', 'import', file], settings)
    const early = await runCommand(['account', 'list'], { ...settings, SECRET })
    expect(early.err).to.match(/^linkledger: the database has no keys, but the log has events that need them/)
    for (let n = 0; n < 2; n++) {
      const { code, err } = await runCommand(['restore', file], { ...settings, SECRET })
      expect([code, err]).to.deep.equal([0, ''])
    }
    const again = join(backups, 'again.ndjson')
    expect((await runCommand(['backup', again], { ...settings, SECRET })).err).to.equal('')
    const events = (text: string) => text.split('\n').filter((line) => line.includes('"event":'))
    expect(events(await readFile(again, 'utf8'))).to.have.lengthOf(
      events(gunzipSync(await readFile(file)).toString()).length,
    )

    const app = await startTestApp({ ...settings, SECRET }, connection)
    stage.later(app.close)
    await isReady(app)
    await expectRestored(app, mine, mine.link + lostIds + 1)
    // this register does not know of the erasure, which came after the backup
    expect((await app.get('/api/account', { key: other.key })).status).to.equal(200)
  })

  it('go on after a kill before the first event, which the service does not take for a new database', async () => {
    const file = join(backups, 'linkledger.ndjson.gz')
    const SECRET = (await readFile(join(backups, 'secret'), 'utf8')).trim()
    const connection = await migratedDatabase()
    const settings = { DATABASE_URL: urlOf(connection), DATA_DIR: await stage.dir(), SECRET }
    const holder = await stage.connect(connection)
    await holder.query('begin; lock table log.events')
    const restoring = spawn(process.execPath, [await builtMain(), 'restore', file], {
      env: { PATH: process.env['PATH'] ?? '', ...settings },
      stdio: 'ignore',
    })
    await until(
      () => query(connection, 'select log from state.restores'),
      ({ length }) => length === 1,
    )
    restoring.kill('SIGKILL')
    await once(restoring, 'exit')
    await holder.query('rollback')

    const early = await runProcess(['start'], { ...settings, PORT: '0' })
    expect(early.code).to.equal(1)
    expect(early.err + early.out).to.match(/a restore that began at \S+ has not finished: run `linkledger restore`/)
    expect(await query(connection, 'select 1 from log.events')).to.have.length(0)
    const { code, err } = await runCommand(['restore', file], settings)
    expect([code, err]).to.deep.equal([0, ''])
    const app = await startTestApp({ ...settings }, connection)
    stage.later(app.close)
    await isReady(app)
    await expectRestored(app, mine, mine.link + lostIds + 1)
  })

  it('erase an account again whose erasure falls between the log and the state of a backup', async () => {
    const app = await startTestApp({}, await freshDatabase())
    stage.later(app.close)
    const kept = await app.register()
    const erased = await app.register()
    const SECRET = app.config.SECRET ?? ''
    const settings = { DATABASE_URL: urlOf(app.connection), DATA_DIR: app.dir, SECRET }
    const entriesAt = async (name: string) => {
      const file = join(backups, name)
      expect((await runCommand(['backup', file], settings)).err).to.equal('')
      const lines = (await readFile(file, 'utf8')).trimEnd().split('\n')
      return lines.map((line) => Object.entries(JSON.parse(line) as object)[1] as Entry)
    }
    const before = await entriesAt('before.ndjson')
    await runCommand(['account', 'erase', String(erased.email), '--yes'], settings)
    const after = await entriesAt('after.ndjson')

    const ofLog = ([kind]: Entry) => kind === 'header' || kind === 'event'
    const ofState = ([kind]: Entry) => !ofLog([kind, undefined]) && kind !== 'erasure' && kind !== 'end'
    const torn = async function* () {
      yield [...before.filter(ofLog), ...after.filter(ofState)]
    }
    const file = join(backups, 'torn.ndjson')
    const chain = createChain()
    for await (const entries of withEnd(torn())) appendFileSync(file, entries.map(chain).join(''))

    const connection = await freshDatabase()
    const DATA_DIR = await stage.dir()
    const restored = await runCommand(['restore', file], { DATABASE_URL: urlOf(connection), DATA_DIR, SECRET })
    expect(restored.err).to.equal('')
    expect(restored.out).to.include('Accounts in it that are erased: 1.')
    const on = await startTestApp({ DATA_DIR, SECRET }, connection)
    stage.later(on.close)
    await isReady(on)
    // 503 as long as the process does not know that its tables have the erasure
    const statuses = [kept, erased].map(({ key }) =>
      until(
        () => on.get('/api/account', { key }),
        ({ status }) => status !== 503,
      ),
    )
    expect((await Promise.all(statuses)).map(({ status }) => status)).to.deep.equal([200, 401])
    const [event] = await query(connection, `select type from log.events where type = 'AccountErased'`)
    expect(event).to.deep.equal({ type: 'AccountErased' })
  })

  it('refuse a place that another service has used, and change nothing there', async () => {
    const app = await startTestApp()
    const { key } = await app.register()
    const settings = { ...app.config, DATABASE_URL: urlOf(app.connection), DATA_DIR: app.dir }
    const SECRET = (await readFile(join(backups, 'secret'), 'utf8')).trim()
    const options = { DATABASE_URL: settings.DATABASE_URL, DATA_DIR: settings.DATA_DIR, SECRET }
    const file = join(backups, 'linkledger.ndjson.gz')
    const busy = await runCommand(['restore', file], options)
    expect(busy.err).to.match(/^linkledger: DATABASE_URL is in use by 1 linkledger process: stop it first$/m)
    await app.close()
    const used = await runCommand(['restore', file], options)
    expect(used.err).to.equal('linkledger: the target holds the keys of another Linkledger: use an empty database\n')
    const same = await startTestApp({}, app.connection)
    stage.later(same.close)
    expect((await same.get('/api/account', { key })).status).to.equal(200)
  })
})
