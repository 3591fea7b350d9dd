import { expect } from 'chai'
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, readdir, readFile, readlink, stat } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { runningEmbedded, startEmbedded } from '../../src/postgres/embedded.ts'
import { needsLinux, needsRoot } from '../support/skip.ts'
import { child } from './child.ts'
import { eventually, parents, postmasterOf, query, refusalOf, useEmbedded } from './embedded.ts'

const stranger = 54321

describe('embedded PostgreSQL', function () {
  this.timeout(300_000)
  const { paths, start } = useEmbedded()

  it('creates a database with UTF-8, checksums and Unicode-aware lower() in an empty folder', async () => {
    const { connection } = await start()
    const settings = 'server_encoding data_checksums fsync synchronous_commit max_connections shared_buffers'.split(' ')
    const shown = settings.map((setting) => `current_setting('${setting}')`)
    expect(await query(connection, `select ${shown.join()}`)).to.deep.equal([['UTF8', 'on', 'on', 'on', '150', '64MB']])
    expect(await query(connection, `select lower('ÄÉΩ'), 'É' ilike 'é', 'a' < 'B'`)).to.deep.equal([
      ['äéω', true, false],
    ])
  })

  it('keeps pages in as much memory as it is given', async () => {
    const { connection } = await start(paths.dir, { buffers: 96 })
    expect(await query(connection, 'show shared_buffers')).to.deep.equal([['96MB']])
  })

  it('creates the same database in every locale of the machine', async () => {
    const other = child('embedded', join(paths.scratch, 'LANG=C'))
    const { connection } = await other.next()
    expect(await query(connection!, `select current_setting('server_encoding'), lower('É')`)).to.deep.equal([
      ['UTF8', 'é'],
    ])
    await other.stop()
  })

  it('keeps committed data when it is stopped and started, and does not wait for idle connections', async () => {
    const first = await start()
    await query(first.connection, 'create table kept as select 1 as n')
    const idle = new pg.Client(first.connection)
    idle.on('error', () => {})
    await idle.connect() // must not delay the stop
    const began = performance.now()
    await first.stop()
    expect(performance.now() - began).to.be.below(20_000)

    const second = await start()
    expect(second.connection).to.deep.equal(first.connection)
    expect(await query(second.connection, 'select n from kept')).to.deep.equal([[1]])
  })

  it('is found by other processes only while it runs', async () => {
    expect(await runningEmbedded(join(paths.scratch, 'nothing here'))).to.equal(undefined)
    expect(await runningEmbedded(paths.dir)).to.equal(undefined)
    const { connection, stop } = await start()
    expect(await runningEmbedded(paths.dir)).to.deep.equal(connection)
    await stop()
    expect(await runningEmbedded(paths.dir)).to.equal(undefined)
  })

  it('refuses a second owner and is not harmed by the attempt', async () => {
    const { connection } = await start()
    expect(await refusalOf(startEmbedded({ dir: paths.dir, log: () => {} }))).to.include(
      `the database in ${paths.dir} is in use by another linkledger (pid ${process.pid})`,
    )
    expect((await child('embedded', paths.dir).next()).refused).to.include(`pid ${process.pid}`)
    expect(await query(connection, 'select 1')).to.deep.equal([[1]])
  })

  it('ends with a process that does not stop it, and does not keep that process alive', async () => {
    const forgetful = child('leave', paths.dir)
    expect(await forgetful.next()).to.include.keys('started')
    await forgetful.ended
    await eventually(async () => expect(await runningEmbedded(paths.dir)).to.equal(undefined))
    await eventually(async () =>
      expect(await readdir(join(paths.dir, 'postgres/data'))).not.to.include('postmaster.pid'),
    )
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
    const pid = await postmasterOf(paths.dir)
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

  it('accepts connections only with the password, as one role that is not a superuser', async () => {
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

  it('hides its socket and its password from other users of the machine', async () => {
    await start()
    const mode = async (file: string) => (await stat(join(paths.dir, 'postgres', file))).mode & 0o777
    expect(await mode('socket')).to.equal(0o700)
    expect(await mode('data')).to.equal(0o700)
    expect(await mode('password')).to.equal(0o600)
    expect(await mode('host')).to.equal(0o600)
  })

  it('cannot be reached by another user who knows the password', async function () {
    needsRoot(this)
    const { connection } = await start()
    await chmod(paths.dir, 0o777)
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
    await chmod(paths.dir, 0o700)
  })
  it('works below a path that is too long for the name of a socket', async () => {
    const long = join(paths.scratch, 'x'.repeat(120), 'y'.repeat(120))
    const { connection, stop } = await start(long)
    expect(await query(connection, 'select 1')).to.deep.equal([[1]])
    expect(await runningEmbedded(long)).to.deep.equal(connection)
    await stop()
    expect(existsSync(connection.host)).to.equal(false)
  })
})
