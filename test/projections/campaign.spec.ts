import type { CampaignEvent } from '../../src/events/campaign.ts'
import { campaigns } from '../../src/projections/campaign.ts'
import { at } from '../support/events.ts'
import { projectionSpec } from '../support/given.ts'

const { given } = projectionSpec(campaigns)
const fields = { name: 'Spring', slug: 'Spring-24', public: true }
const created = (id = 5, account = 1): CampaignEvent => ({
  type: 'CampaignCreated',
  data: { id, account, ...fields, token: 't' },
})
const updated: CampaignEvent = { type: 'CampaignUpdated', data: { id: 5, changes: { slug: 'summer' }, token: 't2' } }
const deleted: CampaignEvent = { type: 'CampaignDeleted', data: { id: 5 } }
const row = { id: 5, account: 1, ...fields, created: at(1), deleted: null, position: 1n }

describe('the table of campaigns', () => {
  it('has all fields of a campaign', () => given(created()).thenRows('campaigns', row))
  it('updates changed fields and keeps the others', () =>
    given(created(), updated).thenRows('campaigns', { ...row, slug: 'summer', position: 2n }))
  it('keeps the row of a deleted campaign', () =>
    given(created(), deleted).thenRows('campaigns', { ...row, deleted: at(2), position: 2n }))
  it('counts each account’s campaigns that are not deleted', () =>
    given(created(), created(6), created(7, 2), deleted).thenRows(
      'campaigns_counts',
      { account: 1, n: 1 },
      { account: 2, n: 1 },
    ))
})
