import { splash } from '../../../src/commands/pages/splash.ts'
import type { OwnedCommand } from '../../../src/commands/owned/owned.ts'
import type { SplashEvent, SplashFields } from '../../../src/events/pages/splash.ts'
import { spec } from '../../support/given.ts'

const { given } = spec(splash)
const [id, account] = [5, 1]
const fields: SplashFields = { ...splash.initialState.fields, name: 'Spring', title: 'Spring sale', counter: 5 }

const create: OwnedCommand<SplashFields> = { type: 'Create', id, account, fields }
const update = (changes: Partial<SplashFields>, by = account): OwnedCommand<SplashFields> => ({
  type: 'Update',
  id,
  account: by,
  changes,
})
const remove = (by = account): OwnedCommand<SplashFields> => ({ type: 'Delete', id, account: by })

const created: SplashEvent = { type: 'SplashCreated', data: { id, account, ...fields } }
const updated = (changes: Partial<SplashFields>): SplashEvent => ({ type: 'SplashUpdated', data: { id, changes } })
const deleted: SplashEvent = { type: 'SplashDeleted', data: { id } }

describe('a splash page', () => {
  it('is created with all its fields, and claims no name', () => {
    given().when(create).thenEvents(created)
    given().when(create).thenClaims()
  })
  it('is not created under an id that is in use', () => {
    given(created)
      .when({ ...create, account: 2 })
      .thenRefused('id_in_use')
    given(created, deleted)
      .when({ ...create, fields: { ...fields, name: 'Autumn' } })
      .thenRefused('id_in_use')
  })
  it('records only what differs in an update', () => {
    given(created)
      .when(update({ name: 'Spring', counter: 0 }))
      .thenEvents(updated({ counter: 0 }))
    given(created)
      .when(update({ title: '' }))
      .thenEvents(updated({ title: '' }))
  })
  it('emits no event when nothing changes', () => {
    given(created)
      .when(update({ name: 'Spring' }))
      .thenNothing()
    given(created, updated({ counter: 0 }))
      .when(update({ counter: 0 }))
      .thenNothing()
    given(created).when(update({})).thenNothing()
  })
  it('is deleted once', () => {
    given(created).when(remove()).thenEvents(deleted)
    given(created, deleted).when(remove()).thenRefused('not_found')
  })
  it('is found only by its owner, and only until it is deleted', () => {
    given().when(update({})).thenRefused('not_found')
    given(created)
      .when(update({ name: 'Mine' }, 2))
      .thenRefused('not_found')
    given(created).when(remove(2)).thenRefused('not_found')
    given(created, deleted)
      .when(update({ name: 'x' }))
      .thenRefused('not_found')
  })
})
