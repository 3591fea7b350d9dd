import { expect } from 'chai'
import { appendFile, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSpool } from '../../../src/clicks/spool/spool.ts'
import { findVisitsOf } from '../../../src/clicks/spool/visitsof.ts'
import { segmentsIn } from './harness.ts'
import { visit } from './visits.ts'

describe('looking for visits of an account in the files of all spools', () => {
  let home = ''
  let spools = ''
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'linkledger-visitsof-'))
    spools = join(home, 'spool')
  })
  afterEach(() => rm(home, { recursive: true, force: true }))

  const find = (...accounts: readonly number[]) => findVisitsOf(spools, new Set(accounts))

  /** Leaves a spool with a visit of account 7 behind. Returns the path of its segment. */
  const leaveSpool = async (dir = spools) => {
    const spool = await openSpool({ dir, route: { log: 'local', partitions: 1 }, log: () => {} })
    await spool.add({ ...visit(1), account: 7, agent: '"account":8' })
    await spool.close()
    return join(dir, (await segmentsIn(dir))[0]!)
  }
  const quarantined = (bytes: string) =>
    appendFile(join(spools, 'quarantine'), `0000000001.spool 12 ${Buffer.from(bytes).toString('base64')}\n`)

  it('finds none where there is no spool, or an empty one', async () => {
    expect(await find(7)).to.equal(undefined)
    await mkdir(spools)
    expect(await find(7)).to.equal(undefined)
  })

  it('finds those of each route, and no others', async () => {
    const segment = await leaveSpool(join(spools, 'kafka', 'clicks-1'))
    expect(await find(1, 7)).to.equal(segment)
    expect(await find(8, 77)).to.equal(undefined)
  })

  it('finds those of a segment that was moved aside', async () => {
    const segment = await leaveSpool()
    const aside = segment.replace(/(?=\d{10})/, 'quarantine-')
    await rename(segment, aside)
    expect(await find(7)).to.equal(aside)
  })

  it('finds those of a damaged part in quarantine, and one whose account is unknown', async () => {
    const [header = '', , line = ''] = (await readFile(await leaveSpool(), 'utf8')).split('\n')
    await rm(spools, { recursive: true })
    await mkdir(spools)
    await quarantined(header.replace('route', 'rOute'))
    await quarantined(line.replace('seq', 'sEq'))
    expect(await find(7)).to.equal(join(spools, 'quarantine'))
    expect(await find(6)).to.equal(undefined)
    await quarantined(line.slice(-100))
    expect(await find(6)).to.equal(join(spools, 'quarantine'))
  })

  it('fails where a file cannot be read, instead of finding nothing', async () => {
    await leaveSpool()
    await rm(spools, { recursive: true })
    await writeFile(spools, '')
    expect(await find(7).catch((error: NodeJS.ErrnoException) => error.code)).to.equal('ENOTDIR')
  })
})
