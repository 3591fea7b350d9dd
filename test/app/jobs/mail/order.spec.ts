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
      for (const type of stream.slice(from)) yield { event: { type }, after: state }
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

  it('is sent for a change that happened after it was queued, also when another change followed', async () => {
    const having = { ...before, secondFactor: factor }
    expect(await decide(having, ['SecondFactorRemoved', 'SecondFactorAdded'], removed, 3600)).to.be.an('object')
    expect(await decide(having, ['SecondFactorAdded'], replaced, 3600)).to.be.an('object')
    expect(await decide(before, ['SecondFactorAdded', 'SecondFactorRemoved'], replaced, 3600)).to.be.an('object')
  })

  it('waits until its change has happened, and is dropped when the change has failed', async () => {
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

describe('the notice of a key or a webhook', () => {
  const key = { number: 2, key: 'abcdefghijkl', scopes: ['read'], expires: null, addresses: null }
  const withKey = { ...before, keys: { ...before.keys, keys: [key] } } as unknown as typeof noAccount
  const hook = { status: 'open', account: 1, url: 'https://a.example/' }
  const gone = { ...hook, status: 'deleted' }
  /** What becomes of an order when an account or a webhook has been in these states since revision 4, and is in the last one. */
  const decide = (kind: 'account' | 'webhook', states: readonly object[], order: MailOrder) => {
    const now = { account: before as object, webhook: gone as object, [kind]: states.at(-1) }
    const steps = async function* (
      decider: { readonly kind: string },
      _: unknown,
      { from }: { readonly from: number },
    ) {
      const earlier = Array.from({ length: 5 }, () => ({}))
      if (decider.kind === kind) for (const after of [...earlier, ...states].slice(from)) yield { event: {}, after }
    }
    const load = async (decider: { readonly kind: 'account' | 'webhook' }) => ({ state: now[decider.kind] })
    const options: OrderOptions = {
      pepper,
      handler: { load, steps } as unknown as OrderOptions['handler'],
      textOf: () => ({ subject: '', text: '' }),
      addressOf: () => '',
    }
    return decideOrder(options, { account: 1, age: 3600 }, order)
  }
  const added = { kind: 'keyAdded', lang: 'en', key: key.key } as const
  const rights = { scopes: ['read'], expires: null, addresses: null }
  const widened = { kind: 'keyWidened', lang: 'en', key: key.key, rights } as const
  const moved = { kind: 'webhookMoved', lang: 'en', webhook: 3, url: 'https://b.example/' } as const

  it('is sent though it was deleted, or changed back, at once', async () => {
    for (const order of [added, widened])
      expect(await decide('account', [withKey, before], { ...order, after: 4 })).to.be.an('object')
    const there = { ...hook, url: moved.url }
    expect(await decide('webhook', [hook, gone], { kind: 'webhookAdded', lang: 'en', webhook: 3 })).to.be.an('object')
    expect(await decide('webhook', [there, hook], { ...moved, after: 4 })).to.be.an('object')
  })

  it('is dropped when nothing has come of it, or it is of another account', async () => {
    for (const order of [added, widened]) {
      expect(await decide('account', [before], { ...order, after: 4 })).to.equal('drop')
      expect(await decide('account', [before], order)).to.equal('drop')
    }
    expect(await decide('webhook', [hook], { ...moved, after: 4 })).to.equal('drop')
    const other = { ...hook, account: 2 }
    expect(await decide('webhook', [other], { kind: 'webhookAdded', lang: 'en', webhook: 3 })).to.equal('drop')
    expect(await decide('webhook', [{ ...other, url: moved.url }], { ...moved, after: 4 })).to.equal('drop')
  })

  it('of an older process is sent while it is so', async () => {
    for (const order of [added, widened]) expect(await decide('account', [withKey], order)).to.be.an('object')
    expect(await decide('webhook', [{ ...hook, url: moved.url }], moved)).to.be.an('object')
  })
})
