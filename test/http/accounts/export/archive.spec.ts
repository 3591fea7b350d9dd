import { expect } from 'chai'
import { archive } from '../../../../src/http/accounts/export/archive.ts'

describe('the archive of an account', () => {
  it('ends at once when its place goes to somebody else, also while its client does not read', async () => {
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
