import { bio } from '../../src/commands/bio.ts'
import type { BioEvent } from '../../src/events/bio.ts'
import { bioPages } from '../../src/projections/bio.ts'
import { at } from '../support/events.ts'
import { projectionSpec } from '../support/given.ts'

const { given } = projectionSpec(bioPages)
const links = [{ title: 'Shop', url: 'https://example.com/' }]
const fields = { ...bio.initialState.fields, name: 'Ann', alias: 'AnnSmith', links }
const created = (id = 5, account = 1): BioEvent => ({
  type: 'BioCreated',
  data: { id, account, ...fields, token: 't' },
})
const moved: BioEvent = { type: 'BioUpdated', data: { id: 5, changes: { alias: 'Bea', links: [] }, token: 't2' } }
const deleted: BioEvent = { type: 'BioDeleted', data: { id: 5 } }
const row = { id: 5, account: 1, ...fields, created: at(1), deleted: null, position: 1n }

describe('the table of bio pages', () => {
  it('shows one with all its fields, without the token of its claim', () => given(created()).thenRows('bios', row))
  it('shows what has changed, and keeps the rest', () =>
    given(created(), moved).thenRows('bios', { ...row, alias: 'Bea', links: [], position: 2n }))
  it('keeps the row of a deleted one, so that who remembers it learns of its end', () =>
    given(created(), deleted).thenRows('bios', { ...row, deleted: at(2), position: 2n }))
  it('counts those of each account that are not deleted', () =>
    given(created(), created(6), created(7, 2), deleted).thenRows(
      'bios_counts',
      { account: 1, n: 1 },
      { account: 2, n: 1 },
    ))
})
