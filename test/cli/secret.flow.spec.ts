import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { replaceSecret, storeNextSecret, withSecret } from '../../src/app/log/secret.ts'
import { run } from '../../src/cli/run.ts'
import { type Connection, type Database, openDatabase } from '../../src/postgres/database.ts'
import { openKeys } from '../../src/security/keyring.ts'
import { rewrapKeys } from '../../src/security/wrapping.ts'
import { startedDatabase, startTestApp, type TestApp, urlOf } from '../support/app.ts'
import { freshDatabase } from '../support/database.ts'
import { query } from '../support/faults.ts'

const secrets = ['a secret for tests only', 'another secret for tests'] as const

describe('linkledger secret rotate', () => {
  let dir: string
  let on: Connection
  let app: TestApp | undefined
  let db: Database
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'linkledger-rotate-'))
    use(await startedDatabase())
  })
  afterEach(async () => {
    await app?.close()
    app = undefined
    await db.destroy()
    await rm(dir, { recursive: true, force: true })
  })
  const use = (database: Connection) => {
    on = database
    db = openDatabase(on, { name: 'spec', max: 4, timeout: 5000, onError: () => {} })
  }
  const start = async (settings: Record<string, string> = {}) =>
    (app = await startTestApp({ DATA_DIR: dir, ...settings }, on))
  const stop = async () => {
    await app?.close()
    app = undefined
  }
  const command = async (args: string, settings: Record<string, string> = {}) => {
    const lines: string[] = []
    const print = (line: string) => void lines.push(line)
    const variables = { DATABASE_URL: urlOf(on), DATA_DIR: dir, OPERATOR: 'ann', ...settings }
    const code = await run(args.split(' '), { variables, print, printError: print })
    return { code, out: lines.join('\n') }
  }
  const isRefused = (secret: string) =>
    openKeys(db, secret).then(
      () => false,
      (error: unknown) => (error as Error).name === 'WrongSecret',
    )

  it('changes the secret under a running service, which goes on, and leaves a trace', async () => {
    const service = await start({ SECRET: secrets[0] })
    const { key, id } = await service.register()
    const proofKey = await command('proof key', { SECRET: secrets[0] })
    const held = await query(on, 'select name from state.keys')
    const rotated = await command('secret rotate', { SECRET: secrets[0], NEW_SECRET: secrets[1] })
    expect(rotated.code, rotated.out).to.equal(0)
    for (const word of ['SECRET', 'NEW_SECRET', 'secret finish', '1 running process '])
      expect(rotated.out).to.include(word)
    service.app.ledger.keys.forget([id])
    expect((await service.get('/api/account', { key })).status).to.equal(200)
    const link = { url: 'https://example.com/', custom: 'locked', password: 'sesame open' }
    expect((await service.post('/api/url/add', { key, body: link })).json['error']).to.equal(0)
    const { key: later } = await service.register()
    expect(await isRefused(secrets[0]), 'the old secret at a start').to.equal(true)
    await stop()

    const again = await start({ SECRET: secrets[1] })
    expect(await command('proof key', { SECRET: secrets[1] }), 'the key of the proofs').to.deep.equal(proofKey)
    for (const one of [key, later]) expect((await again.get('/api/account', { key: one })).status).to.equal(200)
    expect((await again.visit('/locked')).text).to.include('type="password"')
    const finished = await command('secret finish', { SECRET: secrets[1] })
    expect(finished, finished.out).to.include({ code: 0 })
    expect(await query(on, `select name from state.keys where name = 'handover'`)).to.deep.equal([])
    const [trace] = await query<{ data: object; actor: object }>(
      on,
      `select data, metadata->'actor' as actor from log.events where type = 'SecretRotated'`,
    )
    expect(trace).to.deep.equal({ data: { keys: held.length }, actor: { kind: 'operator', name: 'ann' } })
  })

  it('replaces DATA_DIR/secret where SECRET is not set', async () => {
    // its keys are wrapped with the first secret of the folder
    await db.destroy()
    use(await freshDatabase())
    const service = await start({ SECRET: '' })
    const { key } = await service.register()
    await stop()
    const file = join(dir, 'secret')
    const before = (await readFile(file, 'utf8')).trim()
    const rotated = await command('secret rotate')
    expect(rotated.code, rotated.out).to.equal(0)
    expect((await readFile(file, 'utf8')).trim()).not.to.equal(before)
    expect(await isRefused(before)).to.equal(true)
    expect(await query(on, `select name from state.keys where name = 'handover'`), 'nothing runs').to.deep.equal([])
    expect((await (await start({ SECRET: '' })).get('/api/account', { key })).status).to.equal(200)
  })

  it('is safe when it is killed before or after its commit', async () => {
    const file = join(dir, 'secret')
    await writeFile(file, secrets[0])
    const { service } = await openKeysOf(secrets[0])
    const killed = rewrapKeys(db, {
      from: secrets[0],
      to: secrets[1],
      beforeCommit: () => {
        storeNextSecret(dir, secrets[1])
        throw new Error('killed')
      },
    })
    expect(await killed.catch((error: unknown) => (error as Error).message)).to.equal('killed')
    expect((await command('account list')).code).to.equal(0)
    expect(await readFile(file, 'utf8')).to.equal(secrets[0])

    const beforeCommit = () => storeNextSecret(dir, secrets[1])
    await rewrapKeys(db, { from: secrets[0], to: secrets[1], beforeCommit })
    expect((await command('account list')).code).to.equal(0)
    expect((await readFile(file, 'utf8')).trim()).to.equal(secrets[1])
    expect((await openKeys(db, secrets[1])).service.equals(service), 'the service key stays').to.equal(true)
    const second = await command('secret rotate')
    expect(second.out).to.include('secret finish')
    expect((await command('secret finish')).code).to.equal(0)
    expect((await command('secret rotate')).code).to.equal(0)
  })
  it('is followed by reads of a running process that happen at the same time', async () => {
    const [from, to] = secrets
    const keys = await openKeysOf(from)
    await rewrapKeys(db, { from, to, beforeCommit: () => {} })
    keys.forget([1, 2])
    const opened = await Promise.all([1, 2, 1, 2].map((account) => keys.forOpening([account])))
    expect(opened.map(({ size }) => size)).to.deep.equal([1, 1, 1, 1])
  })

  it('may be completed by a process that starts right after its commit', async () => {
    const file = join(dir, 'secret')
    await writeFile(file, secrets[0])
    await openKeysOf(secrets[0])
    let rotated = 0
    const config = { DATA_DIR: dir, SECRET: undefined }
    const opened = await withSecret(config, 'command', async (secret) => {
      if (rotated++ === 0) {
        // this process has read the old secret; another one rotates it now
        await rewrapKeys(db, { from: secret, to: secrets[1], beforeCommit: () => storeNextSecret(dir, secrets[1]) })
        replaceSecret(dir, secrets[1])
      }
      return openKeys(db, secret)
    })
    expect((await opened.forOpening([1])).size).to.equal(1)
    replaceSecret(dir, secrets[1])
    expect(() => replaceSecret(dir, 'one that was never stored')).to.throw('ENOENT')
  })

  /** Opens a database as the service does, with keys of two accounts. */
  const openKeysOf = async (secret: string) => {
    await command('account list', { SECRET: secret })
    const keys = await openKeys(db, secret)
    for (const account of [1, 2]) await keys.forSealing(account)
    return keys
  }

  it('refuses a missing new secret, and one that is the same, and changes nothing', async () => {
    const [SECRET] = secrets
    expect((await command('account list', { SECRET })).code).to.equal(0)
    const missing = await command('secret rotate', { SECRET })
    expect(missing.code).to.equal(2)
    expect(missing.out).to.include('NEW_SECRET')
    expect((await command('secret rotate', { SECRET, NEW_SECRET: SECRET })).code).to.equal(2)
    expect(await isRefused(SECRET)).to.equal(false)
  })

  it('is one of the commands whose operator the log names', async () => {
    const service = await start({ SECRET: secrets[0] })
    const { id } = await service.register()
    for (const args of [`account disable id:${id} --yes`, 'rebuild'])
      expect((await command(args, { SECRET: secrets[0] })).code, args).to.equal(0)
    await command(`account enable id:${id} --yes`, { SECRET: secrets[0], OPERATOR: '' })
    const actors = await query<{ type: string; name: string }>(
      on,
      `select type, metadata->'actor'->>'name' as name from log.events where metadata->'actor'->>'kind' = 'operator' order by position`,
    )
    expect(actors.map(({ type }) => type)).to.deep.equal(['AccountDisabled', 'TablesRebuilt', 'AccountEnabled'])
    expect(actors.map(({ name }) => name).slice(0, 2)).to.deep.equal(['ann', 'ann'])
    expect(actors[2]?.name).to.match(/^.+@.+$/)
  })
})
