import { splash } from '../../../src/commands/pages/splash.ts'
import type { SplashEvent } from '../../../src/events/pages/splash.ts'
import { splashes } from '../../../src/projections/pages/splash.ts'
import { at } from '../../support/events.ts'
import { projectionSpec } from '../../support/given.ts'

const { given } = projectionSpec(splashes)
const { label = '', productLabel = '', color = '', ...initial } = splash.initialState.fields
const fields = { ...initial, label, productLabel, color, name: 'Spring', logo: 'https://example.com/a.png' }
const created = (id = 5, account = 1): SplashEvent => ({ type: 'SplashCreated', data: { id, account, ...fields } })
const updated: SplashEvent = { type: 'SplashUpdated', data: { id: 5, changes: { title: 'Sale', counter: 0 } } }
const deleted: SplashEvent = { type: 'SplashDeleted', data: { id: 5 } }
const row = { id: 5, account: 1, ...fields, created: at(1), deleted: null, position: 1n, revision: 0n }

describe('the table of splash pages', () => {
  it('has all fields of a splash page', () => given(created()).thenRows('splashes', row))
  it('updates changed fields and keeps the others', () =>
    given(created(), updated).thenRows('splashes', { ...row, title: 'Sale', counter: 0, position: 2n, revision: 1n }))
  it('keeps the row of a deleted splash page', () =>
    given(created(), deleted).thenRows('splashes', { ...row, deleted: at(2), position: 2n, revision: 1n }))
  it('counts each account’s splash pages that are not deleted', () =>
    given(created(), created(6), created(7, 2), deleted).thenRows(
      'splashes_counts',
      { account: 1, n: 1 },
      { account: 2, n: 1 },
    ))
})
