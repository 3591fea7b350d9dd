import { expect } from 'chai'
import { clickId, isOrdinal, parseClickId } from '../../src/events/ordinals.ts'

describe('the number of an event in the log', () => {
  it('is a whole number from 0 on', () => {
    expect([0, 1, 2 ** 53 - 1].every(isOrdinal)).to.equal(true)
    expect([-1, 1.5, Number.NaN, Infinity, 2 ** 53].some(isOrdinal)).to.equal(false)
  })
})

describe('the id of a click', () => {
  it('is the number of its event, and its place among the clicks of that', () => {
    expect(clickId(123, 4)).to.equal('123-4')
    for (const [ordinal, index] of [
      [0, 0],
      [7, 10],
      [999_999_999_999_999, 999],
    ] as const)
      expect(parseClickId(clickId(ordinal, index))).to.deep.equal({ ordinal, index })
  })
  it('has one form only', () => {
    for (const id of [
      '',
      '7',
      '7-',
      '-7',
      '07-1',
      '7-01',
      '7-1000',
      '1000000000000000-1',
      '7-1-1',
      ' 7-1',
      '7-1x',
      'a-1',
    ])
      expect(parseClickId(id), id).to.equal(undefined)
  })
})
