import { expect } from 'chai'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run } from '../../src/cli/run.ts'
import { localRoute } from '../../src/clicks/spool/folders.ts'
import { openSpool } from '../../src/clicks/spool/spool.ts'
import { startTestApp, type TestApp, urlOf } from '../support/app.ts'
import { query } from '../support/faults.ts'
import { numbers, visit } from '../support/spool.ts'

describe('linkledger spool, while a spool of another event log is in the folder', function () {
  this.timeout(300_000)
  const SECRET = 'a secret for tests only'
  let dir: string
  let app: TestApp
  before(async () => {
    dir = await mkdtemp(join(tmpdir(), 'linkledger-spool-command-'))
  })
  after(async () => {
    await app.close()
    await rm(dir, { recursive: true, force: true })
  })

  /** Leaves a spool of another installation behind; returns its id. */
  const leave = async (count: number) => {
    const spool = await openSpool({ dir: join(dir, 'spool'), route: localRoute, logId: 'elsewhere', log: () => {} })
    for (const link of numbers(1, count)) await spool.add(visit(link))
    await spool.close()
    return spool.id
  }
  const command = async (...args: string[]) => {
    const printed: string[] = []
    const print = (line: string) => void printed.push(line)
    const variables = { DATA_DIR: dir, SECRET, DATABASE_URL: urlOf(app.connection), OPERATOR: 'ann' }
    const code = await run(['spool', ...args], { variables, print, printError: print })
    return { code, text: printed.join('\n') }
  }
  const problems = async () => {
    const response = await fetch(`${app.operator.address}/readyz?of=api`)
    return ((await response.json()) as { readonly problems: readonly string[] }).problems.join('\n')
  }
  const asideClicks = async () =>
    /^linkledger_spool_aside_clicks (\d+)/m.exec(await (await fetch(`${app.operator.address}/metrics`)).text())?.[1]
  const events = (type: string) =>
    query<{ data: object; actor: object }>(
      app.connection,
      `select data, metadata->'actor' as actor from log.events where type = '${type}'`,
    )

  it('reports it, lists it, and accepts or drops it', async () => {
    const [wanted, unwanted] = [await leave(3), await leave(5)]
    app = await startTestApp({ SECRET, DATA_DIR: dir })
    expect(await problems()).to.include(`3 clicks of spool ${wanted} in ${join(dir, 'spool')} are kept aside`)
    expect(await asideClicks()).to.equal('8')
    const listed = await command('list')
    expect(listed.text).to.include(`${wanted}  3 clicks wait`).and.to.include(`${unwanted}  5 clicks wait`)
    expect(listed.text).to.include('are kept aside: it belongs to another event log (elsewhere)')

    expect((await command('accept', wanted)).text).to.match(/^3 new clicks recorded/)
    const [imported] = await events('SpoolImported')
    expect(imported?.data).to.deep.include({ clicks: 3 })
    expect((await command('accept', wanted)).code, 'it is gone').to.equal(2)

    expect((await command('drop', unwanted)).text).to.include('this deletes 5 clicks for good: repeat it with --yes')
    expect((await command('drop', unwanted, '--yes')).text).to.include('5 clicks are never counted')
    const dropped = (await events('SpoolRetired')).filter(({ data }) => 'dropped' in data)
    expect(dropped).to.have.length(1)
    expect(dropped[0]?.data).to.deep.include({ spool: unwanted, dropped: 5 })
    expect(dropped[0]?.actor).to.deep.equal({ kind: 'operator', name: 'ann' })

    expect(await problems()).to.equal('')
    expect(await asideClicks()).to.equal('0')
  })

  it('imports nothing from a folder without a spool, and says so', async () => {
    const other = await mkdtemp(join(dir, 'other-'))
    const { code, text } = await command('import', other)
    expect([code, text]).to.deep.equal([
      2,
      `linkledger: there is no spool in ${other}: name DATA_DIR of that machine, or the folder \`spool\` in it`,
    ])
    expect(await readdir(other)).to.deep.equal([])
  })
})
