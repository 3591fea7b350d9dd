import { noExclusions } from '../../../src/events/statistics/exclusions.ts'
import type { AccountEvent } from '../../../src/events/accounts/account.ts'
import { allScopes } from '../../../src/events/accounts/scope.ts'
import { accounts } from '../../../src/projections/accounts/account.ts'
import { at } from '../../support/events.ts'
import { projectionSpec } from '../../support/given.ts'

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
  team: false,
  timezone: null,
  status: 'active',
  registered: at(1),
  rate_limit: null,
  erases: null,
  exclusions: noExclusions,
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
  it('has the time at which an owner wants the account erased, until that is cancelled', () => {
    const [due, scheduled] = [at(50), { type: 'AccountErasureScheduled', data: { id, due: at(50) } }] as const
    given(registered, scheduled).thenRows('accounts', ann(2n, { erases: due }))
    given(registered, scheduled, { type: 'AccountErasureCancelled', data: { id } }).thenRows('accounts', ann(3n))
  })
  it('keeps no personal data of an erased account', () =>
    given(registered, emailChanged, erased).thenRows(
      'accounts',
      ann(3n, { status: 'erased', email: null, username: null }),
    ))
  it('has the time from which on files of the database have nothing of an erased account', () =>
    given(registered, erased, { type: 'AccountErasedOnDisk', data: { id, wal: true } }).thenRows('accounts', {
      ...ann(2n, { status: 'erased', email: null, username: null, erased_on_disk: at(3) }),
      revision: 2n,
    }))
  it('has empty fields when the personal data cannot be decrypted any more', () => {
    const sealed: AccountEvent = {
      ...registered,
      data: { ...registered.data, email: null, username: null, password: null },
    }
    given(sealed, erased).thenRows('accounts', ann(2n, { status: 'erased', email: null, username: null }))
  })
  it('has the rate limit of an account that has its own', () =>
    given(registered, { type: 'AccountRateLimitSet', data: { id, limit: 600 } }).thenRows(
      'accounts',
      ann(2n, { rate_limit: 600 }),
    ))
  it('has the time zone of an account, until it is erased', () => {
    const set: AccountEvent = { type: 'AccountTimezoneSet', data: { id, timezone: 'Asia/Kathmandu' } }
    // no process caches it
    given(registered, set).thenRows('accounts', { ...ann(1n, { timezone: 'Asia/Kathmandu' }), revision: 1n })
    given(registered, set, erased).thenRows('accounts', ann(3n, { status: 'erased', email: null, username: null }))
  })
  it('has the visits that an account excludes, until it is erased', () => {
    const exclusions = { ...noExclusions, countries: ['CA'] }
    const set: AccountEvent = { type: 'AccountExclusionsSet', data: { id, exclusions } }
    given(registered, set).thenRows('accounts', ann(2n, { exclusions }))
    given(registered, set, erased).thenRows('accounts', ann(3n, { status: 'erased', email: null, username: null }))
  })
  it('counts changes outside of the table in the revision only', () => {
    const events: readonly AccountEvent[] = [
      { type: 'SecondFactorAdded', data: { id, secret: 's', recoveryHashes: 'a b' } },
      { type: 'RecoveryCodeUsed', data: { id, hash: 'a' } },
      { type: 'SecondFactorRemoved', data: { id } },
      { type: 'AccountOperatorMarked', data: { id } },
      { type: 'AccountOperatorUnmarked', data: { id } },
    ]
    for (const event of events) given(registered, event).thenRows('accounts', ann(1n, { revision: 1n }))
  })
  it('has the revision and the position of a change to a key', () => {
    const key = { number: 2, key: 'k', hash: 'h', name: 'n', scopes: ['read'], expires: null, addresses: null } as const
    const events: readonly AccountEvent[] = [
      { type: 'ApiKeyAdded', data: { id, ...key, scopes: [...key.scopes] } },
      { type: 'ApiKeyUpdated', data: { id, number: 1, name: 'x' } },
      { type: 'ApiKeyDeleted', data: { id, number: 1 } },
    ]
    for (const event of events) given(registered, issued('a'), event).thenRows('accounts', ann(3n))
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

describe('the table of accounts that cannot be entered', () => {
  const deactivated: AccountEvent = { type: 'AccountDeactivated', data: { id } }
  const reactivated: AccountEvent = { type: 'AccountReactivated', data: { id } }

  it('has an account until access is given back', () => {
    given(registered, deactivated).thenRows('deactivated', { account: id, ended: at(2) })
    given(registered, deactivated, reactivated).thenRows('deactivated')
    // processes cache its keys
    given(registered, deactivated).thenRows('accounts', ann(2n))
  })
})

describe('the table of API keys', () => {
  const main = (key: string, fields: object) => ({
    account: id,
    number: 1,
    key,
    hash: `hash of ${key}`,
    name: 'Main key',
    scopes: allScopes,
    expires: null,
    addresses: null,
    ...fields,
  })
  const added: AccountEvent = {
    type: 'ApiKeyAdded',
    data: {
      id,
      number: 2,
      key: 'k',
      hash: 'h',
      name: 'import',
      scopes: ['read'],
      expires: null,
      addresses: '10.0.0.0/8',
      replaces: 1,
    },
  }
  it('has the hash and the expiry of an account’s key', () =>
    given(registered, issued('a', at(99))).thenRows('api_keys', main('a', { expires: at(99), issued: at(2) })))
  it('replaces the old key by a new one', () =>
    given(registered, issued('a', at(99)), issued('b')).thenRows('api_keys', main('b', { issued: at(3) })))
  it('replaces all keys by one that an operator issues', () =>
    given(registered, issued('a'), added, issued('b')).thenRows('api_keys', main('b', { issued: at(4) })))
  it('keeps the keys of other accounts', () => {
    const other = (event: AccountEvent): AccountEvent => ({ ...event, data: { ...event.data, id: 8 } }) as AccountEvent
    const theirs = main('a', { account: 8, issued: at(3) })
    given(registered, other(registered), other(issued('a')), issued('a'), issued('b')).thenRows(
      'api_keys',
      theirs,
      main('b', { issued: at(5) }),
    )
    given(registered, other(registered), other(issued('a')), issued('a'), erased).thenRows('api_keys', theirs)
  })
  it('changes the key that an event names, and no other', () => {
    const row = { account: id, number: 2, key: 'k', hash: 'h', name: 'import', scopes: ['read'], issued: at(3) }
    given(registered, issued('a'), added, { type: 'ApiKeyUpdated', data: { id, number: 1, name: 'x' } }).thenRows(
      'api_keys',
      main('a', { name: 'x', issued: at(2) }),
      { ...row, addresses: '10.0.0.0/8', expires: null },
    )
  })
  it('has each key that is added, as it was changed, until it ends', () => {
    const changed: AccountEvent = { type: 'ApiKeyUpdated', data: { id, number: 2, name: 'shop', scopes: ['write'] } }
    const ended: AccountEvent = { type: 'ApiKeyDeleted', data: { id, number: 1 } }
    const row = { account: id, number: 2, key: 'k', hash: 'h', addresses: '10.0.0.0/8', expires: null, issued: at(3) }
    given(registered, issued('a'), added, changed, ended).thenRows('api_keys', {
      ...row,
      name: 'shop',
      scopes: ['write'],
    })
  })
  it('has no key of an erased account', () => given(registered, issued('a'), added, erased).thenRows('api_keys'))
})
