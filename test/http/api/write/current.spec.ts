import { expect } from 'chai'
import { ChangedByNewer } from '../../../../src/events/unknown.ts'
import { readCurrent } from '../../../../src/http/api/write/current.ts'

describe('reading a resource whose changes are not projected yet', () => {
  const newer = async () => {
    throw new ChangedByNewer('The link 7')
  }
  const failure = (work: Promise<unknown>) =>
    work.then(
      () => expect.fail('it did not fail'),
      (error: unknown) => error,
    )

  it('reads its stream, and the tables otherwise', async () => {
    const sources = { inTables: async () => 'row', inStream: async () => 'state' }
    expect(await readCurrent({ ...sources, pending: true })).to.equal('state')
    expect(await readCurrent({ ...sources, pending: false })).to.equal('row')
    expect(await readCurrent({ ...sources, pending: false, inTables: async () => undefined })).to.equal('state')
  })

  it('reads the tables when a newer release has changed the stream', async () => {
    expect(await readCurrent({ pending: true, inTables: async () => 'row', inStream: newer })).to.equal('row')
    const absent = readCurrent({ pending: true, inTables: async () => undefined, inStream: newer })
    expect(await failure(absent)).to.be.instanceOf(ChangedByNewer)
  })

  it('reports any other failure of the stream', async () => {
    const broken = new Error('broken')
    const inStream = () => Promise.reject(broken)
    expect(await failure(readCurrent({ pending: true, inTables: async () => 'row', inStream }))).to.equal(broken)
  })
})
