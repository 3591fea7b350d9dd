import { expect } from 'chai'
import { refuseTaken } from '../../../../src/commands/claims/taken.ts'
import type { Writer } from '../../../../src/http/api/route.ts'
import { knowingTaken } from '../../../../src/http/links/bulk/taken.ts'

describe('rows of a bulk request that want one alias', () => {
  it('ask the log once for an address that one of them has got, or that was refused because it is taken', async () => {
    const part = knowingTaken()
    let asked: unknown[] = []
    const create = async (value: object, isFree: boolean) => {
      const free = { create: async () => (asked.push(value), isFree ? { id: 1 } : refuseTaken('alias', 'custom')) }
      const writer = part(free as unknown as Writer, { number: 1, value: { ...value } })
      return (writer.create as unknown as () => Promise<unknown>)().then(
        () => 'created',
        ({ code }) => String(code),
      )
    }
    for (const [first, isFree] of [
      [{ custom: 'got' }, true],
      [{ custom: 'refused' }, false],
      [{ custom: 'got', domain: 'go.example.com' }, true],
    ] as const) {
      asked = []
      expect(await create(first, isFree)).to.equal(isFree ? 'created' : 'taken')
      for (let n = 0; n < 5; n++)
        expect(await create('domain' in first ? first : { custom: first.custom.toUpperCase() }, true)).to.equal('taken')
      expect(asked).to.deep.equal([first])
    }
    // letter case may tell aliases apart there
    expect(await create({ custom: 'GOT', domain: 'go.example.com' }, true)).to.equal('created')
    expect(await create({}, true), 'any alias').to.equal('created')
    expect(await create({}, true), 'any alias').to.equal('created')
  })
})
