import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { startReplay } from '../../src/app/replay/replay.ts'
import { asStored } from '../../src/events/codec.ts'
import { createSignal } from '../../src/lib/async/signal.ts'
import { openPool } from '../../src/postgres/database.ts'
import { copyLog } from '../../src/store/copy.ts'
import { eventStoreDb } from '../../src/store/eventstoredb.ts'
import type { Opening } from '../../src/store/open.ts'
import { postgresStore } from '../../src/store/postgres.ts'
import { startTestApp, type TestApp, urlOf } from '../support/app.ts'
import { client } from '../support/client.ts'
import { openEventStore } from '../support/engine.ts'
import { startDouble } from '../support/eventstoredb.ts'
import { memoryLog } from '../support/eventstoredb/log.ts'
import { openStage, query } from '../support/faults.ts'
import { sharedImages } from '../support/images.ts'
import { runCommand } from '../support/process.ts'
import { receiptOf } from './eventstore.ts'

describe('proofs of a log on EventStoreDB', function () {
  this.timeout(300_000)
  const stage = openStage()
  afterEach(stage.clear)

  const commandOn = (app: TestApp, on: Readonly<Record<string, string>> = {}) => {
    const settings = {
      DATABASE_URL: urlOf(app.connection),
      ...on,
      DATA_DIR: app.dir,
      SECRET: 'a secret for tests only',
    }
    return (...args: string[]) => runCommand(args, settings)
  }
  const succeed = async (command: ReturnType<typeof commandOn>, ...args: string[]) => {
    const { code, out, err } = await command(...args)
    expect(code, err).to.equal(0)
    return out
  }
  const file = async (name: string, text: string) => {
    const path = join(await stage.dir(), name)
    await writeFile(path, text)
    return path
  }
  const add = (app: TestApp, key: string, custom: string) =>
    app.post('/api/url/add', { key, body: { url: 'https://example.com/', custom } })

  it('have the same form as on PostgreSQL, and are verified there, with the tables', async () => {
    const engine = await openEventStore()
    stage.later(engine.close)
    const app = await startTestApp({ ...engine.settings, CHECKPOINT_SECONDS: '1' })
    stage.later(app.close)
    const { key } = await app.register()
    await add(app, key, 'proved')
    const { text, ordinal } = await receiptOf(app, key, 'link-1')
    const path = await file('receipt.json', text)
    const command = commandOn(app, engine.settings)
    const vkey = (await succeed(command, 'proof', 'key')).trim()
    expect(await succeed(command, 'proof', 'verify', path, '--key', vkey)).to.include('"LinkCreated"')
    const verified = await succeed(command, 'verify', '--tables')
    expect(verified)
      .to.include('The log holds')
      .and.to.match(/tables +exact through event \d+ \(/)
    await query(app.connection, `update ${app.app.ledger.tables.name('links')} set url = 'https://example.org/'`)
    expect((await command('verify', '--tables')).err).to.include(
      'links: the row of link 1 is not what the log makes it: url',
    )

    // and the service as it was then, from there
    await app.put('/api/url/1/update', { key, body: { url: 'https://example.net/' } })
    const replay = await startReplay(app.app.ledger, {
      until: { event: ordinal },
      port: 0,
      overrides: { images: { ...sharedImages(), close: async () => {} } },
    })
    const { get, visit } = client(replay.address, () => {})
    expect((await get('/api/url/1', { key })).json['details']).to.include({ longurl: 'https://example.com/' })
    expect((await visit('/proved')).headers.get('Location')).to.equal('https://example.com/')
    await replay.close()
    expect(await query(app.connection, `select from pg_namespace where nspname ~ '^replay_'`)).to.deep.equal([])
  })

  it('stay valid when the log is copied from PostgreSQL', async () => {
    const before = await startTestApp({ CHECKPOINT_SECONDS: '1' })
    const { key } = await before.register()
    await add(before, key, 'moved')
    const first = await receiptOf(before, key, 'link-1')
    const checkpoint = await file('checkpoint.txt', (await before.get('/log/checkpoint')).text)
    const vkey = (await succeed(commandOn(before), 'proof', 'key')).trim()
    await before.close()

    const pool = openPool(before.connection, { name: 'copy', max: 2, timeout: 30_000, onError: () => {} })
    stage.later(() => pool.end())
    const source = await postgresStore(pool, asStored, createSignal(), {})
    stage.later(source.close)
    const double = await startDouble()
    stage.later(double.close)
    for (let n = 0; n < 7; n++) double.log.system('$statsCollected')
    const opening = (await source.last('log')) as Opening
    const target = await eventStoreDb({ url: double.url, codec: asStored, opening })
    stage.later(target.close)
    await copyLog(source, target)

    const moved = await startTestApp({ EVENTSTORE_URL: double.url, CHECKPOINT_SECONDS: '1' }, before.connection)
    stage.later(moved.close)
    await add(moved, key, 'later')
    await receiptOf(moved, key, 'link-2')
    const again = await receiptOf(moved, key, 'link-1')
    expect([again.ordinal, again.json['event']]).to.deep.equal([first.ordinal, first.json['event']])
    const command = commandOn(moved, { EVENTSTORE_URL: double.url })
    for (const { text } of [first, again])
      await succeed(command, 'proof', 'verify', await file('receipt.json', text), '--key', vkey)
    expect(await succeed(command, 'verify', '--checkpoint', checkpoint)).to.include('The log holds')
    const extension = await file('extension.json', await succeed(command, 'proof', 'consistency', checkpoint))
    await succeed(command, 'proof', 'extends', extension, '--checkpoint', checkpoint, '--key', vkey)
  })

  it('begin again by a command when an older EventStoreDB is restored, whose lost events are said', async () => {
    const double = await startDouble()
    stage.later(double.close)
    const before = await startTestApp({ EVENTSTORE_URL: double.url, CHECKPOINT_SECONDS: '1' })
    const { key } = await before.register()
    await add(before, key, 'kept')
    await receiptOf(before, key, 'link-1')
    const events = double.log.all.length
    await add(before, key, 'lost')
    await receiptOf(before, key, 'link-2')
    const checkpoint = await file('checkpoint.txt', (await before.get('/log/checkpoint')).text)
    await before.close()

    const log = memoryLog()
    for (const { stream, ...event } of double.log.all.slice(1, events)) log.append(stream, 'any', [event])
    const older = await startDouble({ log })
    stage.later(older.close)
    const app = await startTestApp({ EVENTSTORE_URL: older.url, CHECKPOINT_SECONDS: '1' }, before.connection)
    stage.later(app.close)
    const command = commandOn(app, { EVENTSTORE_URL: older.url })
    const said = await command('verify')
    expect(said.code, said.out).to.equal(1)
    expect(said.err)
      .to.match(/event \d+ is missing: the log ends before it/)
      .and.to.include('linkledger proof restart')
    expect(await succeed(command, 'proof', 'restart', '--yes')).to.match(/signed checkpoints? .*given up/)

    expect((await receiptOf(app, key, 'link-1')).status).to.equal(200)
    expect(await succeed(command, 'verify')).to.include('The log holds')
    // a witness still knows
    expect((await command('verify', '--checkpoint', checkpoint)).err).to.include('is missing')
  })
})
