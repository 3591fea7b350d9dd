import { expect } from 'chai'
import { addressesBy, claimToken, hasBy, isOfItsImport } from '../../../src/commands/links/brought.ts'
import { noTokens } from '../../../src/commands/claims/claim.ts'

const [one, other] = ['11111111-1111-4111-8111-111111111111', '22222222-2222-4222-8222-222222222222']
const given = (main?: string, ...others: readonly (string | undefined)[]) => ({
  tokens: {
    ...noTokens,
    held: {
      alias: claimToken(main),
      ...Object.fromEntries(others.map((by, n) => [`alias ${n + 2}`, claimToken(by)])),
    },
  },
})

describe('the addresses that an import has given a link', () => {
  it('given some of an import, some of another and some by hand, then each is counted where it comes from', () => {
    const link = given(one, one, undefined, other, one)
    expect([one, other].map((by) => addressesBy(by, link))).to.deep.equal([2, 1])
    expect([1, 2, 3, 4, 5].map((address) => hasBy(one, link, address))).to.deep.equal([false, true, false, false, true])
  })

  it('given a link of an import, then only claims of that import are of its own', () => {
    expect([one, other, undefined].map((by) => isOfItsImport(claimToken(by), given(one)))).to.deep.equal([
      ...[true, false, false],
    ])
    expect([one, undefined].map((by) => isOfItsImport(claimToken(by), given()))).to.deep.equal([false, false])
  })
})
