import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { registerErasures } from '../../../src/app/log/erasures.ts'
import { formatErasures, readErasures, registerIn } from '../../../src/security/erasures.ts'
import { newMemoryStore } from '../../support/writer.ts'

describe('the erasure register', () => {
  let dir: string
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'linkledger-erasures-'))
  })
  afterEach(() => rm(dir, { recursive: true, force: true }))

  it('gets a line for each account, also when an erased one of before a restore had the same number', async () => {
    const memory = await newMemoryStore()
    const registered = 'the account of now'
    const read = async function* () {
      yield { id: registered }
    }
    const store = { ...memory, read } as unknown as typeof memory
    const before = { log: store.logId, account: 7, registered: 'the account of before', at: '2030-01-01T00:00:00.000Z' }
    await writeFile(registerIn(dir), formatErasures([before]))
    for (const _ of [1, 2]) await registerErasures({ config: { DATA_DIR: dir }, store }, [7])
    const names = (await readErasures(registerIn(dir))).map((one) => one.registered)
    expect(names).to.deep.equal([before.registered, registered])
  })

  it('is read whole when its lines end as in a mail or on Windows', async () => {
    const line = { log: 'a log', account: 7, registered: 'an event', at: '2030-01-01T00:00:00.000Z' }
    await writeFile(registerIn(dir), `${JSON.stringify(line)}\r\n${JSON.stringify(line)} \n{"log":"half a li`)
    expect(await readErasures(registerIn(dir))).to.deep.equal([line, line])
  })
})
