import type { CampaignFields } from '../../events/links/campaign.ts'
import { aliasKey } from '../../lib/short/alias.ts'
import { owned } from '../owned/owned.ts'

const initial: CampaignFields = { name: '', slug: '', public: false }

export const campaign = owned(
  { created: 'CampaignCreated', updated: 'CampaignUpdated', deleted: 'CampaignDeleted', restored: 'CampaignRestored' },
  {
    kind: 'campaign',
    version: 3,
    initial,
    claim: { kind: 'slug', name: ({ slug }) => aliasKey(slug), chosen: 'slug' },
  },
)
