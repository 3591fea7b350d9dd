import { account } from '../../../src/commands/accounts/account.ts'
import type { AccountEvent } from '../../../src/events/accounts/account.ts'
import { spec } from '../../support/given.ts'

const { given } = spec(account)
const id = 7
const passkey = (n: number) => ({
  name: `Phone ${n}`,
  credential: `c${n}`,
  publicKey: `k${n}`,
  added: '2026-11-29T12:00:00.000Z',
  passkeyKey: `h${n}`,
  passkeyToken: `p${n}`,
})
const added = (n: number, number = n): AccountEvent => {
  const { passkeyKey: _, ...rest } = passkey(n)
  return { type: 'PasskeyAdded', data: { id, number, ...rest } }
}
const names = { email: 'ann@example.com', username: 'ann', emailToken: 'e1', usernameToken: 'u1' }
const withPassword: AccountEvent = { type: 'AccountRegistered', data: { id, ...names, password: 'hash' } }
const identity = { id, number: 1, issuer: 'https://id.example.com', subject: 's', name: null, identityToken: 't1' }
const byIdentity: readonly AccountEvent[] = [
  { type: 'AccountRegisteredByIdentity', data: { id, ...names } },
  { type: 'IdentityAdded', data: identity },
]
const removed = (number: number): AccountEvent => ({ type: 'PasskeyRemoved', data: { id, number } })
const unlinked: AccountEvent = { type: 'IdentityRemoved', data: { id, number: 1 } }

describe('the passkeys of an account', () => {
  it('have numbers that are never given again, and names', () => {
    given(withPassword)
      .when({ type: 'AddPasskey', id, passkey: passkey(1) })
      .thenEvents(added(1))
    given(withPassword, added(1), removed(1))
      .when({ type: 'AddPasskey', id, passkey: passkey(2) })
      .thenEvents(added(2, 2))
    given(withPassword, added(1))
      .when({ type: 'RenamePasskey', id, number: 1, name: 'Key ring' })
      .thenEvents({ type: 'PasskeyRenamed', data: { id, number: 1, name: 'Key ring' } })
    given(withPassword, added(1), removed(1))
      .when({ type: 'RenamePasskey', id, number: 1, name: 'Key ring' })
      .thenRefused('not_found')
  })

  it('are at most 20', () => {
    const all = Array.from({ length: 20 }, (_, i) => added(i + 1))
    given(withPassword, ...all)
      .when({ type: 'AddPasskey', id, passkey: passkey(21) })
      .thenRefused('too_many')
  })

  it('stay while the last one is the only way to sign in, unless an operator removes it', () => {
    const remove = { type: 'RemovePasskey', id, number: 1 } as const
    given(withPassword, added(1)).when(remove).thenEvents(removed(1))
    given(...byIdentity, added(1))
      .when(remove)
      .thenEvents(removed(1))
    const alone = [...byIdentity, added(1), unlinked]
    given(...alone)
      .when(remove)
      .thenRefused('last_identity')
    given(...alone, added(2))
      .when(remove)
      .thenEvents(removed(1))
    given(...alone)
      .when({ ...remove, by: 'operator' })
      .thenEvents(removed(1))
    // where passwords are turned off, one is no way to sign in
    given(withPassword, added(1))
      .when({ ...remove, withoutPasswords: true })
      .thenRefused('last_identity')
  })

  it('let an identity go that is the last one', () => {
    const unlink = { type: 'RemoveIdentity', id, number: 1 } as const
    given(...byIdentity)
      .when(unlink)
      .thenRefused('last_identity')
    given(...byIdentity, added(1))
      .when(unlink)
      .thenEvents(unlinked)
  })

  it('go with the account', () => {
    given(withPassword, added(1), added(2)).when({ type: 'EraseAccount', id }).thenEvents({
      type: 'AccountErased',
      data: { id },
    })
    given(withPassword)
      .when({ type: 'AddPasskey', id, passkey: passkey(1) })
      .thenClaims({ kind: 'passkey', name: 'h1', token: 'p1' })
  })
})
