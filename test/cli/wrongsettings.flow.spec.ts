import { once } from 'node:events'
import { chmod, chown, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { run } from '../../src/cli/run.ts'
import type { Connection } from '../../src/postgres/database.ts'
import { urlOf } from '../support/app.ts'
import { freshDatabase } from '../support/database.ts'
import { needsLinux, needsRoot } from '../support/skip.ts'

const nobodyUid = 65534

describe('The command line with a wrong setting', () => {
  let dir: string
  let busy: Server
  let database: Connection
  before(async () => {
    busy = createServer().listen(0, '127.0.0.1')
    await once(busy, 'listening')
    database = await freshDatabase()
  })
  after(() => new Promise((closed) => busy.close(closed)))
  beforeEach(async () => (dir = await mkdtemp(join(tmpdir(), 'linkledger-wrong-'))))
  afterEach(() => rm(dir, { recursive: true, force: true }))

  /** Runs a command that fails; returns the line that it prints. */
  const refusal = async (settings: Readonly<Record<string, string>>, ...args: string[]) => {
    const printed: string[] = []
    const print = (line: string) => void printed.push(line)
    const variables = { DATA_DIR: join(dir, 'data'), PORT: '0', ...settings }
    expect(await run(args.length > 0 ? args : ['start'], { variables, print, printError: print })).to.equal(1)
    expect(printed).to.have.length(1)
    expect(printed[0]).to.match(/^linkledger: .+$/)
    return printed[0]?.slice('linkledger: '.length)
  }

  it('names DATA_DIR when no folder can be created there, or it is a file', async function () {
    needsLinux(this)
    expect(await refusal({ DATA_DIR: '/proc/x/y' })).to.equal(
      'DATA_DIR: /proc/x/y cannot be created (ENOENT): set it to a folder that this user can write',
    )
    const file = join(dir, 'file')
    await writeFile(file, '')
    expect(await refusal({ DATA_DIR: file })).to.equal(`DATA_DIR: ${file} is a file: set it to a folder`)
    expect(await refusal({ DATA_DIR: join(file, 'below') })).to.include('cannot be created (ENOTDIR)')
  })

  it('names the owner of a copied data folder and how to change it', async function () {
    needsRoot(this)
    const data = join(dir, 'data')
    const cluster = join(data, 'postgres/data')
    await mkdir(cluster, { recursive: true })
    await writeFile(join(cluster, 'PG_VERSION'), '18')
    expect(await refusal({})).to.match(
      /^DATA_DIR: .+\/postgres\/data belongs to root, and PostgreSQL does not run as root: run chown -R (postgres|nobody) /,
    )
    await writeFile(join(data, 'secret'), 'a secret for tests only', { mode: 0o600 })
    await chmod(dir, 0o755)
    const asNobody = async () => {
      process.seteuid?.(nobodyUid)
      try {
        return await refusal({})
      } finally {
        process.seteuid?.(0)
      }
    }
    const cure = `start it as that user, or give the folder to this one: chown -R ${nobodyUid} ${data}`
    await chmod(data, 0o700)
    expect(await asNobody()).to.equal(
      `DATA_DIR: ${data} belongs to user 0, and this process runs as user 65534: ${cure}`,
    )
    await chown(data, nobodyUid, nobodyUid)
    await chmod(join(data, 'postgres'), 0o711)
    expect(await asNobody()).to.equal(
      `DATA_DIR: ${cluster} belongs to user 0, and this process runs as user 65534: ${cure}`,
    )
  })

  it('names HOST and PORT before it creates any data', async () => {
    const { port } = busy.address() as AddressInfo
    expect(await refusal({ PORT: String(port) })).to.equal(
      `PORT: ${port} is in use on 127.0.0.1: stop the program that uses it, or set another port`,
    )
    const cure = 'set it to 127.0.0.1 for this machine only, or 0.0.0.0 for all its addresses'
    expect(await refusal({ HOST: '203.0.113.7' })).to.equal(
      `HOST: 203.0.113.7 is not an address of this machine: ${cure}`,
    )
    expect(await refusal({ HOST: 'no-such-host.invalid' })).to.equal(
      `HOST: no-such-host.invalid is not an IP address, and no such name can be found: ${cure}`,
    )
    expect(await readdir(join(dir, 'data'))).to.deep.equal([])
  })

  it('names DATABASE_URL when its server cannot be reached or refuses it', async () => {
    // nothing listens on port 1; another test could take a port that is free now
    const place = '127.0.0.1:1'
    expect(await refusal({ DATABASE_URL: `postgres://u:canary@${place}/db` })).to.equal(
      `DATABASE_URL: no PostgreSQL can be reached at ${place} (ECONNREFUSED): start it, or correct the address`,
    )
    expect(await refusal({ DATABASE_URL: 'postgres://u:canary@host:port/db' })).to.include('must be an address like')
    expect(await refusal({ DATABASE_URL: 'postgres://u:canary@/db?host=/nowhere' })).to.include(
      'at /nowhere/.s.PGSQL.5432 (ENOENT)',
    )
    expect(await refusal({ DATABASE_URL: urlOf({ ...database, database: 'guarded', password: 'canary' }) })).to.equal(
      'DATABASE_URL: password authentication failed for user "linkledger": correct the password of linkledger',
    )
    expect(await refusal({ DATABASE_URL: urlOf({ ...database, database: 'nothing' }) })).to.equal(
      'DATABASE_URL: database "nothing" does not exist: create it with createdb nothing, or correct the name',
    )
  })

  it('refuses a command where there is no data, and creates none', async () => {
    const data = join(dir, 'data')
    const cure = 'run the command in the folder in which the service was started, or set its DATA_DIR'
    for (const command of [
      'account list',
      'account add ann@example.com',
      'rebuild',
      'log copy --from embedded --to postgres://h/d',
    ])
      expect(await refusal({}, ...command.split(' ')), command).to.equal(
        `there is no data in ${data}: ${cure} or DATABASE_URL`,
      )
    expect(await refusal({ DATABASE_URL: urlOf(database) }, 'account', 'list')).to.equal(
      `there is no ${data}/secret: ${cure} or SECRET`,
    )
    expect(await readdir(dir)).to.deep.equal([])
  })
})
