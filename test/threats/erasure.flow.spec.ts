import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { run } from '../../src/cli/run.ts'
import { type Connection, openDatabase } from '../../src/postgres/database.ts'
import { registerIn } from '../../src/security/erasures.ts'
import { openKeys } from '../../src/security/keyring.ts'
import { startedDatabase, startTestApp, type TestApp, urlOf } from '../support/app.ts'
import { until } from '../support/client.ts'
import { freshDatabase } from '../support/database.ts'
import { query } from '../support/faults.ts'

const canary = 'canary52'
const SECRET = 'a secret for tests only'

describe('erasing an account', () => {
  let dir: string
  let connection: Connection
  /** a copy of the database from before the erasure */
  let backup: Connection
  let id: number
  let key: string
  let register: string
  const folder = (name: string) => join(dir, name)
  const started: TestApp[] = []
  const start = async (on: Connection, data: string) => {
    const app = await startTestApp({ DATA_DIR: data }, on)
    started.push(app)
    return app
  }
  const stop = async () => {
    for (const app of started.splice(0)) await app.close()
  }
  const command = async (on: Connection, data: string, ...args: string[]) => {
    const lines: string[] = []
    const cli = {
      variables: { DATABASE_URL: urlOf(on), DATA_DIR: data, SECRET },
      print: (line: string) => void lines.push(line),
    }
    expect(await run(args, { ...cli, printError: cli.print }), lines.join('\n')).to.equal(0)
    return lines
  }
  /** Returns the tables whose rows have the text. */
  const places = async (on: Connection) => {
    const tables = await query<{ name: string }>(
      on,
      `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname in ('log', 'read', 'state')`,
    )
    const having = tables.map(
      ({ name }) => `select '${name}' where exists (select from ${name} t where t::text ilike $1)`,
    )
    const found = await query<{ name: string }>(
      on,
      `select name from (${having.join(' union all ')}) as found (name)`,
      [`%${canary}%`],
    )
    return found.map(({ name }) => name)
  }
  /** Returns the tables that have a row of the account, apart from those that count visits and say where events are. */
  const resourcesLeft = async (on: Connection) => {
    const tables = await query<{ name: string }>(
      on,
      `select format('read.%I', table_name) as name from information_schema.columns
       join pg_tables on (schemaname, tablename) = (table_schema, table_name)
       where table_schema = 'read' and column_name = 'account' and table_name !~ '^(account_|link_stats|clicks)'`,
    )
    const having = tables.map(({ name }) => `select '${name}' where exists (select from ${name} where account = ${id})`)
    return (await query<{ name: string }>(on, `select name from (${having.join(' union all ')}) as found (name)`)).map(
      (found) => found.name,
    )
  }
  const expectErased = async (app: TestApp) => {
    // 503 as long as the process does not know that its tables have the erasure
    const refused = await until(
      () => app.get('/api/account', { key }),
      ({ status }) => status !== 503,
    )
    expect(refused.status).to.equal(401)
    expect((await app.visit('/page52')).status).to.equal(404)
    expect(await places(app.connection)).to.deep.equal([])
    expect(await resourcesLeft(app.connection)).to.deep.equal([])
    expect(await query(app.connection, 'select name from state.keys where name = $1', [`account-${id}`])).to.deep.equal(
      [],
    )
  }

  before(async () => {
    dir = await mkdtemp(join(tmpdir(), 'linkledger-erasure-'))
    connection = await startedDatabase()
    const app = await start(connection, folder('a'))
    ;({ id, key } = await app.register(canary))
    const [url, image] = ['https://example.com/shop', `https://example.com/${canary}.png`]
    const links = [{ title: `${canary} shop`, url: `https://example.com/${canary}` }]
    const page = { name: canary, alias: 'page52', title: canary, description: canary, links }
    const meta = { metatitle: canary, metadescription: canary, metaimage: image }
    const link = { url, custom: 'link52', password: canary, notes: canary, title: canary, description: canary }
    for (const [path, body] of [
      ['/api/bio/add', page],
      ['/api/qr/add', { type: 'text', data: canary, name: canary }],
      ['/api/url/add', { ...link, ...meta, tags: [canary] }],
      ['/api/campaign/add', { name: canary, slug: 'slug52' }],
      ['/api/channel/add', { name: canary, description: canary }],
      ['/api/pixel/add', { type: 'gtmpixel', name: canary, tag: `GTM-${canary.toUpperCase()}` }],
      ['/api/splash/add', { name: canary, title: canary, message: canary, logo: image, banner: image, label: canary }],
      ['/api/overlay/add', { type: 'poll', name: canary, message: canary, question: canary, options: [canary, 'b'] }],
      ['/api/overlay/add', { type: 'coupon', name: canary, coupon: canary, image }],
      ['/api/key/add', { name: canary, scopes: ['read'] }],
      ['/api/webhook/add', { name: canary, url: `https://example.com/${canary}`, events: ['LinkCreated'] }],
    ] as const) {
      const { json } = await app.post(path, { key, body, headers: { 'X-Request-Id': `${canary}.request` } })
      expect(json['error'], `${path}: ${JSON.stringify(json)}`).to.equal(0)
    }
    const shown = await app.visit('/page52')
    expect(shown.text).to.include(`${canary} shop`)
    await stop()
    backup = await freshDatabase(connection)
  })
  after(async () => {
    await stop()
    await rm(dir, { recursive: true, force: true })
  })

  it('finds no text of theirs in the log: they are sealed like other personal data', async () => {
    const found = await places(connection)
    expect(found.filter((name) => name.startsWith('read.links_'))).to.have.length(1)
    expect(found.filter((name) => name.startsWith('log.'))).to.deep.equal([])
  })

  it('leaves nothing in the tables, and an entry in the register', async () => {
    const app = await start(connection, folder('a'))
    await command(connection, folder('a'), 'account', 'erase', `id:${id}`, '--yes')
    register = await readFile(registerIn(folder('a')), 'utf8')
    expect(register.match(new RegExp(`"account":${id},`, 'g'))).to.have.length(1)
    await expectErased(app)
    await stop()
  })

  it('holds after the database is restored from before it, because the register is applied at start', async () => {
    const restored = await freshDatabase(backup)
    const app = await start(restored, folder('a'))
    await expectErased(app)
    await stop()
    await query(restored, 'drop schema read cascade')
    await expectErased(await start(restored, folder('a')))
    await stop()
  })

  it('holds without a durable DATA_DIR when the printed register is put there', async () => {
    const printed = await command(connection, folder('b'), 'account', 'erasures')
    const lines = (text: string) =>
      text
        .split('\n')
        .filter(Boolean)
        .map((line) => ({ ...(JSON.parse(line) as object), at: '' }))
    expect(lines(printed.join('\n'))).to.deep.equal(lines(register))
    const restored = await freshDatabase(backup)
    await mkdir(folder('c'))
    await writeFile(registerIn(folder('c')), printed.join('\n'))
    await expectErased(await start(restored, folder('c')))
    await stop()
  })

  it('is completed at the next start when it was interrupted after its entry in the register', async () => {
    const restored = await freshDatabase(backup)
    await command(restored, folder('d'), 'account', 'list')
    await mkdir(folder('d'), { recursive: true })
    await writeFile(registerIn(folder('d')), `${register}{"log":"half a li`)
    await command(restored, folder('d'), 'account', 'list')
    expect(
      (
        await query<{ n: number }>(restored, `select count(*)::int as n from log.events where type = 'AccountErased'`)
      )[0]!.n,
    ).to.equal(1)
    const other = await command(restored, folder('d'), 'account', 'add', 'other@example.com')
    expect(other.join()).to.include('API key')
  })

  it('never erases an account of another log, or another one with the same number', async () => {
    const on = await freshDatabase()
    const app = await start(on, folder('e'))
    const { logId } = app.app.ledger.store
    const other = await app.register()
    await stop()
    const [line] = register.split('\n').filter(Boolean)
    const entry = { ...(JSON.parse(line!) as object), account: other.id }
    await writeFile(registerIn(folder('e')), `${JSON.stringify(entry)}\n${JSON.stringify({ ...entry, log: logId })}\n`)
    expect((await (await start(on, folder('e'))).get('/api/account', { key: other.key })).status).to.equal(200)
    await stop()
  })

  it('destroys the key for good: no process makes another one', async () => {
    const db = openDatabase(connection, { name: 'spec', max: 4, timeout: 5000, onError: () => {} })
    try {
      const [one, two] = [await openKeys(db, SECRET), await openKeys(db, SECRET)]
      expect(await one.forSealing(id)).to.equal(undefined)
      for (let account = 1001; account <= 1010; account++)
        await Promise.all([one.forSealing(account), two.destroy([account]), two.forSealing(account)])
      const left = await query(connection, `select name from state.keys where name like 'account-10__'`)
      expect(left).to.deep.equal([])
      two.forget([1001])
      expect(await two.forSealing(1001)).to.equal(undefined)
    } finally {
      await db.destroy()
    }
  })
})
