import { expect } from 'chai'
import { clickTexts, leafOf, type StoredEvent } from '../../../src/events/proof/leaf.ts'
import { at, click, clicked } from '../../support/events.ts'

describe('the leaf of a batch of clicks', () => {
  const eventOf = (more: Readonly<Record<string, unknown>>) =>
    ({
      ...{
        id: '0197b0c2-6a3e-7c1d-9a55-0f2f6c0d1e11',
        stream: 'clicks-local-0',
        revision: 3n,
        position: 9n,
        at: at(5),
      },
      ...{ type: 'LinkClicked', metadata: { v: 2, at: at(5) } },
      data: { ...clicked(click(), click()).data, ...more },
    }) as unknown as StoredEvent
  const leaf = (more: Readonly<Record<string, unknown>>) => leafOf(eventOf(more), 8, at(5))
  const saltsOf = (salt: unknown) =>
    Array.from(clickTexts(eventOf({ salt })), (text) => (JSON.parse(text) as { salt?: unknown }).salt)

  it('gives each click a salt that no other click shows', () => {
    const [first, second] = saltsOf('AAAA')
    expect([first, second]).to.deep.equal([
      'agyAzeq3mzjzAxmosrXwv_SfC-BGhbzH3lykSk3QMxo',
      'VDNOWRPLN68f8x4W8r9FqivG1U-UYW5n8yqRoRVjUqA',
    ])
    expect(saltsOf('BBBB')).not.to.include.members([first])
    expect(leaf({ salt: 'AAAA' })).not.to.include('AAAA')
    expect(leaf({ salt: 'AAAA' })).not.to.equal(leaf({ salt: 'BBBB' }))
  })

  it('has no clicks of other events, whatever their data are', () => {
    const other = (type: string, data: unknown) => [...clickTexts({ type, data } as StoredEvent)]
    expect(other('FromANewerRelease', null)).to.deep.equal([])
    expect(other('LinkClicked', null)).to.deep.equal([])
    expect(other('LinkCreated', { clicks: [{}] })).to.deep.equal([])
  })

  it('is what it always was for a batch without a salt', () => {
    expect(saltsOf(undefined)).to.deep.equal([undefined, undefined])
    const [first, second] = clickTexts(eventOf({}))
    expect(first).to.equal(second)
    expect(JSON.parse(leaf({}))).not.to.have.nested.property('data.salt')
    expect(JSON.parse(leaf({ salt: 7 })), 'no salt').to.have.nested.property('data.salt', 7)
  })
})
