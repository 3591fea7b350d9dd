import { fold } from '../../../src/commands/decider.ts'
import type { OwnedCommand } from '../../../src/commands/owned/owned.ts'
import { qr } from '../../../src/commands/qr/qr.ts'
import type { Event } from '../../../src/events/index.ts'
import type { QrEvent, QrFields, QrPersonal } from '../../../src/events/qr/qr.ts'
import { spec } from '../../support/given.ts'
import { expect } from 'chai'

type Fields = QrFields & QrPersonal
type Command = OwnedCommand<Fields>

const { given } = spec(qr)
const [id, account] = [5, 1]
const { logoHash: _, ...initial } = qr.initialState.fields
const fields: Fields = { ...initial, alias: 'abcdefgh', name: 'Hello', data: '"Hello"' }

const create: Command = { type: 'Create', id, account, fields, token: 't' }
const update = (changes: Partial<Fields>, by = account): Command => ({ type: 'Update', id, account: by, changes })
const remove: Command = { type: 'Delete', id, account }

const created: QrEvent = { type: 'QrCreated', data: { id, account, ...fields, token: 't' } }
const deleted: QrEvent = { type: 'QrDeleted', data: { id } }
const fenced: Event<'ClaimFenced'> = { type: 'ClaimFenced', data: { token: 't' } }

describe('creating a QR code', () => {
  it('records all fields, and claims its alias among QR codes', () => {
    given().when(create).thenEvents(created)
    given().when(create).thenClaims({ kind: 'qr', name: 'abcdefgh', token: 't' })
  })
  it('refuses an id that is in use or was fenced off', () => {
    given(created)
      .when({ ...create, account: 2 })
      .thenRefused('id_in_use')
    given(fenced).when(create).thenRefused('id_in_use')
  })
})

describe('updating a QR code', () => {
  it('records only what differs, with personal fields outside the changes, where they are sealed', () => {
    given(created)
      .when(update({ data: '"Bye"', name: 'Bye', foreground: '#000000', background: '#ffff00' }))
      .thenEvents({
        type: 'QrUpdated',
        data: { id, changes: { background: '#ffff00' }, data: '"Bye"', name: 'Bye' },
      })
  })
  it('leaves other fields unchanged', () => {
    const after = fold(qr, [created, { type: 'QrUpdated', data: { id, changes: {}, data: '"Bye"' } }] as const)
    expect(after.fields).to.deep.equal({ ...fields, data: '"Bye"' })
  })
  it('removes a logo', () => {
    const withLogo: QrEvent = { type: 'QrCreated', data: { id, account, ...fields, logo: 'AAAA', token: 't' } }
    given(withLogo)
      .when(update({ logo: null }))
      .thenEvents({ type: 'QrUpdated', data: { id, changes: { logo: null } } })
  })
  it('records the hash of a logo, and removes it', () => {
    const named = { type: 'QrUpdated', data: { id, changes: { logoHash: 'abc' } } } as const
    given(created)
      .when(update({ logo: null, logoHash: 'abc' }))
      .thenEvents(named)
    given(created, named)
      .when(update({ logo: null, logoHash: 'abc' }))
      .thenNothing()
    given(created, named)
      .when(update({ logo: null, logoHash: null }))
      .thenEvents({ type: 'QrUpdated', data: { id, changes: { logoHash: null } } })
    given(created)
      .when(update({ logo: null, logoHash: null }))
      .thenNothing()
  })
  it('emits no event and claims nothing when nothing changes', () => {
    given(created)
      .when(update({ data: '"Hello"', foreground: '#000000' }))
      .thenNothing()
    given(created)
      .when(update({ data: '"Bye"' }))
      .thenClaims()
  })
  it('returns not_found for a QR code that is missing, deleted or of another account', () => {
    given(created)
      .when(update({ data: '"Bye"' }, 2))
      .thenRefused('not_found')
    given(created, deleted)
      .when(update({ data: '"Bye"' }))
      .thenRefused('not_found')
    given()
      .when(update({ data: '"Bye"' }))
      .thenRefused('not_found')
  })
})

describe('deleting a QR code', () => {
  it('is recorded once', () => given(created).when(remove).thenEvents(deleted))
  it('releases its alias, which stays reserved', () => {
    const { tokens } = fold(qr, [created, deleted])
    expect(tokens).to.deep.equal({ held: {}, spent: ['t'], fenced: [] })
  })
})
