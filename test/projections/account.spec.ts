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

/** The row of ann as she registered, who last changed at a position. */
const ann = (position: bigint, changed = {}) => ({
  id,
  email: 'ann@example.com',
  username: 'ann',
  status: 'active',
  registered: at(1),
  position,
  ...changed,
})

describe('the table of accounts', () => {
  it('shows an account from its registration on, without its password', () =>
    given(registered).thenRows('accounts', ann(1n)))
  it('shows a changed e-mail', () =>
    given(registered, emailChanged).thenRows('accounts', ann(2n, { email: 'bea@example.com' })))
  it('does not care for passwords', () => given(registered, passwordChanged).thenRows('accounts', ann(1n)))
  it('tells by its position that the key has changed', () =>
    given(registered, issued('a'), issued('b')).thenRows('accounts', ann(3n)))
  it('shows whether an account is disabled', () => {
    given(registered, disabled).thenRows('accounts', ann(2n, { status: 'disabled' }))
    given(registered, disabled, enabled).thenRows('accounts', ann(3n))
  })
  it('keeps nothing personal of an erased account', () =>
    given(registered, emailChanged, erased).thenRows(
      'accounts',
      ann(3n, { status: 'erased', email: null, username: null }),
    ))
  it('shows one whose personal data can no longer be opened', () => {
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
      ann(3n, { status: 'disabled' }),
      ann(2n, { id: 8, username: 'bea', registered: at(2) }),
    )
  })
})

describe('the table of API keys', () => {
  it('has the hash of an account’s one key, and when it ends', () =>
    given(registered, issued('a', at(99))).thenRows('api_keys', {
      account: id,
      key: 'a',
      hash: 'hash of a',
      expires: at(99),
      issued: at(2),
    }))
  it('has a new key in place of the old one', () =>
    given(registered, issued('a', at(99)), issued('b')).thenRows('api_keys', {
      account: id,
      key: 'b',
      hash: 'hash of b',
      expires: null,
      issued: at(3),
    }))
})
