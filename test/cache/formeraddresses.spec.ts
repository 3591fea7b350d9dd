import { expect } from 'chai'
import { formerAddresses } from '../../src/cache/formeraddresses.ts'
import type { Reader } from '../../src/queries/reader.ts'

type Steps = Parameters<typeof formerAddresses>[0]['handler']['steps']

describe('the addresses that a block of a link has', () => {
  const of = (aliases: readonly string[], kind = 'link') => {
    const steps = async function* () {
      for (const alias of aliases) yield { after: { fields: { domain: null, alias } } }
    }
    const handler = { steps: steps as unknown as Steps }
    return formerAddresses({ handler, reader: {} as Reader }, { kind, value: '7' })
  }

  it('are the newest that the log has room for, however often its owner renames it', async () => {
    const name = (n: number) => `a${String(n).padStart(62, '0')}`
    for (const kind of ['link', 'bio']) {
      const all = await of([name(7), ...Array.from({ length: 20_000 }, (_, n) => name(n)), name(7)], kind)
      expect(Buffer.byteLength(JSON.stringify(all))).to.be.within(200_000, 262_146)
      expect(all.slice(0, 2)).to.deep.equal([`/${name(7)}`, `/${name(19_999)}`])
      expect(all.filter((address) => address === `/${name(7)}`)).to.have.length(1)
    }
    expect(await of(['one', 'two', 'one'])).to.deep.equal(['/one', '/two'])
  })
})
