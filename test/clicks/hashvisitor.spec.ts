import { expect } from 'chai'
import { visitorHash } from '../../src/clicks/hashvisitor.ts'
import { memoryKeyring } from '../support/keyring.ts'

describe('the hash of a visitor', () => {
  it('is the same within an account only, and changes once the key of the account is destroyed', async () => {
    const keyring = memoryKeyring()
    await keyring.forSealing(1)
    await keyring.forSealing(2)
    const hash = visitorHash(await keyring.forOpening([1, 2]))
    const first = hash(1, '192.0.2.1')
    expect(first).to.match(/^[0-9a-f]{16}$/)
    expect(hash(1, '192.0.2.1')).to.equal(first)
    expect(new Set([first, hash(2, '192.0.2.1'), hash(1, '192.0.2.2')])).to.have.property('size', 3)

    keyring.destroy(1)
    const withoutKey = visitorHash(await keyring.forOpening([1, 2]))
    expect(withoutKey(1, '192.0.2.1'))
      .to.match(/^[0-9a-f]{16}$/)
      .and.not.equal(first)
    expect(visitorHash(await keyring.forOpening([1]))(1, '192.0.2.1')).not.to.equal(withoutKey(1, '192.0.2.1'))
  })
})
