import { execFileSync } from 'node:child_process'
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { startBlockListFile } from '../../../src/app/jobs/blocklistfile.ts'
import { emptyBlockList } from '../../../src/lib/blocklist.ts'
import { OperatorError } from '../../../src/lib/operatorerror.ts'
import { until } from '../../support/client.ts'
import { needsLinux } from '../../support/skip.ts'

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

  it('is refused when it is no list, with the number of its first wrong line, and the last list stays', async () => {
    const path = join(dir, 'other')
    /** A file that is written in place is empty for a moment, which is a list, too. */
    const put = async (text: string) => {
      await writeFile(`${path}.new`, text)
      await rename(`${path}.new`, path)
    }
    const problems: string[] = []
    let list = emptyBlockList
    const start = () =>
      startBlockListFile({
        setting: 'ALLOWLIST_FILE',
        path,
        onRead: (now) => (list = now.list),
        onProblem: (error) => problems.push(String(error)),
        every: 5,
      })
    const others = [
      '{\n  "hosts": [\n  ]\n}\n',
      '\n<html>\n<body> evil.example </body>\n',
      `# key\n${'Zm9v+YmFy/=='}\n`,
    ]
    for (const text of others) {
      await put(text)
      const refused = await start().catch((error: unknown) => error)
      expect(refused, text).to.be.instanceOf(OperatorError)
      expect(String(refused)).to.match(
        /ALLOWLIST_FILE cannot be read: most lines of \S+ are no host.*first is line [12]: /,
      )
    }
    await put('good.example\na line that is none\n')
    stop = await start()
    expect(list.size).to.equal(1)
    await put(others[0]!)
    await until(async () => problems.length, Boolean)
    expect(problems[0]).to.include('line 1')
    expect(list.size).to.equal(1)
    await put('')
    await until(async () => list.size === 0, Boolean)
    expect(problems).to.have.length(1)
  })

  it('is refused when it is a pipe, which reading would wait for', async function () {
    needsLinux(this)
    const path = join(dir, 'pipe')
    execFileSync('mkfifo', [path])
    const started = startBlockListFile({ setting: 'BLOCKLIST_FILE', path, onRead: () => {}, onProblem: () => {} })
    expect(await started.catch(String))
      .to.include('BLOCKLIST_FILE cannot be read')
      .and.to.include('is not a file')
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
