import { expect } from 'chai'
import { account, type AccountCommand } from '../../../src/commands/accounts/account.ts'
import { fold } from '../../../src/commands/decider.ts'
import { noExclusions } from '../../../src/events/statistics/exclusions.ts'
import type { AccountEvent } from '../../../src/events/accounts/account.ts'
import { allScopes } from '../../../src/events/accounts/scope.ts'
import type { Event } from '../../../src/events/index.ts'
import { spec } from '../../support/given.ts'

const { given } = spec(account)
const id = 7
const apiKey = { key: 'abc', hash: 'h', expires: null }
const main = { number: 1, name: 'Main key', ...apiKey, scopes: allScopes, addresses: null }

const register: Extract<AccountCommand, { type: 'RegisterAccount' }> = {
  type: 'RegisterAccount',
  id,
  email: 'ann@example.com',
  emailKey: 'keyed-email',
  emailToken: 'e1',
  username: 'ann',
  usernameKey: 'keyed-name',
  usernameToken: 'u1',
  password: 'scrypt',
  apiKey,
}
const newEmail = { email: 'bea@example.com', emailKey: 'keyed-bea', emailToken: 'e2' }
const update = (wish: { email?: typeof newEmail; password?: string }): AccountCommand => ({
  type: 'UpdateAccount',
  id,
  ...wish,
})
const disable: AccountCommand = { type: 'DisableAccount', id }
const enable: AccountCommand = { type: 'EnableAccount', id }
const erase: AccountCommand = { type: 'EraseAccount', id }
const issue = (key: string): AccountCommand => ({ type: 'IssueKey', id, apiKey: { ...apiKey, key } })

type E = AccountEvent | Event<'ClaimFenced'>
const registered: E = {
  type: 'AccountRegistered',
  data: { id, email: 'ann@example.com', username: 'ann', password: 'scrypt', emailToken: 'e1', usernameToken: 'u1' },
}
const issued = (key: string): E => ({ type: 'ApiKeyIssued', data: { id, ...apiKey, key } })
const emailChanged: E = { type: 'AccountEmailChanged', data: { id, email: 'bea@example.com', emailToken: 'e2' } }
const passwordChanged: E = { type: 'AccountPasswordChanged', data: { id, password: 'scrypt 2' } }
const disabled: E = { type: 'AccountDisabled', data: { id } }
const enabled: E = { type: 'AccountEnabled', data: { id } }
const erased: E = { type: 'AccountErased', data: { id } }
const fenced = (token: string): E => ({ type: 'ClaimFenced', data: { token } })

const ann = [registered, issued('abc')] as const

describe('registering an account', () => {
  it('records the account and its key, but not the names of the claims', () => {
    given()
      .when(register)
      .thenEvents(...ann)
  })
  it('claims the e-mail and the username', () => {
    given()
      .when(register)
      .thenClaims(
        { kind: 'email', name: 'keyed-email', token: 'e1' },
        { kind: 'username', name: 'keyed-name', token: 'u1' },
      )
    given(...ann)
      .when(register)
      .thenClaims()
  })
  it('refuses an id that is in use or was fenced off', () => {
    const another = { ...register, emailToken: 'other' }
    given(...ann)
      .when(another)
      .thenRefused('id_in_use')
    given(...ann, erased)
      .when(another)
      .thenRefused('id_in_use')
    given(...ann, erased)
      .when(register)
      .thenRefused('id_in_use')
    given(fenced('e1')).when(register).thenRefused('id_in_use')
  })
})

describe('updating an account', () => {
  it('changes and claims the e-mail', () => {
    given(...ann)
      .when(update({ email: newEmail }))
      .thenEvents(emailChanged)
    for (const password of [{}, { password: 'scrypt 2' }])
      given(...ann)
        .when(update({ email: newEmail, ...password }))
        .thenClaims({ kind: 'email', name: 'keyed-bea', token: 'e2' })
  })
  it('changes the password without claiming anything', () => {
    given(...ann)
      .when(update({ password: 'scrypt 2' }))
      .thenEvents(passwordChanged)
    given(...ann)
      .when(update({ password: 'scrypt 2' }))
      .thenClaims()
  })
  it('changes e-mail and password, or only the one that differs', () => {
    given(...ann)
      .when(update({ email: newEmail, password: 'scrypt 2' }))
      .thenEvents(emailChanged, passwordChanged)
    given(...ann, passwordChanged)
      .when(update({ email: newEmail, password: 'scrypt 2' }))
      .thenEvents(emailChanged)
    const same = { ...newEmail, email: 'ann@example.com' }
    given(...ann)
      .when(update({ email: same, password: 'scrypt' }))
      .thenNothing()
    given(...ann)
      .when(update({ email: same, password: 'scrypt 2' }))
      .thenClaims()
  })
  it('refuses a token that was fenced off', () => {
    given(...ann, fenced('e2'))
      .when(update({ email: newEmail }))
      .thenRefused('taken', 'email')
    given(...ann, fenced('e2'))
      .when(update({ password: 'scrypt 2' }))
      .thenEvents(passwordChanged)
  })
  it('is refused for a disabled account, and returns not_found for a missing or erased one', () => {
    given(...ann, disabled)
      .when(update({ password: 'scrypt 2' }))
      .thenRefused('account_disabled')
    given(...ann, disabled, enabled)
      .when(update({ password: 'scrypt 2' }))
      .thenEvents(passwordChanged)
    given()
      .when(update({ password: 'scrypt 2' }))
      .thenRefused('not_found')
    given(...ann, erased)
      .when(update({ password: 'scrypt 2' }))
      .thenRefused('not_found')
  })
})

describe('issuing a new API key', () => {
  it('replaces the old key, also for a disabled account', () => {
    given(...ann)
      .when(issue('new'))
      .thenEvents(issued('new'))
    given(...ann, issued('new'))
      .when(issue('abc'))
      .thenEvents(issued('abc'))
    given(...ann, disabled)
      .when(issue('new'))
      .thenEvents(issued('new'))
    expect(fold(account, [...ann, issued('new')]).keys.keys).to.deep.equal([{ ...main, key: 'new' }])
  })
  it('emits no event when the account already has this key among others', () => {
    given(...ann)
      .when(issue('abc'))
      .thenNothing()
    const second = { ...main, number: 2, key: 'second', name: 'Second', scopes: [...allScopes] }
    given(...ann, { type: 'ApiKeyAdded', data: { id, ...second } })
      .when(issue('abc'))
      .thenNothing()
    given(...ann)
      .when(issue('new'))
      .thenClaims()
  })
  it('returns not_found for a missing or erased account', () => {
    given().when(issue('new')).thenRefused('not_found')
    given(...ann, erased)
      .when(issue('new'))
      .thenRefused('not_found')
  })
})

describe('disabling and enabling an account', () => {
  it('alternates between the two states', () => {
    given(...ann)
      .when(disable)
      .thenEvents(disabled)
    given(...ann, disabled)
      .when(enable)
      .thenEvents(enabled)
    given(...ann, disabled, enabled)
      .when(disable)
      .thenEvents(disabled)
  })
  it('emits no event when nothing changes', () => {
    given(...ann)
      .when(enable)
      .thenNothing()
    given(...ann, disabled)
      .when(disable)
      .thenNothing()
  })
  it('returns not_found for a missing or erased account', () => {
    for (const command of [disable, enable]) {
      given().when(command).thenRefused('not_found')
      given(...ann, erased)
        .when(command)
        .thenRefused('not_found')
    }
  })
})

describe('the time zone of an account', () => {
  const set = (timezone: string): AccountEvent => ({ type: 'AccountTimezoneSet', data: { id, timezone } })

  it('is UTC until another one is set', () => {
    given(...ann)
      .when({ type: 'UpdateAccount', id, timezone: 'UTC' })
      .thenNothing()
    given(...ann)
      .when({ type: 'UpdateAccount', id, timezone: 'Europe/Berlin' })
      .thenEvents(set('Europe/Berlin'))
    given(...ann, set('Europe/Berlin'))
      .when({ type: 'UpdateAccount', id, timezone: 'Europe/Berlin' })
      .thenNothing()
    given(...ann, set('Europe/Berlin'))
      .when({ type: 'UpdateAccount', id, timezone: 'UTC' })
      .thenEvents(set('UTC'))
  })
})

describe('the access to an account', () => {
  const deactivated: AccountEvent = { type: 'AccountDeactivated', data: { id } }
  const reactivated: AccountEvent = { type: 'AccountReactivated', data: { id } }
  const deactivate = { type: 'DeactivateAccount', id } as const
  const reactivate = { type: 'ReactivateAccount', id } as const

  it('is ended by a directory, once, and given back', () => {
    given(...ann)
      .when(deactivate)
      .thenEvents(deactivated)
    given(...ann, deactivated)
      .when(deactivate)
      .thenNothing()
    given(...ann, deactivated)
      .when(reactivate)
      .thenEvents(reactivated)
    given(...ann)
      .when(reactivate)
      .thenNothing()
    given(...ann, deactivated, erased)
      .when(reactivate)
      .thenRefused('not_found')
  })
})

describe('the visits that an account excludes from its clicks', () => {
  const exclude = (changes: Extract<AccountCommand, { type: 'SetExclusions' }>['changes']): AccountCommand => ({
    type: 'SetExclusions',
    id,
    changes,
  })
  const own = { ...noExclusions, countries: ['CA'] }
  const set = (exclusions: typeof own, more: { to?: number } = {}): AccountEvent => ({
    type: 'AccountExclusionsSet',
    data: { id, exclusions, ...more },
  })

  it('are changed one list at a time', () => {
    given(...ann)
      .when(exclude({ countries: ['CA'] }))
      .thenEvents(set(own))
    given(...ann, set(own))
      .when(exclude({ hours: [3], countries: undefined }))
      .thenEvents(set({ ...own, hours: [3] }))
    given(...ann)
      .when(exclude({ countries: [] }))
      .thenNothing()
  })
  it('are set back as a whole, to those of an earlier revision', () => {
    given(...ann, set(own))
      .when({ type: 'UpdateAccount', id, exclusions: noExclusions, to: 1 })
      .thenEvents(set(noExclusions, { to: 1 }))
    given(...ann, set(own))
      .when({ type: 'UpdateAccount', id, exclusions: own, to: 2 })
      .thenNothing()
  })
  it('stay as they are while the account is disabled', () => {
    given(...ann, disabled)
      .when(exclude({ countries: ['CA'] }))
      .thenRefused('account_disabled')
  })
})

describe('an account of an operator', () => {
  const mark = { type: 'MarkOperator', id } as const
  const unmark = { type: 'UnmarkOperator', id } as const
  const marked: AccountEvent = { type: 'AccountOperatorMarked', data: { id } }
  const unmarked: AccountEvent = { type: 'AccountOperatorUnmarked', data: { id } }

  it('is marked and unmarked, each once', () => {
    given(...ann)
      .when(mark)
      .thenEvents(marked)
    given(...ann, marked)
      .when(mark)
      .thenNothing()
    given(...ann, marked)
      .when(unmark)
      .thenEvents(unmarked)
    given(...ann, marked, unmarked)
      .when(unmark)
      .thenNothing()
  })
  it('has the mark of its groups besides the one by hand, each of which ends by itself', () => {
    const manage = (managed: boolean) => ({ type: 'ManageOperator', id, managed }) as const
    const managed = (is: boolean): AccountEvent => ({ type: 'AccountOperatorManaged', data: { id, managed: is } })
    const isOperator = (...events: readonly AccountEvent[]) =>
      [...ann, ...events].reduce(account.evolve, account.initialState).operator
    given(...ann)
      .when(manage(true))
      .thenEvents(managed(true))
    given(...ann, managed(true))
      .when(manage(false))
      .thenEvents(managed(false))
    given(...ann)
      .when(manage(false))
      .thenNothing()
    given(...ann, managed(true))
      .when(mark)
      .thenEvents(marked)
    given(...ann, managed(true))
      .when(unmark)
      .thenNothing()
    given(...ann, marked)
      .when(manage(false))
      .thenNothing()
    expect(isOperator(managed(true))).to.equal(true)
    expect(isOperator(marked, managed(true), managed(false))).to.equal(true)
    expect(isOperator(marked, managed(true), unmarked)).to.equal(true)
    expect(isOperator(managed(true), managed(false))).to.equal(false)
    given(...ann, disabled)
      .when(manage(true))
      .thenRefused('account_disabled')
    given(...ann, managed(true), disabled)
      .when(manage(false))
      .thenEvents(managed(false))
    given(...ann, erased)
      .when(manage(false))
      .thenNothing()
  })
  it('is none by its groups while an e-mail address was enough to enter it', () => {
    const manage = { type: 'ManageOperator', id, managed: true } as const
    const names = { issuer: 'https://id.example.com', subject: 'ann', name: 'Ann' }
    const added = (byEmail?: true): AccountEvent => ({
      type: 'IdentityAdded',
      data: { id, number: 1, ...names, identityToken: 't', ...(byEmail && { byEmail }) },
    })
    const managed: AccountEvent = { type: 'AccountOperatorManaged', data: { id, managed: true } }
    given(...ann, added(true))
      .when(manage)
      .thenNothing()
    given(...ann, added())
      .when(manage)
      .thenEvents(managed)
    given(...ann, added(true), { type: 'IdentityRemoved', data: { id, number: 1 } })
      .when(manage)
      .thenEvents(managed)
  })
  it('is not one that is missing, disabled or erased', () => {
    given().when(mark).thenRefused('not_found')
    given(...ann, disabled)
      .when(mark)
      .thenRefused('account_disabled')
    given(...ann, marked, erased)
      .when(unmark)
      .thenRefused('not_found')
  })
})

describe('erasing an account', () => {
  it('is final for active and disabled accounts', () => {
    given(...ann)
      .when(erase)
      .thenEvents(erased)
    given(...ann, disabled)
      .when(erase)
      .thenEvents(erased)
  })
  it('returns not_found for a missing or erased account', () => {
    given().when(erase).thenRefused('not_found')
    given(...ann, erased)
      .when(erase)
      .thenRefused('not_found')
  })
  it('is noted once when no file of the database has anything of the account, and not before', () => {
    const note = { type: 'NoteErasedOnDisk', id, wal: true } as const
    const noted: AccountEvent = { type: 'AccountErasedOnDisk', data: { id, wal: true } }
    given(...ann)
      .when(note)
      .thenNothing()
    given(...ann, erased)
      .when(note)
      .thenEvents(noted)
    given(...ann, erased, noted)
      .when(note)
      .thenNothing()
  })
  it('leaves nothing in the state but the tokens of released names', () => {
    expect(fold(account, [...ann, emailChanged, fenced('x'), erased])).to.deep.equal({
      status: 'erased',
      email: null,
      username: null,
      password: null,
      timezone: null,
      keys: { keys: [], lastKey: 0 },
      secondFactor: null,
      identities: [],
      lastIdentity: 0,
      passkeys: [],
      lastPasskey: 0,
      rateLimit: null,
      erases: null,
      exclusions: noExclusions,
      operator: false,
      marks: { byHand: false, byGroups: false },
      deactivated: false,
      isTeam: false,
      erasedOnDisk: false,
      tokens: { held: {}, spent: ['e1', 'e2', 'u1'], fenced: ['x'] },
    })
  })
})

describe('an account that its owner wants erased', () => {
  const [due, later] = ['2030-01-08T00:00:00.000Z', '2030-02-01T00:00:00.000Z']
  const schedule: AccountCommand = { type: 'ScheduleErasure', id, due }
  const carryOut = (now: string): AccountCommand => ({ type: 'CarryOutErasure', id, now })
  const scheduled = { type: 'AccountErasureScheduled', data: { id, due } } as const
  const cancelled = { type: 'AccountErasureCancelled', data: { id } } as const

  it('is erased at the time of the first request', () => {
    given(...ann)
      .when(schedule)
      .thenEvents(scheduled)
    given(...ann, scheduled)
      .when({ type: 'ScheduleErasure', id, due: later })
      .thenNothing()
    given(...ann, scheduled)
      .when(carryOut('2030-01-07T23:59:59.999Z'))
      .thenNothing()
    given(...ann, scheduled)
      .when(carryOut(due))
      .thenEvents(erased)
    given(...ann, scheduled, erased)
      .when(carryOut(later))
      .thenNothing()
  })
  it('is no longer erased after a change of the password of the request, or after adding a second factor', () => {
    const factor = { type: 'AddSecondFactor', id, secret: 'S', recovery: ['r'] } as const
    const added = { type: 'SecondFactorAdded', data: { id, secret: 'S', recoveryHashes: 'r' } } as const
    const removed = { type: 'SecondFactorRemoved', data: { id } } as const
    given(...ann, scheduled)
      .when({ type: 'UpdateAccount', id, password: 'new' })
      .thenEvents({ type: 'AccountPasswordChanged', data: { id, password: 'new' } }, cancelled)
    given(...ann, scheduled)
      .when(factor)
      .thenEvents(added, cancelled)
    given(...ann, added, scheduled)
      .when({ type: 'RemoveSecondFactor', id })
      .thenEvents(removed)
    given(...ann, scheduled)
      .when({ type: 'UpdateAccount', id, timezone: 'Europe/Berlin' })
      .thenEvents({ type: 'AccountTimezoneSet', data: { id, timezone: 'Europe/Berlin' } })
  })
  it('is kept when that was cancelled', () => {
    given(...ann, scheduled)
      .when({ type: 'CancelErasure', id })
      .thenEvents(cancelled)
    given(...ann)
      .when({ type: 'CancelErasure', id })
      .thenNothing()
    given(...ann, scheduled, cancelled)
      .when(carryOut(later))
      .thenNothing()
    given(...ann, scheduled, erased)
      .when({ type: 'CancelErasure', id })
      .thenRefused('not_found')
  })
})

describe('the state of an account', () => {
  it('follows from its events', () => {
    const state = fold(account, [...ann, emailChanged, passwordChanged])
    expect(state).to.deep.equal({
      status: 'active',
      email: 'bea@example.com',
      username: 'ann',
      password: 'scrypt 2',
      timezone: null,
      keys: { keys: [main], lastKey: 1 },
      secondFactor: null,
      identities: [],
      lastIdentity: 0,
      passkeys: [],
      lastPasskey: 0,
      rateLimit: null,
      erases: null,
      exclusions: noExclusions,
      operator: false,
      marks: { byHand: false, byGroups: false },
      deactivated: false,
      isTeam: false,
      erasedOnDisk: false,
      tokens: { held: { email: 'e2', username: 'u1' }, spent: ['e1'], fenced: [] },
    })
  })
})

describe('the second factor of an account', () => {
  const add = { type: 'AddSecondFactor', id, secret: 'JBSW', recovery: ['a', 'b'] } as const
  const factorAdded: AccountEvent = { type: 'SecondFactorAdded', data: { id, secret: 'JBSW', recoveryHashes: 'a b' } }
  const used: AccountEvent = { type: 'RecoveryCodeUsed', data: { id, hash: 'a' } }

  it('is added, and its recovery codes work once each', () => {
    expect(fold(account, [...ann, factorAdded]).secondFactor).to.deep.equal({ secret: 'JBSW', recovery: ['a', 'b'] })
    const use = { type: 'UseRecoveryCode', id, hash: 'a' } as const
    expect(account.decide(use, fold(account, [...ann, factorAdded]))).to.deep.equal([used])
    given(...ann, factorAdded, used)
      .when(use)
      .thenRefused('wrong_code')
    expect(fold(account, [...ann, factorAdded, used]).secondFactor).to.deep.equal({ secret: 'JBSW', recovery: ['b'] })
    given(...ann)
      .when(use)
      .thenRefused('wrong_code')
  })
  it('is replaced by another one', () => {
    given(...ann, factorAdded, used)
      .when({ ...add, secret: 'KBSW' })
      .thenEvents({ type: 'SecondFactorAdded', data: { id, secret: 'KBSW', recoveryHashes: 'a b' } })
  })
  it('is added again with other recovery codes, but not with the same', () => {
    given(...ann)
      .when(add)
      .thenEvents(factorAdded)
    given(...ann, factorAdded)
      .when({ ...add, recovery: ['c', 'd'] })
      .thenEvents({ type: 'SecondFactorAdded', data: { id, secret: 'JBSW', recoveryHashes: 'c d' } })
    given(...ann, factorAdded)
      .when(add)
      .thenNothing()
  })
  it('accepts no code when its secret and its recovery codes cannot be read', () => {
    const lost: AccountEvent = { type: 'SecondFactorAdded', data: { id, secret: null, recoveryHashes: null } }
    expect(fold(account, [...ann, lost]).secondFactor).to.deep.equal({ secret: '', recovery: [] })
    given(...ann, lost)
      .when({ type: 'UseRecoveryCode', id, hash: '' })
      .thenRefused('wrong_code')
  })
  it('is removed once', () => {
    given(...ann, factorAdded)
      .when({ type: 'RemoveSecondFactor', id })
      .thenEvents({ type: 'SecondFactorRemoved', data: { id } })
    const removed: AccountEvent = { type: 'SecondFactorRemoved', data: { id } }
    for (const past of [ann, [...ann, factorAdded, removed]])
      given(...past)
        .when({ type: 'RemoveSecondFactor', id })
        .thenNothing()
    given().when(add).thenRefused('not_found')
  })
})
