import type { AccountEvent } from '../../src/events/account.ts'
import { accounts } from '../../src/projections/account.ts'
import { at } from '../support/events.ts'
import { projectionSpec } from '../support/given.ts'

const { given } = projectionSpec(accounts)
const id = 7
const registered: AccountEvent = {
  type: 'AccountRegistered',
  data: { id, email: 'ann@example.com', username: 'ann', password: 'scrypt', emailToken: 'e1', usernameToken: 'u1' },
}
const issued = (key: string, expires: string | null = null): AccountEvent => ({
  type: 'ApiKeyIssued',
  data: { id, key, hash: `hash of ${key}`, expires },
})
const disabled: AccountEvent = { type: 'AccountDisabled', data: { id } }
const enabled: AccountEvent = { type: 'AccountEnabled', data: { id } }
const erased: AccountEvent = { type: 'AccountErased', data: { id } }
const emailChanged: AccountEvent = {
  type: 'AccountEmailChanged',
  data: { id, email: 'bea@example.com', emailToken: 'e2' },
}
const passwordChanged: AccountEvent = { type: 'AccountPasswordChanged', data: { id, password: 'scrypt 2' } }

/** Returns the row of ann's account, last changed at a position. */
const ann = (position: bigint, changed = {}) => ({
  id,
  email: 'ann@example.com',
  username: 'ann',
  status: 'active',
  registered: at(1),
  revision: position - 1n,
  position,
  ...changed,
})

describe('the table of accounts', () => {
  it('has a row without password for a registered account', () => given(registered).thenRows('accounts', ann(1n)))
  it('has the changed e-mail', () =>
    given(registered, emailChanged).thenRows('accounts', ann(2n, { email: 'bea@example.com' })))
  it('counts a password change in the revision only', () =>
    given(registered, passwordChanged).thenRows('accounts', ann(1n, { revision: 1n })))
  it('advances the position when the key changes', () =>
    given(registered, issued('a'), issued('b')).thenRows('accounts', ann(3n)))
  it('has the status of a disabled account', () => {
    given(registered, disabled).thenRows('accounts', ann(2n, { status: 'disabled' }))
    given(registered, disabled, enabled).thenRows('accounts', ann(3n))
  })
  it('keeps no personal data of an erased account', () =>
    given(registered, emailChanged, erased).thenRows(
      'accounts',
      ann(3n, { status: 'erased', email: null, username: null }),
    ))
  it('has empty fields when the personal data cannot be decrypted any more', () => {
    const sealed: AccountEvent = {
      ...registered,
      data: { ...registered.data, email: null, username: null, password: null },
    }
    given(sealed, erased).thenRows('accounts', ann(2n, { status: 'erased', email: null, username: null }))
  })
  it('has a row for each account', () => {
    const bea: AccountEvent = { ...registered, data: { ...registered.data, id: 8, username: 'bea' } }
    given(registered, bea, disabled).thenRows(
      'accounts',
      ann(3n, { status: 'disabled', revision: 1n }),
      ann(2n, { id: 8, username: 'bea', registered: at(2), revision: 0n }),
    )
  })
})

describe('the table of API keys', () => {
  it('has the hash and the expiry of an account’s key', () =>
    given(registered, issued('a', at(99))).thenRows('api_keys', {
      account: id,
      key: 'a',
      hash: 'hash of a',
      expires: at(99),
      issued: at(2),
    }))
  it('replaces the old key by a new one', () =>
    given(registered, issued('a', at(99)), issued('b')).thenRows('api_keys', {
      account: id,
      key: 'b',
      hash: 'hash of b',
      expires: null,
      issued: at(3),
    }))
})
