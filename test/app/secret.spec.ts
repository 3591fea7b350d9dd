import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { loadSecret } from '../../src/app/secret.ts'

const given = 'a secret for tests only'

describe('SECRET', () => {
  let dir: string
  beforeEach(async () => (dir = await mkdtemp(join(tmpdir(), 'linkledger-secret-'))))
  afterEach(() => rm(dir, { recursive: true, force: true }))
  const load = (folder = 'data', SECRET?: string) => loadSecret({ DATA_DIR: join(dir, folder), SECRET })

  it('is generated when it is not set, stored in DATA_DIR for its owner only, and reused', async () => {
    const secret = load()
    expect(secret).to.match(/^[\w-]{43}$/)
    expect(load()).to.equal(secret)
    const file = join(dir, 'data', 'secret')
    expect((await readFile(file, 'utf8')).trim()).to.equal(secret)
    expect((await stat(file)).mode & 0o777).to.equal(0o600)
    expect((await stat(join(dir, 'data'))).mode & 0o777).to.equal(0o700)
  })

  it('is different for each folder', () => {
    expect(load('one')).not.to.equal(load('two'))
  })

  it('is the setting when there is one, even if another was generated before', () => {
    load()
    expect(load('data', given)).to.equal(given)
  })

  it('is refused when the file is damaged', async () => {
    load()
    for (const damaged of ['', 'short\n']) {
      await writeFile(join(dir, 'data', 'secret'), damaged)
      expect(() => load(), JSON.stringify(damaged)).to.throw(/secret is damaged/)
    }
  })
})
