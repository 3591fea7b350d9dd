import { expect } from 'chai'
import {
  hashRecoveryCode,
  isTotpSecret,
  newRecoveryCodes,
  newTotpSecret,
  stepOfCode,
  totpAddress,
} from '../../src/security/secondfactor.ts'
import { unreadable } from '../../src/security/seal.ts'

/** `12345678901234567890`, of the test vectors in RFC 6238, appendix B */
const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'
const vectors: readonly (readonly [number, string])[] = [
  [59, '287082'],
  [1_111_111_109, '081804'],
  [1_111_111_111, '050471'],
  [1_234_567_890, '005924'],
  [2_000_000_000, '279037'],
  [20_000_000_000, '353130'],
]

describe('second factors', () => {
  it('accept the codes of RFC 6238, and those of one step before and after', () => {
    for (const [at, code] of vectors) {
      const step = Math.floor(at / 30)
      for (const off of [-30, 0, 30]) expect(stepOfCode(secret, code, (at + off) * 1000), code).to.equal(step)
      for (const off of [-60, 60]) expect(stepOfCode(secret, code, (at + off) * 1000), code).to.equal(undefined)
    }
  })

  it('accept no code for a secret that cannot be read, and nothing that is not six digits', () => {
    expect(stepOfCode(unreadable, '287082', 59_000)).to.equal(undefined)
    for (const code of ['', '28708', '2870820', '28708a', ' 287082', '２８７０８２', '287082\n'])
      expect(stepOfCode(secret, code, 59_000), JSON.stringify(code)).to.equal(undefined)
  })

  it('have secrets of 160 bits, which an authenticator app reads', () => {
    const made = newTotpSecret()
    expect(isTotpSecret(made)).to.equal(true)
    expect(newTotpSecret()).not.to.equal(made)
    const address = new URL(totpAddress(made, 'Linkledger go.example.com', 'ann@example.com'))
    expect(address.href).to.match(/^otpauth:\/\/totp\/Linkledger%20go\.example\.com:ann%40example\.com\?/)
    expect(Object.fromEntries(address.searchParams)).to.deep.equal({
      secret: made,
      issuer: 'Linkledger go.example.com',
      algorithm: 'SHA1',
      digits: '6',
      period: '30',
    })
  })

  it('have ten recovery codes, of which only keyed hashes are stored; case and hyphens do not count', () => {
    const codes = newRecoveryCodes()
    expect(new Set(codes).size).to.equal(10)
    for (const code of codes) expect(code).to.match(/^[a-z2-9]{5}-[a-z2-9]{5}$/)
    const pepper = Buffer.alloc(32, 1)
    const [code = ''] = codes
    const hash = hashRecoveryCode(pepper, 1, code)
    expect(hashRecoveryCode(pepper, 1, code.toUpperCase().replace('-', ' '))).to.equal(hash)
    expect(hashRecoveryCode(pepper, 2, code)).not.to.equal(hash)
    expect(hashRecoveryCode(Buffer.alloc(32, 2), 1, code)).not.to.equal(hash)
  })
})
