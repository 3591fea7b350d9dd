import { expect } from 'chai'
import { waitFor } from '../../../src/projections/engine/gather.ts'

describe('a transaction of clicks', () => {
  it('does not wait while fewer than 2,000 arrive in a second', () => {
    expect(waitFor(1, 10_000)).to.equal(0)
    expect(waitFor(190, 100)).to.equal(0)
  })

  it('waits until about 5,000 are there while more arrive', () => {
    expect(waitFor(4_000, 400)).to.equal(100)
    expect(waitFor(500, 25)).to.equal(225)
  })

  it('waits for 250 ms at most', () => {
    expect(waitFor(300, 100)).to.equal(250)
  })

  it('does not wait when it is full', () => {
    expect(waitFor(5_000, 100)).to.equal(0)
    expect(waitFor(9_000, 0)).to.equal(0)
  })
})
