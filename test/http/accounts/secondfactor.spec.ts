import { expect } from 'chai'
import type { Failure } from '../../../src/http/api/errors.ts'
import { openSecondFactors } from '../../../src/http/accounts/secondfactor.ts'
import { hashRecoveryCode, newRecoveryCodes, newTotpSecret } from '../../../src/security/secondfactor.ts'
import { memoryLimiter } from '../../support/limiter.ts'

describe('codes of a second factor', () => {
  it('that an attacker with the password guesses leave the owner a known browser, a session and the recovery codes', async () => {
    const pepper = Buffer.alloc(32, 1)
    const codes = newRecoveryCodes()
    const factor = { secret: newTotpSecret(), recovery: codes.map((code) => hashRecoveryCode(pepper, 1, code)) }
    const { require } = openSecondFactors({ limiter: memoryLimiter(), sessions: { useStep: async () => true }, pepper })
    const enter = (
      code: string,
      more: { readonly from?: string; readonly holder?: { kind: 'browser' | 'session'; id: string } } = {},
    ) =>
      require({ account: 1, factor, code, from: '198.51.100.1', useRecoveryCode: async () => undefined, ...more }).then(
        () => 200,
        (error: Failure) => error.status,
      )
    // at most one in a million of these is right
    const guessed: number[] = []
    for (let n = 0; n < 30; n++)
      guessed.push(await enter('abcdef', { from: `203.0.113.${n}` }), await enter('000000', { from: `192.0.2.${n}` }))
    expect(guessed.filter((status) => status === 429)).to.have.length.within(10, 70)
    for (const kind of ['browser', 'session'] as const)
      expect(await enter('000000', { holder: { kind, id: 'a' } })).not.to.equal(429)
    expect(await enter(codes[0]!)).to.equal(200)
  })
})
