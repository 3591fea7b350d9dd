import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { startBlockListFile } from '../../../src/app/jobs/blocklistfile.ts'
import { emptyBlockList } from '../../../src/lib/blocklist.ts'
import { OperatorError } from '../../../src/lib/operatorerror.ts'
import { until } from '../../support/client.ts'

describe('the file with blocked hosts', () => {
  let dir: string
  let stop: (() => Promise<void>) | undefined
  before(async () => {
    dir = await mkdtemp(join(tmpdir(), 'linkledger-blocklist-'))
  })
  afterEach(async () => stop?.())
  after(() => rm(dir, { recursive: true }))

  it('is read at start, again when it changes, and kept while it cannot be read', async () => {
    const path = join(dir, 'hosts')
    await writeFile(path, 'evil.example\n')
    let list = emptyBlockList
    const problems: unknown[] = []
    stop = await startBlockListFile({
      setting: 'BLOCKLIST_FILE',
      path,
      onRead: (now) => (list = now.list),
      onProblem: (error) => problems.push(error),
      every: 5,
    })
    const blocks = (host: string) => list.find(new URL(`https://${host}/`)) !== undefined
    expect([blocks('evil.example'), blocks('bad.example')]).to.deep.equal([true, false])

    await writeFile(path, 'bad.example\n')
    await until(async () => blocks('bad.example'), Boolean)
    expect(blocks('evil.example')).to.equal(false)

    await rename(path, `${path}.old`)
    await until(async () => problems.length, Boolean)
    expect(blocks('bad.example')).to.equal(true)
    await rename(`${path}.old`, path)
    await writeFile(path, 'evil.example\n')
    await until(async () => blocks('evil.example'), Boolean)
    expect(problems).to.have.length(1)
  })

  it('must be there when the service starts', async () => {
    let problem: unknown
    await startBlockListFile({
      setting: 'BLOCKLIST_FILE',
      path: join(dir, 'none'),
      onRead: () => {},
      onProblem: () => {},
    }).catch((error: unknown) => (problem = error))
    expect(problem)
      .to.be.instanceOf(OperatorError)
      .with.property('message')
      .that.includes('BLOCKLIST_FILE cannot be read')
  })
})
