import { expect } from 'chai'
import { account } from '../../../src/commands/accounts/account.ts'
import { requireCredential } from '../../../src/commands/accounts/credential.ts'
import { Refused } from '../../../src/commands/decider.ts'
import type { AccountEvent } from '../../../src/events/accounts/account.ts'
import { linkCredential } from '../../../src/security/credential.ts'
import { spec } from '../../support/given.ts'

const { given } = spec(account)
const id = 7
const identity = (n: number) => ({
  issuer: 'https://id.example.com',
  subject: `s${n}`,
  name: null,
  identityKey: `k${n}`,
  identityToken: `t${n}`,
})
const added = (n: number): AccountEvent => {
  const { identityKey: _, ...rest } = identity(n)
  return { type: 'IdentityAdded', data: { id, number: n, ...rest } }
}
const email = { email: 'ann@example.com', emailKey: 'e', emailToken: 'e1' }
const username = { username: 'ann', usernameKey: 'u', usernameToken: 'u1' }
const register = { type: 'RegisterByIdentity', id, ...username, email, identity: identity(1) } as const
const registered: AccountEvent = {
  type: 'AccountRegisteredByIdentity',
  data: { id, email: 'ann@example.com', username: 'ann', emailToken: 'e1', usernameToken: 'u1' },
}
const byIdentity = [registered, added(1)]
const byPassword: AccountEvent = {
  type: 'AccountRegistered',
  data: { id, email: 'ann@example.com', username: 'ann', password: 'hash', emailToken: 'e1', usernameToken: 'u1' },
}

describe('an account that a sign-in makes', () => {
  it('has an identity, no password and no key, and an address only if the issuer names one', () => {
    given()
      .when(register)
      .thenEvents(...byIdentity)
    given()
      .when({ ...register, email: undefined })
      .thenEvents(
        { type: 'AccountRegisteredByIdentity', data: { ...registered.data, email: null, emailToken: null } as never },
        added(1),
      )
    given(byPassword, { type: 'AccountErased', data: { id } }).when(register).thenRefused('id_in_use')
  })

  it('claims its identity first, so that a person who signs in twice at once gets one account', () => {
    const claims = account.claims?.(register, byIdentity, account.initialState) ?? []
    expect(claims.map(({ kind, token }) => [kind, token])).to.deep.equal([
      ['identity', 't1'],
      ['email', 'e1'],
      ['username', 'u1'],
    ])
  })

  it('leaves the first number of keys to the key of a registration', () => {
    const state = byIdentity.reduce(account.evolve, account.initialState)
    expect(state.keys).to.deep.equal({ keys: [], lastKey: 1 })
    expect(state.tokens.held).to.deep.equal({ username: 'u1', email: 'e1', 'identity 1': 't1' })
  })
})

describe('the identities of an account', () => {
  const add = (n: number) => ({ type: 'AddIdentity', id, identity: identity(n) }) as const
  const remove = (number: number) => ({ type: 'RemoveIdentity', id, number }) as const
  const removed = (number: number): AccountEvent => ({ type: 'IdentityRemoved', data: { id, number } })

  it('are added once each, ten at most, and only while the account works', () => {
    given(byPassword).when(add(1)).thenEvents(added(1))
    given(...byIdentity)
      .when({ ...add(1), identity: { ...identity(1), identityToken: 'another' } })
      .thenNothing()
    given(byPassword, ...Array.from({ length: 10 }, (_, i) => added(i + 1)))
      .when(add(11))
      .thenRefused('too_many')
    given(byPassword, { type: 'AccountDisabled', data: { id } }).when(add(1)).thenRefused('account_disabled')
    given(byPassword, { type: 'ClaimFenced', data: { token: 't1' } })
      .when(add(1))
      .thenRefused('taken')
  })

  it('have numbers that are never given again', () => {
    given(...byIdentity, added(2), removed(2))
      .when(add(3))
      .thenEvents(added(3))
  })

  it('are removed, but by its owner never the last way to sign in', () => {
    given(byPassword, added(1)).when(remove(1)).thenEvents(removed(1))
    given(...byIdentity)
      .when(remove(1))
      .thenRefused('last_identity')
    given(...byIdentity)
      .when({ ...remove(1), by: 'operator' })
      .thenEvents(removed(1))
    given(...byIdentity)
      .when(remove(2))
      .thenRefused('not_found')
  })

  it('are free for others once they are removed, or the account is erased', () => {
    const fold = (...events: readonly AccountEvent[]) => events.reduce(account.evolve, account.initialState)
    expect(fold(byPassword, added(1), removed(1)).tokens).to.deep.include({ spent: ['t1'] })
    const { tokens } = fold(...byIdentity, added(2), { type: 'AccountErased', data: { id } })
    expect([tokens.held, [...tokens.spent].sort()]).to.deep.equal([{}, ['e1', 't1', 't2', 'u1']])
  })
})

describe('the credential of a sign-in', () => {
  const now = { password: 'hash', identities: [{ token: 't1' }], passkeys: [{ token: 'p1' }] }
  const refusal = (credential: Parameters<typeof requireCredential>[0], state: typeof now) => {
    try {
      requireCredential(credential)(state)
      return undefined
    } catch (error) {
      return error instanceof Refused ? error.what : error
    }
  }

  it('is refused once the account no longer has it', () => {
    const link = linkCredential(now)
    const identity = { kind: 'identity', token: 't1' } as const
    const passkey = { kind: 'passkey', token: 'p1' } as const
    const password = { kind: 'password', hash: 'hash' } as const
    for (const credential of [link, identity, passkey, password]) expect(refusal(credential, now)).to.equal(undefined)
    expect(refusal(password, { ...now, password: 'other' })).to.equal('changed')
    expect(refusal(identity, { ...now, identities: [] })).to.equal('identity')
    expect(refusal(passkey, { ...now, passkeys: [] })).to.equal('passkey')
    expect(refusal(link, { ...now, passkeys: [] })).to.equal('identity')
    expect(refusal(link, { ...now, password: 'other' })).to.equal('identity')
    expect(refusal(link, { ...now, identities: [] })).to.equal('identity')
  })
})
