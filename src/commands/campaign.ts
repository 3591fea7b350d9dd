import type { CampaignFields } from '../events/campaign.ts'
import { owned } from './owned.ts'

export const campaign = owned<'Campaign', CampaignFields>('Campaign', {
  label: 'Campaign',
  initial: { name: '', slug: '', public: false },
  claim: { kind: 'slug', name: ({ slug }) => slug.toLowerCase() },
})
