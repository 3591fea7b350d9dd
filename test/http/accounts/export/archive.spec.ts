import { once } from 'node:events'
import { execFileSync } from 'node:child_process'
import { PassThrough } from 'node:stream'
import { buffer, text } from 'node:stream/consumers'
import { createGunzip } from 'node:zlib'
import { expect } from 'chai'
import { archive } from '../../../../src/http/accounts/export/archive.ts'

describe('the archive of an account', () => {
  it('sends the lines so far after some time, so that its connection is not silent while lines come slowly', async () => {
    const unzipped = createGunzip()
    const received = once(unzipped, 'data')
    const slowly = async function* () {
      yield { line: 1 }
      yield { line: 2 }
      // a client that got nothing would wait for ever
      await received
      yield { line: 3 }
    }
    const options = { counts: new Map(), requireAdmitted: async () => {}, lost: new AbortController().signal }
    archive([{ folder: 'links', lines: slowly() }], { ...options, longest: -1, onClose: () => {} }).pipe(unzipped)
    const [first] = (await received) as [Buffer]
    const rest = await text(unzipped)
    expect((first.toString() + rest).match(/links\/\d+\.ndjson/g)).to.deep.equal(
      [1, 2, 3].map((n) => `links/00000${n}.ndjson`),
    )
  })

  it('sends a comment while nothing is found, of which tar unpacks no file', async () => {
    const [unzipped, zipped] = [createGunzip(), new PassThrough()]
    const received = once(unzipped, 'data')
    const whole = buffer(zipped)
    const nothingYet = async function* () {
      // a client that got nothing would wait for ever
      await received
      yield { line: 1 }
    }
    const options = { counts: new Map(), requireAdmitted: async () => {}, lost: new AbortController().signal }
    const content = archive([{ folder: 'links', lines: nothingYet() }], { ...options, longest: 1, onClose: () => {} })
    content.pipe(zipped)
    content.pipe(unzipped)
    const listing = execFileSync('tar', ['tzf', '-'], { input: await whole, encoding: 'utf8' })
    expect(listing).to.equal('links/000001.ndjson\n')
  })

  it('ends at once when another client takes its place, also while its client does not read', async () => {
    const lost = new AbortController()
    let closed: () => void
    const closing = new Promise<void>((resolve) => (closed = resolve))
    const content = archive([{ file: 'a.txt', text: () => 'a' }], {
      counts: new Map(),
      requireAdmitted: async () => {},
      lost: lost.signal,
      onClose: () => closed(),
    })
    const failure = new Promise<Error>((resolve) => content.once('error', resolve))
    const why = new Error('busy')
    lost.abort(why)
    await closing
    expect([await failure, content.destroyed]).to.deep.equal([why, true])
  })
})
