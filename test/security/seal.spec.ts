import { expect } from 'chai'
import { BrokenSeal, sealBytes, unsealBytes } from '../../src/security/seal.ts'

const key = Buffer.alloc(32, 7)

describe('a sealed text', () => {
  it('is opened with its whole tag only', () => {
    const sealed = sealBytes(key, 'place', '')
    expect(unsealBytes(key, 'place', sealed).length).to.equal(0)
    for (const length of [27, 24, 20, 16, 13, 12, 0])
      expect(() => unsealBytes(key, 'place', sealed.subarray(0, length)), String(length)).to.throw(BrokenSeal)
  })
})
