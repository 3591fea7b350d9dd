import { bio } from '../../../src/commands/pages/bio.ts'
import type { BioEvent } from '../../../src/events/pages/bio.ts'
import { bioPages } from '../../../src/projections/pages/bio.ts'
import { at } from '../../support/events.ts'
import { projectionSpec } from '../../support/given.ts'

const { given } = projectionSpec(bioPages)
const links = [{ title: 'Shop', url: 'https://example.com/' }]
const { lastEntry: _, theme = '', color = '', ...open } = bio.initialState.fields
const initial = { ...open, theme, color }
const fields = { ...initial, name: 'Ann', alias: 'AnnSmith', links }
const created = (id = 5, account = 1): BioEvent => ({
  type: 'BioCreated',
  data: { id, account, ...fields, lastEntry: 1, token: 't' },
})
const moved: BioEvent = { type: 'BioUpdated', data: { id: 5, changes: { alias: 'Bea', links: [] }, token: 't2' } }
const deleted: BioEvent = { type: 'BioDeleted', data: { id: 5 } }
const row = { id: 5, account: 1, ...fields, created: at(1), deleted: null, position: 1n, revision: 0n }

describe('the table of bio pages', () => {
  it('has all fields of a bio page, but not the token of its claim', () => given(created()).thenRows('bios', row))
  it('updates changed fields and keeps the others', () =>
    given(created(), moved).thenRows('bios', { ...row, alias: 'Bea', links: [], position: 2n, revision: 1n }))
  it('keeps the row of a deleted bio page, so that caches learn of the deletion', () =>
    given(created(), deleted).thenRows('bios', { ...row, deleted: at(2), position: 2n, revision: 1n }))
  it('keeps nothing of an erased account', () =>
    given(created(), created(6, 2), { type: 'AccountErased', data: { id: 1 } }).thenRows('bios', {
      ...row,
      ...{ id: 6, account: 2, created: at(2), position: 2n, revision: 0n },
    }))
  it('counts each account’s bio pages that are not deleted', () =>
    given(created(), created(6), created(7, 2), deleted).thenRows(
      'bios_counts',
      { account: 1, n: 1 },
      { account: 2, n: 1 },
    ))
})
