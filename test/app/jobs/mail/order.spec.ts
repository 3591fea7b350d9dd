import { expect } from 'chai'
import { decideOrder, type OrderOptions } from '../../../../src/app/jobs/mail/order.ts'
import { noAccount } from '../../../../src/commands/accounts/state.ts'
import { signInMark } from '../../../../src/security/knownbrowsers.ts'
import type { MailOrder } from '../../../../src/security/outbox.ts'

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

describe('the notice of a second factor', () => {
  const factor = { secret: 'JBSWY3DPEHPK3PXP', recovery: [] }
  /** What becomes of an order at revision 4, when the account has had these events after that and is in this state. */
  const decide = (state: typeof noAccount, events: readonly string[], order: MailOrder, age = 0) => {
    const stream = [
      'AccountCreated',
      'SecondFactorAdded',
      'SecondFactorRemoved',
      'SecondFactorAdded',
      'KeyAdded',
      ...events,
    ]
    const steps = async function* (_: unknown, __: unknown, { from }: { readonly from: number }) {
      for (const type of stream.slice(from)) yield { event: { type } }
    }
    const options: OrderOptions = {
      pepper,
      handler: { load: async () => ({ state }), steps } as unknown as OrderOptions['handler'],
      textOf: () => ({ subject: '', text: '' }),
      addressOf: () => '',
    }
    return decideOrder(options, { account: 1, age }, order)
  }
  const removed = { kind: 'secondFactorRemoved', lang: 'en', after: 4 } as const
  const replaced = { kind: 'secondFactorReplaced', lang: 'en', after: 4 } as const

  it('is sent for what has happened after it was ordered, whatever came after that', async () => {
    const having = { ...before, secondFactor: factor }
    expect(await decide(having, ['SecondFactorRemoved', 'SecondFactorAdded'], removed, 3600)).to.be.an('object')
    expect(await decide(having, ['SecondFactorAdded'], replaced, 3600)).to.be.an('object')
    expect(await decide(before, ['SecondFactorAdded', 'SecondFactorRemoved'], replaced, 3600)).to.be.an('object')
  })

  it('waits for what has not happened, and is dropped when that has failed', async () => {
    for (const [order, other] of [
      [removed, 'SecondFactorAdded'],
      [replaced, 'SecondFactorRemoved'],
    ] as const) {
      expect(await decide(before, [other], order)).to.equal('later')
      expect(await decide(before, [other], order, 3600)).to.equal('drop')
    }
  })

  it('of an older process is sent when there is none', async () => {
    const order = { kind: 'secondFactorRemoved', lang: 'en' } as const
    expect(await decide(before, [], order)).to.be.an('object')
    expect(await decide({ ...before, secondFactor: factor }, [], order)).to.equal('later')
  })
})
