import { overlay } from '../../../src/commands/pages/overlay.ts'
import type { OwnedCommand } from '../../../src/commands/owned/owned.ts'
import { type OverlayEvent, type OverlayFields, OverlayType } from '../../../src/events/pages/overlay.ts'
import { spec } from '../../support/given.ts'

const { given } = spec(overlay)
const [id, account] = [5, 1]

/** The required fields of each type. */
const least: Record<OverlayFields['type'], Partial<OverlayFields>> = {
  message: { message: 'Hello' },
  contact: {},
  poll: { question: 'Tea?', options: ['Yes', 'No'] },
  newsletter: {},
  image: { image: 'https://example.com/a.png' },
  coupon: { coupon: 'SPRING' },
}
const fieldsOf = (type: OverlayFields['type'], more: Partial<OverlayFields> = {}): OverlayFields => ({
  ...overlay.initialState.fields,
  type,
  name: 'Mine',
  ...least[type],
  ...more,
})
const create = (fields: OverlayFields): OwnedCommand<OverlayFields> => ({ type: 'Create', id, account, fields })
const update = (changes: Partial<OverlayFields>, by = account): OwnedCommand<OverlayFields> => ({
  type: 'Update',
  id,
  account: by,
  changes,
})
const remove: OwnedCommand<OverlayFields> = { type: 'Delete', id, account }

const created = (fields: OverlayFields): OverlayEvent => ({ type: 'OverlayCreated', data: { id, account, ...fields } })
const updated = (changes: Partial<OverlayFields>): OverlayEvent => ({ type: 'OverlayUpdated', data: { id, changes } })
const deleted: OverlayEvent = { type: 'OverlayDeleted', data: { id } }

describe('creating a CTA overlay', () => {
  for (const type of OverlayType.options)
    it(`of type ${type} needs only the fields that its type requires`, () => {
      given()
        .when(create(fieldsOf(type)))
        .thenEvents(created(fieldsOf(type)))
    })
  it('is refused without the fields that its type requires', () => {
    given()
      .when(create(fieldsOf('message', { message: '' })))
      .thenRefused('required_here')
    given()
      .when(create(fieldsOf('poll', { question: '' })))
      .thenRefused('required_here')
    given()
      .when(create(fieldsOf('poll', { options: ['Yes'] })))
      .thenRefused('too_few')
    given()
      .when(create(fieldsOf('image', { image: '' })))
      .thenRefused('required_here')
    given()
      .when(create(fieldsOf('coupon', { coupon: '' })))
      .thenRefused('required_here')
  })
})

describe('updating a CTA overlay', () => {
  const poll = created(fieldsOf('poll'))
  it('records only what differs', () => {
    given(poll)
      .when(update({ name: 'Mine', options: ['Yes', 'No', 'Both'] }))
      .thenEvents(updated({ options: ['Yes', 'No', 'Both'] }))
    given(poll)
      .when(update({ options: ['Yes', 'No'] }))
      .thenNothing()
  })
  it('does not remove a field that the type requires', () => {
    given(poll)
      .when(update({ question: '' }))
      .thenRefused('required_here')
    given(poll)
      .when(update({ options: [] }))
      .thenRefused('too_few')
  })
  it('changes the type once the fields that the new type requires are present', () => {
    given(poll)
      .when(update({ type: 'coupon' }))
      .thenRefused('required_here')
    given(poll)
      .when(update({ type: 'coupon', coupon: 'SPRING' }))
      .thenEvents(updated({ type: 'coupon', coupon: 'SPRING' }))
    given(poll, updated({ coupon: 'SPRING' }))
      .when(update({ type: 'coupon' }))
      .thenEvents(updated({ type: 'coupon' }))
  })
  it('returns not_found for an overlay that is missing, deleted or of another account', () => {
    given()
      .when(update({ question: '' }))
      .thenRefused('not_found')
    given(poll, deleted)
      .when(update({ question: '' }))
      .thenRefused('not_found')
    given(poll)
      .when(update({ question: '' }, 2))
      .thenRefused('not_found')
  })
})

describe('a CTA overlay without the required fields of its type, as older releases allowed', () => {
  const lacking = created(fieldsOf('image', { image: '' }))
  const restored: OverlayEvent = { type: 'OverlayRestored', data: { id, deleted: true, changes: {} } }
  it('can be deleted, and comes back as it was', () => {
    given(lacking).when(remove).thenEvents(deleted)
    given(lacking, deleted).when({ type: 'Restore', id, account }).thenEvents(restored)
  })
  it('is updated only together with the missing fields', () => {
    given(lacking)
      .when(update({ name: 'Other' }))
      .thenRefused('required_here')
    given(lacking)
      .when(update({ name: 'Other', image: 'https://example.com/b.png' }))
      .thenEvents(updated({ name: 'Other', image: 'https://example.com/b.png' }))
  })
})

describe('deleting a CTA overlay', () => {
  const one = created(fieldsOf('contact'))
  it('succeeds once, and only for the owner', () => {
    given(one).when(remove).thenEvents(deleted)
    given(one, deleted).when(remove).thenRefused('not_found')
    given(one)
      .when({ ...remove, account: 2 })
      .thenRefused('not_found')
    given().when(remove).thenRefused('not_found')
  })
})
