import { campaign } from '../../../src/commands/links/campaign.ts'
import type { OwnedCommand } from '../../../src/commands/owned/owned.ts'
import type { CampaignEvent, CampaignFields } from '../../../src/events/links/campaign.ts'
import type { Event } from '../../../src/events/index.ts'
import { spec } from '../../support/given.ts'

const { given } = spec(campaign)
const [id, account] = [3, 1]
const fields: CampaignFields = { name: 'Spring', slug: 'Spring-24', public: true }

const create: OwnedCommand<CampaignFields> = { type: 'Create', id, account, fields, token: 't' }
const update = (changes: Partial<CampaignFields>, by = account): OwnedCommand<CampaignFields> => ({
  type: 'Update',
  id,
  account: by,
  changes,
  token: 't2',
})
const remove: OwnedCommand<CampaignFields> = { type: 'Delete', id, account }

const created: CampaignEvent = { type: 'CampaignCreated', data: { id, account, ...fields, token: 't' } }
const updated = (changes: Partial<CampaignFields>, token?: string): CampaignEvent => ({
  type: 'CampaignUpdated',
  data: token === undefined ? { id, changes } : { id, changes, token },
})
const deleted: CampaignEvent = { type: 'CampaignDeleted', data: { id } }
const fenced = (token: string): Event<'ClaimFenced'> => ({ type: 'ClaimFenced', data: { token } })
const claim = (name: string, token: string) => ({ kind: 'slug', name, token })

describe('creating a campaign', () => {
  it('records its fields and the token of its claim', () => {
    given().when(create).thenEvents(created)
  })
  it('claims its slug, in lower case', () => {
    given().when(create).thenClaims(claim('spring-24', 't'))
  })
  it('refuses an id that is in use or was fenced off', () => {
    given(created)
      .when({ ...create, account: 2 })
      .thenRefused('id_in_use')
    given(fenced('t')).when(create).thenRefused('id_in_use')
  })
})

describe('updating a campaign', () => {
  it('records only what differs', () => {
    given(created)
      .when(update({ name: 'Spring', public: false }))
      .thenEvents(updated({ public: false }))
    given(created).when(update(fields)).thenNothing()
  })
  it('claims a new slug with a new token', () => {
    given(created)
      .when(update({ slug: 'summer' }))
      .thenEvents(updated({ slug: 'summer' }, 't2'))
    given(created)
      .when(update({ slug: 'summer' }))
      .thenClaims(claim('summer', 't2'))
  })
  it('claims nothing when only the letter case of the slug changes', () => {
    given(created)
      .when(update({ slug: 'SPRING-24' }))
      .thenEvents(updated({ slug: 'SPRING-24' }))
    given(created)
      .when(update({ slug: 'SPRING-24' }))
      .thenClaims()
    given(created)
      .when(update({ name: 'x' }))
      .thenClaims()
  })
  it('refuses a token that was fenced off', () => {
    given(created, fenced('t2'))
      .when(update({ slug: 'summer' }))
      .thenRefused('taken', 'slug')
  })
  it('returns not_found for a campaign that is missing, deleted or of another account', () => {
    given().when(update({})).thenRefused('not_found')
    given(created, deleted).when(update({})).thenRefused('not_found')
    given(created)
      .when(update({ name: 'x' }, 2))
      .thenRefused('not_found')
  })
})

describe('deleting a campaign', () => {
  it('succeeds once, and only for the owner', () => {
    given(created).when(remove).thenEvents(deleted)
    given(created).when(remove).thenClaims()
    given(created)
      .when({ ...remove, account: 2 })
      .thenRefused('not_found')
  })
})
