import { chmod, mkdir, mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { createDataDir } from '../../src/lib/datadir.ts'

describe('the data folder', () => {
  let dir: string
  beforeEach(async () => (dir = await mkdtemp(join(tmpdir(), 'linkledger-datadir-'))))
  afterEach(() => rm(dir, { recursive: true, force: true }))
  const modeOf = async (path: string) => (await stat(path)).mode & 0o777

  it('is created for its owner only, with the folders above it', async () => {
    createDataDir(join(dir, 'a/b'))
    expect([await modeOf(join(dir, 'a')), await modeOf(join(dir, 'a/b'))]).to.deep.equal([0o700, 0o700])
  })

  it('is closed to others when an earlier release or an operator has made it', async () => {
    await mkdir(join(dir, 'spool'))
    await chmod(dir, 0o755)
    createDataDir(dir)
    expect(await modeOf(dir)).to.equal(0o700)
  })

  it('keeps its mode while it contains none of our data: it may belong to another program', async () => {
    await chmod(dir, 0o755)
    createDataDir(dir)
    expect(await modeOf(dir)).to.equal(0o755)
  })
})
