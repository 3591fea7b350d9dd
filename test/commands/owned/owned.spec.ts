import { expect } from 'chai'
import { fold } from '../../../src/commands/decider.ts'
import type { OwnedCommand } from '../../../src/commands/owned/owned.ts'
import { bio } from '../../../src/commands/pages/bio.ts'
import { pixel } from '../../../src/commands/pages/pixel.ts'
import { qr } from '../../../src/commands/qr/qr.ts'
import type { Event } from '../../../src/events/index.ts'
import type { BioEvent, BioFields } from '../../../src/events/pages/bio.ts'
import type { PixelEvent, PixelFields } from '../../../src/events/pages/pixel.ts'
import type { QrEvent, QrFields, QrPersonal } from '../../../src/events/qr/qr.ts'
import { spec } from '../../support/given.ts'

const [id, account] = [5, 1]
const fenced = (token: string): Event<'ClaimFenced'> => ({ type: 'ClaimFenced', data: { token } })

describe('restoring a resource without a unique name', () => {
  const { given } = spec(pixel)
  const fields: PixelFields = { ...pixel.initialState.fields, name: 'Shop', tag: 'A-1' }
  const restore = (to?: Extract<OwnedCommand<PixelFields>, { type: 'Restore' }>['to']): OwnedCommand<PixelFields> => ({
    type: 'Restore',
    id,
    account,
    token: 't2',
    ...(to && { to }),
  })
  const created: PixelEvent = { type: 'PixelCreated', data: { id, account, ...fields } }
  const renamed: PixelEvent = { type: 'PixelUpdated', data: { id, changes: { name: 'Other' } } }
  const deleted: PixelEvent = { type: 'PixelDeleted', data: { id } }
  const restored = (data: object): PixelEvent => ({ type: 'PixelRestored', data: { id, changes: {}, ...data } })

  it('brings it back with its last values, and claims nothing', () => {
    given(created, renamed, deleted)
      .when(restore())
      .thenEvents(restored({ deleted: true }))
    given(created, deleted).when(restore()).thenClaims()
    const { status, fields: after } = fold(pixel, [created, renamed, deleted, restored({ deleted: true })])
    expect([status, after]).to.deep.equal(['open', { ...fields, name: 'Other' }])
  })
  it('gives it the values that it had after a revision, and says which', () => {
    given(created, renamed)
      .when(restore({ revision: 0, fields }))
      .thenEvents(restored({ to: 0, changes: { name: 'Shop' } }))
    given(created, renamed, deleted)
      .when(restore({ revision: 0, fields }))
      .thenEvents(restored({ to: 0, deleted: true, changes: { name: 'Shop' } }))
    expect(fold(pixel, [created, renamed, restored({ to: 0, changes: { name: 'Shop' } })]).fields).to.deep.equal(fields)
  })
  it('changes nothing that is as it was', () => {
    given(created)
      .when(restore({ revision: 0, fields }))
      .thenNothing()
    given(created).when(restore()).thenNothing()
  })
  it('is refused for one that is missing or of another account', () => {
    given().when(restore()).thenRefused('not_found', 'pixel')
    for (const past of [[created], [created, deleted]] as const)
      given(...past)
        .when({ ...restore(), account: 2 })
        .thenRefused('not_found', 'pixel')
  })
})

describe('restoring a QR code', () => {
  const { given } = spec(qr)
  type Fields = QrFields & QrPersonal
  const fields: Fields = { ...qr.initialState.fields, alias: 'menu', name: 'Menu', data: '"x"' }
  const { logoHash: _, ...stored } = fields
  const restore = (former?: Partial<Fields>): OwnedCommand<Fields> => ({
    type: 'Restore',
    id,
    account,
    token: 't2',
    ...(former && { to: { revision: 0, fields: { ...fields, ...former } } }),
  })
  const created: QrEvent = { type: 'QrCreated', data: { id, account, ...stored, token: 't' } }
  const updated = (changes: object, more: object = {}): QrEvent => ({
    type: 'QrUpdated',
    data: { id, changes, ...more },
  })
  const deleted: QrEvent = { type: 'QrDeleted', data: { id } }
  const restored = (data: object): QrEvent => ({ type: 'QrRestored', data: { id, changes: {}, ...data } })

  it('claims its alias again when it was deleted', () => {
    given(created, deleted)
      .when(restore())
      .thenEvents(restored({ deleted: true, token: 't2' }))
    given(created, deleted).when(restore()).thenClaims({ kind: 'qr', name: 'menu', token: 't2' })
    expect(fold(qr, [created, deleted, restored({ deleted: true, token: 't2' })]).tokens).to.deep.equal({
      held: { qr: 't2' },
      spent: ['t'],
      fenced: [],
    })
  })
  it('claims the alias that it had, and none when only other fields change', () => {
    given(created, updated({ alias: 'card' }, { token: 't1' }))
      .when(restore({}))
      .thenEvents(restored({ to: 0, token: 't2', changes: { alias: 'menu' } }))
    given(created, updated({ alias: 'card' }, { token: 't1' }))
      .when(restore({}))
      .thenClaims({ kind: 'qr', name: 'menu', token: 't2' })
    given(created, updated({ foreground: '#000080' }))
      .when(restore({}))
      .thenEvents(restored({ to: 0, changes: { foreground: '#000000' } }))
    given(created, updated({ foreground: '#000080' }))
      .when(restore({}))
      .thenClaims()
  })
  it('is refused with a claim that was fenced off, unless it needs none', () => {
    for (const past of [
      [created, deleted],
      [created, updated({ alias: 'card' }, { token: 't1' })],
    ] as const)
      given(...past, fenced('t2'))
        .when(restore({}))
        .thenRefused('taken', 'qr')
    given(created, updated({ foreground: '#000080' }), fenced('t2'))
      .when(restore({}))
      .thenEvents(restored({ to: 0, changes: { foreground: '#000000' } }))
  })
  it('records sealed fields outside of the changes, and keeps those that can no longer be read', () => {
    const before = updated({ logoHash: 'h1' }, { name: 'Card', data: '"y"' })
    given(created, before)
      .when(restore({}))
      .thenEvents(restored({ to: 0, changes: { logoHash: null }, name: 'Menu', data: '"x"' }))
    given(created, before)
      .when(restore({ name: null, data: null, logoHash: null }))
      .thenEvents(restored({ to: 0, changes: { logoHash: null } }))
    const { name, data } = fold(qr, [created, before, restored({ name: 'Menu' })]).fields
    expect([name, data]).to.deep.equal(['Menu', '"y"'])
  })
})

describe('restoring a bio page', () => {
  const { given } = spec(bio)
  const [shop, blog] = [
    { id: 1, title: 'Shop', url: 'https://shop.example/' },
    { id: 2, title: 'Blog', url: 'https://blog.example/' },
  ] as const
  const fields: BioFields = { ...bio.initialState.fields, name: 'Ann', alias: 'ann', links: [shop], lastEntry: 1 }
  const restore = (former?: Partial<BioFields>): OwnedCommand<BioFields> => ({
    type: 'Restore',
    id,
    account,
    token: 't2',
    ...(former && { to: { revision: 0, fields: { ...fields, ...former } } }),
  })
  const created: BioEvent = { type: 'BioCreated', data: { id, account, ...fields, token: 't' } }
  const updated = (changes: Partial<BioFields>): BioEvent => ({ type: 'BioUpdated', data: { id, changes } })
  const deleted: BioEvent = { type: 'BioDeleted', data: { id } }

  it('brings former entries back with their ids, and gives the ids of later ones to no other', () => {
    const longer = updated({ links: [shop, blog], lastEntry: 2 })
    given(created, longer)
      .when(restore({}))
      .thenEvents({ type: 'BioRestored', data: { id, to: 0, changes: { links: [shop] } } })
    given(created, deleted)
      .when(restore())
      .thenEvents({ type: 'BioRestored', data: { id, deleted: true, token: 't2', changes: {} } })
  })
  it('is refused under an alias that is reserved now, unless it has that already', () => {
    given(created)
      .when(restore({ alias: 'report' }))
      .thenRefused('reserved')
    const held: BioEvent = { type: 'BioCreated', data: { id, account, ...fields, alias: 'report', token: 't' } }
    given(held, deleted)
      .when(restore())
      .thenEvents({ type: 'BioRestored', data: { id, deleted: true, token: 't2', changes: {} } })
  })
})
