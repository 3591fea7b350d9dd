import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { gunzipSync, gzipSync } from 'node:zlib'
import { expect } from 'chai'
import { asStored } from '../../src/events/codec.ts'
import { createChain, DamagedFile, type Entry } from '../../src/lib/chain.ts'
import { writeFileOr } from '../../src/lib/streamfile.ts'
import { checkArchive, eventEntries, headerEntry, sourceIn, WrongArchive, withEnd } from '../../src/store/archive.ts'
import { copyEvents, sourceOf } from '../../src/store/copy.ts'
import { memoryStore } from '../support/memorystore.ts'
import { fresh } from '../support/events.ts'

describe('a file with an event log', () => {
  let dir: string
  let text: string
  before(async () => {
    dir = await mkdtemp(join(tmpdir(), 'linkledger-archive-'))
    text = (await linesOf(await filledStore())).join('')
  })
  after(() => rm(dir, { recursive: true, force: true }))

  const filledStore = async () => {
    const store = await memoryStore(asStored)
    for (const id of [1, 2, 3]) {
      const events = [fresh({ type: 'LinkDeleted', data: { id } })]
      await store.append([{ stream: `link-${id}`, expected: 'no_stream', events }])
    }
    return store
  }
  const linesOf = async (store: Awaited<ReturnType<typeof filledStore>>) => {
    const source = await sourceOf(store)
    const entries = async function* (): AsyncGenerator<readonly Entry[]> {
      yield [headerEntry({ kind: 'log', log: store.logId })]
      yield* eventEntries(source, () => {})
    }
    const chain = createChain()
    const lines: string[] = []
    for await (const some of withEnd(entries())) lines.push(...some.map(chain))
    return lines
  }
  const fileWith = async (content: Buffer | string, name = 'log.ndjson') => {
    const path = join(dir, name)
    await writeFile(path, content)
    return { path, name, close: async () => {} }
  }
  const unpacked = (bytes: Buffer) => {
    try {
      return gunzipSync(bytes).toString()
    } catch {
      return undefined
    }
  }
  const refusal = async (content: Buffer | string, name?: string) => {
    try {
      await checkArchive(await fileWith(content, name))
    } catch (error) {
      return error as Error
    }
    return undefined
  }

  it('gives another store the same events, from which the same file is written', async () => {
    const file = await fileWith(text)
    const archive = await checkArchive(file)
    const target = await memoryStore(asStored, archive.opening)
    expect(await copyEvents(sourceIn(file, archive), target)).to.equal(4)
    expect((await linesOf(target)).join('')).to.equal(text)
  })

  it('is refused at its line with any byte changed, any line missing or moved, or any end cut off', async () => {
    const bytes = Buffer.from(text)
    for (let n = 0; n < bytes.length; n += 7) {
      const changed = Buffer.from(bytes)
      changed[n] = changed[n]! ^ (1 << (n % 8))
      const error = await refusal(changed)
      expect(error, `byte ${n}`).to.be.instanceOf(DamagedFile)
      const line = text.slice(0, n).split('\n').length
      // a line feed that is changed joins two lines, one that is new splits one
      expect(error?.message, `byte ${n}`).to.match(new RegExp(`^line (${line}|${line + 1}) of log.ndjson is damaged: `))
      expect(await refusal(bytes.subarray(0, n)), `cut at ${n}`).to.be.instanceOf(DamagedFile)
    }
    const lines = text.trimEnd().split('\n')
    for (const n of lines.keys()) {
      expect(await refusal(`${lines.toSpliced(n, 1).join('\n')}\n`), `without line ${n + 1}`).to.be.instanceOf(
        DamagedFile,
      )
      const moved = [...lines.toSpliced(n, 1), lines[n]]
      if (n < lines.length - 1) expect(await refusal(`${moved.join('\n')}\n`)).to.be.instanceOf(DamagedFile)
    }
    expect((await refusal(`${text}${lines.at(-1)}\n`))?.message).to.match(/^line 7 of/)
  })

  it('is refused when its compressed form is changed or cut off', async () => {
    const bytes = gzipSync(text)
    for (let n = 10; n < bytes.length; n += 11) {
      const changed = Buffer.from(bytes)
      changed[n] = changed[n]! ^ 16
      // some bits mean nothing: those that fill up the last byte of the last block (RFC 1951, 3.2.3)
      if (unpacked(changed) === text) continue
      expect(await refusal(changed, 'log.ndjson.gz'), `byte ${n}`).to.be.instanceOf(DamagedFile)
      expect(await refusal(bytes.subarray(0, n), 'log.ndjson.gz'), `cut at ${n}`).to.be.instanceOf(DamagedFile)
    }
  })

  it('is read when it is compressed, under any name', async () => {
    expect(await refusal(gzipSync(text), 'the input')).to.equal(undefined)
  })

  it('is refused when it is another kind of file, or of a newer release', async () => {
    const chain = createChain()
    const newer = chain(['header', { format: 2 }])
    expect(await refusal(newer)).to.be.instanceOf(WrongArchive)
    expect((await refusal('{"id": 1}\n'))?.message).to.match(/^line 1 of log.ndjson is damaged/)
    expect(await refusal('')).to.be.instanceOf(DamagedFile)
  })

  it('gets its name only when it is complete', async () => {
    const path = join(dir, 'new.ndjson.gz')
    await writeFile(path, 'the one before')
    const broken = async function* () {
      yield text
      throw new Error('the log cannot be read')
    }
    const output = new Writable()
    const failed = await writeFileOr(output, path, broken()).catch((error: unknown) => error)
    expect(failed).to.have.property('message', 'the log cannot be read')
    expect(await readFile(path, 'utf8')).to.equal('the one before')
    const whole = async function* () {
      yield text
    }
    await writeFileOr(output, path, whole())
    expect(gunzipSync(await readFile(path)).toString()).to.equal(text)
    const device = await writeFileOr(output, '/dev/null', whole()).catch((error: unknown) => error)
    expect(device)
      .to.have.property('message')
      .that.matches(/^\/dev\/null is not a file/)
  })
})
