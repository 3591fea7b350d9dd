import { expect } from 'chai'
import { account, type AccountCommand } from '../../../src/commands/accounts/account.ts'
import { fold } from '../../../src/commands/decider.ts'
import type { AccountEvent } from '../../../src/events/accounts/account.ts'
import type { Event } from '../../../src/events/index.ts'
import { allScopes } from '../../../src/events/accounts/scope.ts'
import { spec } from '../../support/given.ts'

const { given } = spec(account)
const id = 7
const now = '2030-01-01T00:00:00.000Z'
const later = '2030-06-01T00:00:00.000Z'

const registered: AccountEvent = {
  type: 'AccountRegistered',
  data: { id, email: 'ann@example.com', username: 'ann', password: 'scrypt', emailToken: 'e1', usernameToken: 'u1' },
}
const issued: AccountEvent = { type: 'ApiKeyIssued', data: { id, key: 'main', hash: 'h', expires: null } }
type Added = Extract<AccountEvent, { type: 'ApiKeyAdded' }>
const added = (number: number, key: string, fields: Partial<Added['data']> = {}): Added => ({
  type: 'ApiKeyAdded',
  data: {
    id,
    number,
    key,
    hash: 'h',
    name: key,
    scopes: ['account', 'read'],
    expires: null,
    addresses: null,
    ...fields,
  },
})
const updated = (number: number, changes: object): AccountEvent => ({
  type: 'ApiKeyUpdated',
  data: { id, number, ...changes },
})
const deleted = (number: number): AccountEvent => ({ type: 'ApiKeyDeleted', data: { id, number } })

type Command<T> = Extract<AccountCommand, { type: T }>
const add = (fields: Partial<Command<'AddKey'>> = {}): AccountCommand => ({
  type: 'AddKey',
  id,
  by: 'main',
  now,
  apiKey: { key: 'new', hash: 'h' },
  name: 'new',
  scopes: ['read'],
  ...fields,
})
const update = (number: number, changes: Command<'UpdateKey'>['changes'], by = 'main'): AccountCommand => ({
  type: 'UpdateKey',
  id,
  by,
  now,
  number,
  changes,
})
const rotate = (number: number, by = 'main', until = later): AccountCommand => ({
  type: 'RotateKey',
  holder: undefined,
  id,
  by,
  now,
  number,
  apiKey: { key: 'new', hash: 'h' },
  until,
})
const remove = (number: number): AccountCommand => ({ type: 'DeleteKey', id, number })

const ann = [registered, issued] as const
/** a key that may manage keys, but not write, not for ever, and only from one network */
const narrow = added(2, 'narrow', { expires: later, addresses: '10.0.0.0/8 2001:db8::/32' })

describe('the keys of an account', () => {
  it('are added with the next number, which is never used again', () => {
    given(...ann)
      .when(add())
      .thenEvents(added(2, 'new', { scopes: ['read'] }))
    given(...ann, added(2, 'b'), deleted(2))
      .when(add())
      .thenEvents(added(3, 'new', { scopes: ['read'] }))
  })

  it('never give more than the key that adds or changes them has', () => {
    const limits = { expires: later, addresses: '10.0.0.0/8 2001:db8::/32' }
    given(...ann, narrow)
      .when(add({ by: 'narrow' }))
      .thenEvents(added(3, 'new', { scopes: ['read'], ...limits }))
    given(...ann, narrow)
      .when(add({ by: 'narrow', scopes: ['stats:read'], expires: now.replace('00:', '01:'), addresses: '10.1.2.3' }))
      .thenEvents(
        added(3, 'new', { scopes: ['stats:read'], expires: now.replace('00:', '01:'), addresses: '10.1.2.3' }),
      )
    const excessive: Partial<Command<'AddKey'>>[] = [
      { scopes: ['read', 'links:write'] },
      { expires: null },
      { expires: '2030-06-01T00:00:01.000Z' },
      { addresses: null },
      { addresses: '10.0.0.0/7' },
      { addresses: '10.1.0.0/16 192.0.2.1' },
      { addresses: 'unreadable 10.0.0.0/7' },
    ]
    for (const fields of excessive)
      given(...ann, narrow)
        .when(add({ by: 'narrow', ...fields }))
        .thenRefused('lacks_rights')
    given(...ann, narrow)
      .when(update(2, { scopes: allScopes }, 'narrow'))
      .thenRefused('lacks_rights')
    given(...ann, narrow)
      .when(update(2, { expires: null }, 'narrow'))
      .thenRefused('lacks_rights')
    given(...ann, narrow)
      .when(update(1, { addresses: null, name: 'x' }, 'narrow'))
      .thenEvents(updated(1, { name: 'x' }))
    given(...ann, narrow)
      .when(rotate(1, 'narrow'))
      .thenRefused('lacks_rights')
    given(...ann)
      .when(add({ by: 'ended' }))
      .thenRefused('key_ended')
  })

  it('are added by an operator with any rights', () => {
    const { by: _, ...operators } = add({ scopes: allScopes }) as Command<'AddKey'>
    given(...ann, narrow)
      .when(operators)
      .thenEvents(added(3, 'new', { scopes: [...allScopes] }))
  })

  it('are not extended by a key that lacks one of their rights', () => {
    const manager = added(2, 'manager', { scopes: ['account'] })
    const bound = added(3, 'bound', { scopes: ['read', 'write'], expires: later, addresses: '10.0.0.0/8' })
    for (const changes of [{ addresses: null }, { addresses: '192.0.2.0/24' }, { expires: null }])
      given(...ann, manager, bound)
        .when(update(3, changes, 'manager'))
        .thenRefused('lacks_rights')
    const within = { addresses: '10.1.0.0/16', expires: '2030-03-01T00:00:00.000Z' }
    given(...ann, manager, bound)
      .when(update(3, within, 'manager'))
      .thenEvents(updated(3, within))
    given(...ann, manager, bound)
      .when(update(3, { addresses: null, scopes: ['account'] }, 'manager'))
      .thenEvents(updated(3, { addresses: null, scopes: ['account'] }))
    given(...ann, manager, bound)
      .when(update(3, { addresses: null }))
      .thenEvents(updated(3, { addresses: null }))
  })

  it('are refused with an end that is past', () => {
    given(...ann)
      .when(add({ expires: now }))
      .thenRefused('in_past')
    given(...ann)
      .when(update(1, { expires: now }))
      .thenRefused('in_past')
  })

  it('change only in fields that differ', () => {
    given(...ann, narrow)
      .when(update(2, { name: 'narrow', scopes: ['read'], expires: undefined }))
      .thenEvents(updated(2, { scopes: ['read'] }))
    given(...ann, narrow)
      .when(update(2, { name: 'narrow' }))
      .thenNothing()
    given(...ann)
      .when(update(2, { name: 'x' }))
      .thenRefused('not_found')
  })

  it('change alone, without the others', () => {
    const { keys } = fold(account, [...ann, narrow, updated(2, { name: 'wide' })]).keys
    expect(keys.map(({ name }) => name)).to.deep.equal(['Main key', 'wide'])
  })

  it('are restored to a revision of the account', () => {
    const command = { ...update(2, { name: 'then' }), to: 2 } as AccountCommand
    given(...ann, narrow)
      .when(command)
      .thenEvents(updated(2, { to: 2, name: 'then' }))
  })

  it('are rotated with an overlap, at once, or not later than they would have ended', () => {
    const b = added(2, 'b')
    given(...ann, b)
      .when(rotate(2))
      .thenEvents(added(3, 'new', { name: 'b', replaces: 2 }), updated(2, { expires: later }))
    given(...ann, b)
      .when(rotate(2, 'b', now))
      .thenEvents(added(3, 'new', { name: 'b', replaces: 2 }), deleted(2))
    given(...ann, narrow)
      .when(rotate(2, 'narrow', '2031-01-01T00:00:00.000Z'))
      .thenEvents(
        added(3, 'new', { ...narrow.data, number: 3, key: 'new', replaces: 2 }),
        updated(2, { expires: later }),
      )
    given(...ann, added(2, 'b', { expires: now }))
      .when(rotate(2))
      .thenRefused('key_ended')
  })

  it('end for good', () => {
    given(...ann)
      .when(remove(1))
      .thenEvents(deleted(1))
    given(...ann)
      .when(remove(2))
      .thenRefused('not_found')
  })

  it('are all replaced by a key that the operator issues, also those of older logs', () => {
    const again: AccountEvent = { type: 'ApiKeyIssued', data: { id, key: 'again', hash: 'h', expires: null } }
    const { keys, lastKey } = fold(account, [...ann, narrow, again]).keys
    expect(keys.map(({ number, key, scopes }) => [number, key, scopes])).to.deep.equal([[1, 'again', allScopes]])
    expect(lastKey).to.equal(2)
  })

  it('are at most a hundred: the one that expired first makes room', () => {
    const many = Array.from({ length: 99 }, (_, i) => added(i + 2, `key ${i}`))
    given(...ann, ...many)
      .when(add())
      .thenRefused('too_many')
    const ending = (index: number, expires: string) => {
      const { data } = many[index]!
      return added(data.number, data.key, { expires })
    }
    const expired = ending(4, '2029-01-01T00:00:00.000Z')
    given(...ann, ...many.with(4, expired))
      .when(add())
      .thenEvents(deleted(6), added(101, 'new', { scopes: ['read'] }))
    for (const [before, after] of [
      [3, 7],
      [7, 3],
    ] as const)
      given(
        ...ann,
        ...many
          .with(4, expired)
          .with(before, ending(before, '2028-01-01T00:00:00.000Z'))
          .with(after, ending(after, '2028-06-01T00:00:00.000Z')),
      )
        .when(add())
        .thenEvents(deleted(before + 2), added(101, 'new', { scopes: ['read'] }))
  })
})

describe('the rate limit of an account', () => {
  const set = (limit: number | null): Event<'AccountRateLimitSet'> => ({
    type: 'AccountRateLimitSet',
    data: { id, limit },
  })
  const command = (limit: number | null): AccountCommand => ({ type: 'SetRateLimit', id, limit })
  it('is set and goes back to the default', () => {
    given(...ann)
      .when(command(600))
      .thenEvents(set(600))
    given(...ann, set(600))
      .when(command(null))
      .thenEvents(set(null))
    given(...ann)
      .when(command(null))
      .thenNothing()
    given().when(command(600)).thenRefused('not_found')
  })
})
