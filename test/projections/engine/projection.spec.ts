import { expect } from 'chai'
import { type Change, changesOf, changesOfBatch, put } from '../../../src/projections/engine/projection.ts'
import { recorded } from '../../support/events.ts'

describe('the changes that events make', () => {
  const [first, second] = recorded([
    { type: 'LinkDeleted', data: { id: 1 } },
    { type: 'LinkDeleted', data: { id: 2 } },
  ])
  const counting = () => {
    const seen: number[] = []
    const on = {
      LinkDeleted: ({ data }: { readonly data: { readonly id: number } }): readonly Change[] => {
        seen.push(data.id)
        return [put('links', { id: data.id }, {})]
      },
    }
    return { on, seen }
  }

  it('are made once for each event and projection of a batch, however often they are written', () => {
    const [links, versions] = [counting(), counting()]
    const inBatch = changesOfBatch()
    for (const event of [first!, second!, first!, second!])
      for (const projection of [links, versions])
        expect(inBatch(projection, event)).to.deep.equal(changesOf(counting(), event))
    expect([links.seen, versions.seen]).to.deep.equal([
      [1, 2],
      [1, 2],
    ])
  })

  it('are made again in the next batch, and are none of types without a handler', () => {
    const { seen, ...links } = counting()
    for (const inBatch of [changesOfBatch(), changesOfBatch()]) {
      inBatch(links, first!)
      expect(inBatch({ on: {} }, first!)).to.deep.equal([])
    }
    expect(seen).to.deep.equal([1, 1])
  })
})
