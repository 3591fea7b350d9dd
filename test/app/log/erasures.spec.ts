import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { registerErasures } from '../../../src/app/log/erasures.ts'
import { formatErasures, readErasures, readNamedErasures, registerIn } from '../../../src/security/erasures.ts'
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

  it('may have lines of which a power failure has left zeros, wherever they are in them', async () => {
    const line = { log: 'a log', account: 7, registered: 'an event', at: '2030-01-01T00:00:00.000Z' }
    const text = formatErasures([line])
    const zeros = (from: number, to: number) => `${text.slice(0, from)}${'\0'.repeat(to - from)}${text.slice(to)}`
    for (const torn of [zeros(0, 20), zeros(10, 30), zeros(0, text.length - 2), zeros(30, text.length)]) {
      await writeFile(registerIn(dir), `${text}\n${torn}`)
      expect(await readErasures(registerIn(dir)), torn).to.deep.equal([line])
      // the next erasure is added after it
      await writeFile(registerIn(dir), `${text}\n${torn}\n${text}`)
      expect(await readErasures(registerIn(dir)), torn).to.deep.equal([line, line])
      expect(await refusal(readNamedErasures(registerIn(dir))), torn).to.include('is damaged')
    }
  })

  const refusal = (reading: Promise<unknown>) => reading.then(() => 'it was read', String)
  const whole = formatErasures([{ log: 'a log', account: 7, registered: 'an event', at: '2030-01-01T00:00:00.000Z' }])

  /** One for each kind of file that is no register, with the number of the line that says so. */
  const others: Readonly<Record<string, readonly [text: string, line: number]>> = {
    'a secret': ['Zm9v+YmFy/zzz=\n', 1],
    'any text': [`${whole}garbage\n`, 2],
    'JSON of something else': [`${whole}\n{"events":[]}\n`, 3],
    'another beginning of a line': ['{"account":7,"lo', 1],
  }
  for (const [name, [text, line]] of Object.entries(others))
    it(`is not ${name}, which is refused with the number of its line`, async () => {
      await writeFile(registerIn(dir), text)
      for (const read of [readErasures, readNamedErasures])
        expect(await refusal(read(registerIn(dir)))).to.include(`line ${line} of ${registerIn(dir)} is damaged`)
    })

  it('may end with half a line where a process has died, and not where an operator names a copy', async () => {
    for (const half of ['{', whole.slice(0, 20), `${whole.slice(0, -2)}\n${whole}`, `${whole.slice(0, 30)}\0\0\0`]) {
      await writeFile(registerIn(dir), `${whole}${half}`)
      expect((await readErasures(registerIn(dir))).length, half).to.be.within(1, 2)
      expect(await refusal(readNamedErasures(registerIn(dir))), half).to.include('line 2 of')
    }
    await writeFile(registerIn(dir), `\n${whole}\n\n${whole}`)
    expect(await readNamedErasures(registerIn(dir))).to.have.length(2)
    await writeFile(registerIn(dir), '')
    expect(await readNamedErasures(registerIn(dir))).to.deep.equal([])
  })
})
