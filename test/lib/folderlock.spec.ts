import { expect } from 'chai'
import { spawnSync } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { lockDataDir } from '../../src/lib/folderlock.ts'
import { child, endChildren, prepareChildren } from '../postgres/child.ts'
import { needsRoot } from '../support/skip.ts'

describe('the lock of a data folder', function () {
  this.timeout(300_000)
  let scratch: string
  before(prepareChildren)
  beforeEach(async () => (scratch = await mkdtemp(join(tmpdir(), 'linkledger test '))))
  afterEach(async () => {
    await endChildren()
    await rm(scratch, { recursive: true, force: true })
  })

  const refusalOf = (attempt: Promise<unknown>) =>
    attempt.then(
      () => 'none',
      (error: Error) => error.message,
    )

  it('creates a missing folder, accessible to its owner only', async () => {
    const dir = join(scratch, 'a', 'b')
    const { release } = await lockDataDir(dir)
    expect((await stat(dir)).mode & 0o777).to.equal(0o700)
    await release()
    expect(await readdir(dir)).to.deep.equal([])
  })

  it('is refused to a second process, naming the process id of the first, and is free when the first has ended', async () => {
    const first = child('datadir', scratch)
    expect(await first.next()).to.include.keys('started')

    expect(await refusalOf(lockDataDir(scratch))).to.equal(
      `${scratch} is in use by another linkledger (pid ${first.pid}): stop it, or set DATA_DIR to another folder`,
    )
    expect(await child('datadir', scratch).next())
      .to.have.property('refused')
      .that.includes(`pid ${first.pid}`)

    await first.stop()
    await first.ended
    await (await lockDataDir(scratch)).release()
  })

  it('is refused to a second owner in the same process', async () => {
    const { release } = await lockDataDir(scratch)
    expect(await refusalOf(lockDataDir(scratch))).to.include(`in use by another linkledger (pid ${process.pid})`)
    await release()
  })

  it('is free after a kill -9 of its holder, and the next holder removes the leftover socket', async () => {
    const killed = child('datadir', scratch)
    await killed.next()
    killed.kill('SIGKILL')
    await killed.ended
    expect(await readdir(scratch)).to.have.length(1)

    const { release } = await lockDataDir(scratch)
    expect(await readdir(scratch)).to.have.length(1)
    await release()
    expect(await readdir(scratch)).to.have.length(0)
  })

  it('stays with a holder that is suspended and does not answer', async () => {
    const frozen = child('datadir', scratch)
    await frozen.next()
    frozen.kill('SIGSTOP')
    expect(await refusalOf(lockDataDir(scratch))).to.include('in use by another linkledger (pid unknown)')
  })

  it('goes to exactly one of many contenders that start together, even next to a stale socket', async () => {
    const killed = child('datadir', scratch)
    await killed.next()
    killed.kill('SIGKILL')
    await killed.ended

    for (let round = 0; round < 10; round++) {
      const attempts = await Promise.allSettled(Array.from({ length: 10 }, () => lockDataDir(scratch)))
      const holds = attempts.flatMap((attempt) => (attempt.status === 'fulfilled' ? [attempt.value] : []))
      expect(holds).to.have.length(1)
      await Promise.all(holds.map(({ release }) => release()))
    }
    const said = await Promise.all(Array.from({ length: 4 }, () => child('datadir', scratch).next()))
    expect(said.filter(({ started }) => started !== undefined)).to.have.length(1)
  })

  it('works in a folder whose path is too long for the name of a socket', async () => {
    const dir = join(scratch, 'x'.repeat(200), 'y'.repeat(200))
    const { release } = await lockDataDir(dir)
    expect(await refusalOf(lockDataDir(dir))).to.include('in use')
    await release()
  })

  it('can be taken by a user other than the one that left a socket in the folder', async function () {
    needsRoot(this)
    const dir = join(scratch, 'shared')
    await mkdir(dir)
    await chmod(scratch, 0o755)
    await chmod(dir, 0o777)
    const killed = child('datadir', dir)
    await killed.next()
    killed.kill('SIGKILL')
    await killed.ended

    const other = child('datadir', dir, { uid: 65534 })
    expect(await other.next()).to.include.keys('started')
    expect(spawnSync('ls', ['-A', dir], { encoding: 'utf8' }).stdout.trim().split('\n')).to.have.length(1)
    await other.stop()
  })
})
