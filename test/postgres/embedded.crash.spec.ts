import { expect } from 'chai'
import { type ChildProcess, spawn } from 'node:child_process'
import { chown, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runningEmbedded, startEmbedded } from '../../src/postgres/embedded.ts'
import { child } from './child.ts'
import {
  eventually,
  isGone,
  isRoot,
  parents,
  postmasterOf,
  query,
  refusalOf,
  stateOf,
  useEmbedded,
} from './embedded.ts'

describe('embedded PostgreSQL after a crash', function () {
  this.timeout(300_000)
  const { paths, crashes, start } = useEmbedded()
  const others: ChildProcess[] = []
  afterEach(() => others.splice(0).forEach((other) => other.kill('SIGKILL')))

  it('is restarted when the postmaster is killed, with all committed rows and the same connection', async () => {
    const { connection, stop } = await start()
    await query(connection, 'create table committed (n int)')
    const running = `select count(*)::int from pg_stat_activity where query like 'do %' and state = 'active'`
    for (let n = 1; n <= 3; n++) {
      const before = await postmasterOf(paths.dir)
      await query(connection, `insert into committed values (${n})`)
      const busy = query(connection, 'do $$ begin loop null; end loop; end $$').catch(() => {}) // ignores signals
      await eventually(async () => expect(await query(connection, running)).to.deep.equal([[1]]))
      process.kill(before, 'SIGKILL')
      await eventually(async () => expect(crashes).to.have.length(n))
      expect(await eventually(() => query(connection, 'select count(*)::int from committed'))).to.deep.equal([[n]])
      expect(await postmasterOf(paths.dir)).not.to.equal(before)
      await busy
    }
    expect(crashes[0]).to.match(/137|SIGKILL|signal 9/)
    expect(await runningEmbedded(paths.dir)).to.deep.equal(connection)

    process.kill(await postmasterOf(paths.dir), 'SIGKILL')
    await stop() // during the restart
    expect(await runningEmbedded(paths.dir)).to.equal(undefined)
  })

  it('ends when its owner is killed', async () => {
    const owner = child('embedded', paths.dir)
    await owner.next()
    const pid = await postmasterOf(paths.dir)
    owner.kill('SIGKILL')
    await isGone(pid)
  })

  it('is stopped by exactly one of two new owners when it is an orphan', async () => {
    const owner = child('embedded', paths.dir)
    const { connection } = await owner.next()
    await query(connection!, 'create table before_the_kill as select 1 as n')
    const orphan = await postmasterOf(paths.dir)
    owner.kill('SIGSTOP')
    const family = parents()
    const keeper = family.get(orphan)!
    expect(family.get(keeper)).to.equal(owner.pid)
    for (const [pid, parent] of family) if (parent === keeper && pid !== orphan) process.kill(pid, 'SIGKILL')
    process.kill(keeper, 'SIGKILL')
    owner.kill('SIGKILL')
    await owner.ended
    expect(await query(connection!, 'select n from before_the_kill')).to.deep.equal([[1]])

    const next = [child('embedded', paths.dir), child('embedded', paths.dir)]
    const said = await Promise.all(next.map((one) => one.next()))
    const [winner] = said.filter(({ connection }) => connection)
    expect(said.filter(({ refused }) => refused?.includes('in use by another linkledger'))).to.have.length(1)
    expect(await query(winner!.connection!, 'select n from before_the_kill')).to.deep.equal([[1]])
    expect(winner!.started).to.be.below(30_000)
    await isGone(orphan)
  })

  /**
   * Starts a process as the user that PostgreSQL runs as, because PostgreSQL trusts the id of such a process in a lock
   * file. Returns the id it prints.
   */
  const asDatabase = async (command: string) => {
    const { uid, gid } = await stat(join(paths.dir, 'postgres/data'))
    const other = spawn('/bin/sh', ['-c', command], {
      ...(isRoot ? { uid, gid } : {}),
      cwd: '/',
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    others.push(other)
    return Number(String(await other.stdout!.take(1).toArray()))
  }
  const leaveLocksOf = async (pid: number) => {
    const { uid, gid } = await stat(join(paths.dir, 'postgres/data'))
    const text = `${pid}\n${join(paths.dir, 'postgres/data')}\n1700000000\n5432\n../socket\n\n  1234567   1234567\nready   \n`
    for (const file of ['data/postmaster.pid', 'socket/.s.PGSQL.5432.lock']) {
      await writeFile(join(paths.dir, 'postgres', file), text, { mode: 0o600 })
      if (isRoot) await chown(join(paths.dir, 'postgres', file), uid, gid)
    }
  }

  it('starts although an unrelated process has the id of a dead postmaster, and does not kill that process', async () => {
    await (await start()).stop()
    const pid = await asDatabase('echo $$; exec sleep 600')
    await leaveLocksOf(pid)
    const { connection } = await start()
    expect(await query(connection, 'select 1')).to.deep.equal([[1]])
    expect(stateOf(pid)).to.match(/^S/)
  })

  it('starts although a postmaster is dead but not reaped', async () => {
    await (await start()).stop()
    // it ends after the exec, so that no shell reaps it
    const pid = await asDatabase('sleep 1 & echo $!; exec sleep 600')
    await eventually(async () => expect(stateOf(pid)).to.match(/^Z/))
    await leaveLocksOf(pid)
    const { connection } = await start()
    expect(await query(connection, 'select 1')).to.deep.equal([[1]])
  })

  it('refuses a cluster of another major version and leaves it unchanged', async () => {
    await (await start()).stop()
    const file = join(paths.dir, 'postgres/data/PG_VERSION')
    const version = await readFile(file, 'utf8')
    await writeFile(file, '9\n')
    expect(await refusalOf(startEmbedded({ dir: paths.dir, log: () => {} }))).to.match(
      /holds a database of PostgreSQL 9, but installed is \d+ .*DATA_DIR/,
    )
    await writeFile(file, version)
    await (await start()).stop()
  })

  it('reports the error of PostgreSQL when it cannot start', async () => {
    await (await start()).stop()
    const file = join(paths.dir, 'postgres/data/global/pg_control')
    const control = await readFile(file)
    await writeFile(file, control.subarray(0, 100))
    expect(await refusalOf(startEmbedded({ dir: paths.dir, log: () => {} }))).to.match(/FATAL|PANIC/)
    await writeFile(file, control)
    await (await start()).stop()
  })
})
