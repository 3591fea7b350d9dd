import { expect } from 'chai'
import { decideOrder, type OrderOptions } from '../../../../src/app/jobs/mail/order.ts'
import { noAccount } from '../../../../src/commands/accounts/state.ts'
import { signInMark } from '../../../../src/security/knownbrowsers.ts'

const pepper = Buffer.alloc(32, 1)
const before = { ...noAccount, status: 'active', email: 'ann@example.com', password: 'hash 1' } as const

describe('the order of a mail that confirms a new address', () => {
  const decide = (state: typeof noAccount, order: { readonly signIn?: string }, age = 0) => {
    const options: OrderOptions = {
      pepper,
      handler: { claimant: async () => undefined, load: async () => ({ state }) } as unknown as OrderOptions['handler'],
      textOf: () => ({ subject: '', text: '' }),
      addressOf: () => '',
    }
    return decideOrder(options, { account: 1, age }, { kind: 'email', lang: 'en', to: 'ann@example.org', ...order })
  }
  const signIn = signInMark(pepper, { id: 1, state: before })

  it('waits for the change of the password that it came with, and is dropped when a sign-in needs something else', async () => {
    expect(await decide(before, { signIn })).to.be.an('object')
    const secondFactor = { secret: 'JBSWY3DPEHPK3PXP', recovery: [] }
    for (const now of [
      { ...before, password: 'hash 2' },
      { ...before, secondFactor },
    ]) {
      expect(await decide(now, { signIn })).to.equal('later')
      expect(await decide(now, { signIn }, 3600)).to.equal('drop')
    }
  })

  it('of a former release is still carried out', async () => {
    expect(await decide(before, {}, 3600)).to.be.an('object')
  })
})
