import type { CampaignEvent } from '../../../src/events/links/campaign.ts'
import type { DomainEvent } from '../../../src/events/index.ts'
import { campaigns } from '../../../src/projections/links/campaign.ts'
import { at, recorded } from '../../support/events.ts'
import { projectionSpec } from '../../support/given.ts'

const { given } = projectionSpec(campaigns)
const fields = { name: 'Spring', slug: 'Spring-24', public: true }
const created = (id = 5, account = 1): CampaignEvent => ({
  type: 'CampaignCreated',
  data: { id, account, ...fields, token: 't' },
})
const updated: CampaignEvent = { type: 'CampaignUpdated', data: { id: 5, changes: { slug: 'summer' }, token: 't2' } }
const deleted: CampaignEvent = { type: 'CampaignDeleted', data: { id: 5 } }
const row = { id: 5, account: 1, ...fields, created: at(1), deleted: null, position: 1n, revision: 0n }

describe('the table of campaigns', () => {
  it('has all fields of a campaign', () => given(created()).thenRows('campaigns', row))
  it('updates changed fields and keeps the others', () =>
    given(created(), updated).thenRows('campaigns', { ...row, slug: 'summer', position: 2n, revision: 1n }))
  it('keeps the row of a deleted campaign', () =>
    given(created(), deleted).thenRows('campaigns', { ...row, deleted: at(2), position: 2n, revision: 1n }))
  it('has a restored campaign with the fields that the event changes', () => {
    const back = (more: object): CampaignEvent => ({ type: 'CampaignRestored', data: { id: 5, changes: {}, ...more } })
    given(created(), deleted, back({ deleted: true, token: 't2' })).thenRows('campaigns', {
      ...row,
      position: 3n,
      revision: 2n,
    })
    given(created(), created(6), back({ to: 0, changes: { name: 'Autumn' } })).thenRows(
      'campaigns',
      { ...row, name: 'Autumn', position: 3n, revision: 1n },
      { ...row, id: 6, created: at(2), position: 2n },
    )
    given(created(), deleted, back({ deleted: true })).thenRows('campaigns_counts', { account: 1, n: 1 })
    given(created(), back({ to: 0, changes: { name: 'Autumn' } })).thenRows('campaigns_counts', { account: 1, n: 1 })
  })
  it('counts a fence in the revision, which clients compare', () => {
    const fence: DomainEvent = { type: 'ClaimFenced', data: { token: 't2' } }
    const fenced = { ...recorded([fence])[0]!, stream: 'campaign-5', revision: 1n, position: 2n }
    const [first] = recorded([created()])
    given(first!, fenced).thenRows('campaigns', { ...row, revision: 1n })
    given(first!, { ...fenced, stream: 'link-5' }).thenRows('campaigns', row)
  })
  it('counts each account’s campaigns that are not deleted', () =>
    given(created(), created(6), created(7, 2), deleted).thenRows(
      'campaigns_counts',
      { account: 1, n: 1 },
      { account: 2, n: 1 },
    ))
})
