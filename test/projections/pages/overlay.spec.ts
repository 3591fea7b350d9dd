import { overlay } from '../../../src/commands/pages/overlay.ts'
import type { OverlayEvent } from '../../../src/events/pages/overlay.ts'
import { overlays } from '../../../src/projections/pages/overlay.ts'
import { at } from '../../support/events.ts'
import { projectionSpec } from '../../support/given.ts'

const { given } = projectionSpec(overlays)
const { position: _, ...fields } = {
  ...overlay.initialState.fields,
  type: 'poll' as const,
  question: 'Tea?',
  options: ['Yes', 'No'],
}
const created = (id = 5, account = 1): OverlayEvent => ({
  type: 'OverlayCreated',
  data: { id, account, ...fields, position: 'br' },
})
const updated = (changes: Extract<OverlayEvent, { type: 'OverlayUpdated' }>['data']['changes']): OverlayEvent => ({
  type: 'OverlayUpdated',
  data: { id: 5, changes },
})
const deleted: OverlayEvent = { type: 'OverlayDeleted', data: { id: 5 } }
const row = { id: 5, account: 1, ...fields, corner: 'br', created: at(1), deleted: null, position: 1n, revision: 0n }

describe('the table of CTA overlays', () => {
  it('has all fields of an overlay, with its position as the corner', () => given(created()).thenRows('overlays', row))
  it('updates changed fields and keeps the others', () => {
    const options = ['Yes', 'No', 'Both']
    given(created(), updated({ options })).thenRows('overlays', { ...row, options, position: 2n, revision: 1n })
    given(created(), updated({ position: 'tr' })).thenRows('overlays', {
      ...row,
      corner: 'tr',
      position: 2n,
      revision: 1n,
    })
  })
  it('keeps the row of a deleted overlay', () =>
    given(created(), deleted).thenRows('overlays', { ...row, deleted: at(2), position: 2n, revision: 1n }))
  it('counts each account’s overlays that are not deleted', () =>
    given(created(), created(6), created(7, 2), deleted).thenRows(
      'overlays_counts',
      { account: 1, n: 1 },
      { account: 2, n: 1 },
    ))
})
