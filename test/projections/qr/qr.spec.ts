import { qr } from '../../../src/commands/qr/qr.ts'
import type { QrEvent } from '../../../src/events/qr/qr.ts'
import { qrs } from '../../../src/projections/qr/qr.ts'
import { at } from '../../support/events.ts'
import { projectionSpec } from '../../support/given.ts'

const { given } = projectionSpec(qrs)
const fields = { ...qr.initialState.fields, alias: 'abcdefgh', name: 'Hello', data: '"Hello"' }
const created = (id = 5, account = 1, logoHash?: string): QrEvent => ({
  type: 'QrCreated',
  data: { id, account, ...fields, ...(logoHash === undefined ? {} : { logoHash }), token: 't' },
})
const updated: QrEvent = { type: 'QrUpdated', data: { id: 5, changes: { foreground: '#ff0000' }, data: '"Bye"' } }
const deleted: QrEvent = { type: 'QrDeleted', data: { id: 5 } }
const { logoHash: _, ...columns } = fields
const row = { id: 5, account: 1, ...columns, created: at(1), deleted: null, revision: 0n, position: 1n }

describe('the table of QR codes', () => {
  it('has all fields of a QR code, but not the token of its claim', () => given(created()).thenRows('qrs', row))
  it('updates changed fields, including personal ones, and keeps the others', () =>
    given(created(), updated).thenRows('qrs', {
      ...row,
      foreground: '#ff0000',
      data: '"Bye"',
      revision: 1n,
      position: 2n,
    }))
  it('keeps the row of a deleted QR code', () =>
    given(created(), deleted).thenRows('qrs', { ...row, deleted: at(2), revision: 1n, position: 2n }))
  it('has the hash of a logo, and remembers every logo that an event names', () => {
    const changed = (logoHash: string | null): QrEvent => ({
      type: 'QrUpdated',
      data: { id: 5, changes: { logoHash } },
    })
    const events = [created(5, 1, 'one'), created(6, 1, 'one'), changed('two'), changed(null)]
    given(...events).thenRows('qr_logos', { account: 1, hash: 'one' }, { account: 1, hash: 'two' })
    given(...events.slice(0, 3)).thenRows(
      'qrs',
      { ...row, logo_hash: 'two', revision: 1n, position: 3n },
      { ...row, id: 6, logo_hash: 'one', created: at(2), position: 2n },
    )
  })
  it('has no QR code of an erased account', () =>
    given(created(), created(7, 2), { type: 'AccountErased', data: { id: 1 } }).thenRows('qrs', {
      ...row,
      ...{ id: 7, account: 2, created: at(2), position: 2n },
    }))
  it('counts each account’s QR codes that are not deleted', () =>
    given(created(), created(6), created(7, 2), deleted).thenRows(
      'qrs_counts',
      { account: 1, n: 1 },
      { account: 2, n: 1 },
    ))
})
