import { expect } from 'chai'
import { randomUUID } from 'node:crypto'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { removeLeftFiles } from '../../../src/app/jobs/importfiles.ts'
import { importFolder } from '../../../src/http/imports/file.ts'
import { knownImports, openImports } from '../../../src/postgres/jobs/imports.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'

describe('the files of imports', () => {
  let app: TestApp
  let dir: string
  before(async () => {
    app = await startTestApp()
    dir = await mkdtemp(join(tmpdir(), 'linkledger-left-'))
  })
  after(async () => {
    await app.close()
    await rm(dir, { recursive: true, force: true })
  })

  it('are removed once no account has them, unless they have just arrived', async () => {
    const { db } = app.app.ledger
    const knownOf = (names: readonly string[]) => knownImports(db, names)
    await removeLeftFiles(importFolder(dir), knownOf)
    const [kept, left] = [randomUUID(), randomUUID()]
    const of = { account: 1, work: 'check', format: 'csv', name: '', size: 1, options: {} } as const
    await openImports(db, 'a process that has ended').begin({ id: kept, ...of })
    for (const name of [kept, left, `${left}.part`]) await writeFile(join(dir, name), 'x')
    await removeLeftFiles(dir, knownOf)
    expect(await readdir(dir)).to.have.members([kept, left, `${left}.part`])
    await removeLeftFiles(dir, knownOf, Date.now() + 2 * 3_600_000)
    expect(await readdir(dir)).to.deep.equal([kept])
  })
})
