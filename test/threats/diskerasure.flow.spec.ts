import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { expect } from 'chai'
import { createDiskErasure } from '../../src/app/log/diskerasure.ts'
import { openSpool } from '../../src/clicks/spool/spool.ts'
import { account as accounts } from '../../src/commands/accounts/account.ts'
import { systemMetadata } from '../../src/events/event.ts'
import { runningEmbedded } from '../../src/postgres/embedded.ts'
import { erasedAccounts } from '../../src/queries/accounts/account.ts'
import { prune } from '../../src/projections/engine/tables.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { browser, until } from '../support/client.ts'
import { query } from '../support/faults.ts'
import { visit } from '../support/spool.ts'
import { runCommand, type Service, startProcess } from '../support/process.ts'

const canary = 'canary202'
/** so many that PostgreSQL has samples of their values */
const rows = Array.from({ length: 60 }, (_, n) => ({
  url: `https://example.com/shop/${n}`,
  title: `${canary} ${n}`,
  notes: `${canary} note ${n}`,
}))

describe('an erased account, on the embedded database', function () {
  this.timeout(240_000)
  let dir: string
  let service: Service
  let account: { readonly id: number; readonly key: string }
  /** what opens the sealed texts of the account, as it is stored, in two parts: a page of the WAL may end within it */
  let wrapped: readonly string[]

  /** Returns the files below the folder that have one of the texts. */
  const filesWith = async (texts: readonly string[]) => {
    const entries = await readdir(dir, { recursive: true, withFileTypes: true })
    const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
    const found = await Promise.all(
      files.map(async (file) => {
        // PostgreSQL may delete a file meanwhile
        const content = await readFile(file).catch(() => Buffer.alloc(0))
        const text = content.toString('latin1').toLowerCase()
        return texts.some((part) => text.includes(part.toLowerCase())) ? [relative(dir, file)] : []
      }),
    )
    return found.flat()
  }
  const inDatabase = async <R extends object>(sql: string) => query<R>((await runningEmbedded(dir))!, sql)
  /** Returns where PostgreSQL knows values of the account. */
  const samples = () =>
    inDatabase<{ tablename: string; attname: string }>(
      `select tablename, attname from pg_stats where concat(most_common_vals, histogram_bounds, most_common_elems) ilike '%${canary}%'`,
    )
  const onDisk = () =>
    inDatabase<{ wal: string }>(`select data->>'wal' as wal from log.events where type = 'AccountErasedOnDisk'`)

  before(async () => {
    dir = await mkdtemp(join(tmpdir(), 'linkledger-disk-'))
    service = await startProcess({ DATA_DIR: dir })
    await until(
      () => service.get('/readyz'),
      ({ status }) => status === 200,
    )
    account = await service.register(canary)
    const { id, key } = account
    const url = 'https://example.com/shop'
    for (const [path, body] of [
      ['/api/url/add', { url, custom: 'link202', title: canary, notes: canary, tags: [canary], password: canary }],
      ['/api/bio/add', { name: canary, alias: 'page202', title: canary, links: [{ title: canary, url }] }],
      ['/api/qr/add', { type: 'text', data: canary, name: canary }],
      ['/api/channel/add', { name: canary }],
      ['/api/urls/bulk?op=create', { rows }],
    ] as const)
      expect((await service.post(path, { key, body, headers: { 'X-Request-Id': canary } })).status, path).to.equal(200)
    await service.visit('/page202', { 'User-Agent': `${browser} ${canary}`, Referer: `https://example.com/${canary}` })
    const [stored] = await inDatabase<{ wrapped: string }>(
      `select wrapped from state.keys where name = 'account-${id}'`,
    )
    const half = stored!.wrapped.length / 2
    wrapped = [stored!.wrapped.slice(0, half), stored!.wrapped.slice(half)]
    const { id: named } = (await service.post('/api/domain/add', { key, body: { domain: 'https://go.example.com' } }))
      .json
    await inDatabase(
      `insert into state.domain_checks (domain, checked_at, failures, found) values (${named}, now(), 0, '["${canary}"]')
       on conflict (domain) do update set found = excluded.found`,
    )
    // as the server does by itself after a minute
    await inDatabase('analyze')
    expect((await samples()).length).to.be.greaterThan(0)
  })
  after(async () => {
    await service.end()
    await rm(dir, { recursive: true, force: true })
  })

  it('is found in files before it is erased: the search works', async () => {
    expect(await filesWith([canary])).not.to.deep.equal([])
    expect(await filesWith(wrapped)).not.to.deep.equal([])
  })

  it('is in no file of DATA_DIR soon after the erasure, and neither is its key', async () => {
    const { code, err } = await runCommand(['account', 'erase', `id:${account.id}`, '--yes'], { DATA_DIR: dir })
    expect(code, err).to.equal(0)
    expect(await until(onDisk, ({ length }) => length > 0, 120_000)).to.deep.equal([{ wal: 'true' }])
    expect(await samples()).to.deep.equal([])
    expect(await filesWith([canary])).to.deep.equal([])
    expect(await filesWith(wrapped)).to.deep.equal([])
    await service.end()
    expect(await filesWith([canary])).to.deep.equal([])
    expect(await filesWith(wrapped)).to.deep.equal([])
  })
})

describe('clearing the files of the database of erased accounts', () => {
  let app: TestApp
  before(async () => (app = await startTestApp()))
  after(() => app.close())

  const erase = async () => {
    const { id } = await app.register()
    await app.app.ledger.handler.handle(accounts, { type: 'EraseAccount', id }, systemMetadata(id))
    await until(async () => (await erasedAccounts(app.app.ledger.reader)).includes(id), Boolean)
    return id
  }
  const isCleared = async (id: number) => (await app.app.ledger.handler.load(accounts, id)).state.erasedOnDisk
  const generations = async () =>
    (
      await query<{ n: string }>(
        app.connection,
        `select max(generation) as n from read.checkpoints where projection = 'links'`,
      )
    )[0]!.n
  const run = (options: object = {}) =>
    createDiskErasure({ ledger: app.app.ledger, db: app.app.ledger.db, pause: 0, ...options })(
      new AbortController().signal,
    )

  it('is done by the service, without the write-ahead log of a server that is not its own', async () => {
    const id = await erase()
    expect(await until(() => isCleared(id), Boolean)).to.equal(true)
    const events = await query(
      app.connection,
      `select data->>'wal' as wal from log.events where type = 'AccountErasedOnDisk'`,
    )
    expect(events).to.deep.equal([{ wal: 'false' }])
  })

  it('locks tables once in an hour at most', async () => {
    const id = await erase()
    await run({ pause: undefined })
    expect(await isCleared(id)).to.equal(false)
    await until(async () => {
      await run()
      return isCleared(id)
    }, Boolean)
    expect(await isCleared(id)).to.equal(true)
  })

  it('waits for tables of another release, which may still have the rows', async () => {
    const id = await erase()
    await query(
      app.connection,
      `insert into read.checkpoints select 'links', 0, 1, log_id, 0, null, true from read.checkpoints limit 1`,
    )
    await run()
    expect(await isCleared(id)).to.equal(false)
    await query(app.connection, 'delete from read.checkpoints where version = 0')
    await until(async () => {
      await run()
      return isCleared(id)
    }, Boolean)
    expect(await isCleared(id)).to.equal(true)
  })

  it('waits for visits of the account in the spool, also in one that is kept aside', async () => {
    const id = await erase()
    const spools = join(app.app.ledger.config.DATA_DIR, 'spool')
    const aside = await openSpool({
      dir: join(spools, 'kafka', 'elsewhere-1'),
      route: { log: 'elsewhere', partitions: 1 },
      logId: 'another log',
      log: () => {},
    })
    await aside.add(visit(1, { account: id }))
    await aside.close()
    await run()
    expect(await isCleared(id)).to.equal(false)
    await aside.remove()
    await until(async () => {
      await run()
      return isCleared(id)
    }, Boolean)
    expect(await isCleared(id)).to.equal(true)
  })

  it('refills large tables while they are read, instead of locking them', async () => {
    const id = await erase()
    const before = Number(await generations())
    const clear = createDiskErasure({ ledger: app.app.ledger, db: app.app.ledger.db, pause: 0, large: -1 })
    const { db, projections } = app.app.ledger
    const done = await until(async () => {
      await clear(new AbortController().signal)
      await prune(db, projections)
      return isCleared(id)
    }, Boolean)
    expect(done).to.equal(true)
    expect(Number(await generations())).to.equal(before + 1)
  })
})
