import { fenceHandler, ownedHandlers, ownedTables } from '../owned.ts'
import type { Projection } from '../engine/projection.ts'

const { created, updated, deleted, restored, erased } = ownedHandlers('campaigns')

export const campaigns: Projection = {
  name: 'campaigns',
  version: 3,
  filter: 'domain',
  // slugs are ASCII and compared in lower case
  tables: ownedTables('campaigns', 'name text not null, slug text not null, public boolean not null', 'lower(slug)'),
  on: {
    CampaignCreated: created,
    CampaignUpdated: updated,
    CampaignDeleted: deleted,
    CampaignRestored: restored,
    AccountErased: erased,
    ClaimFenced: fenceHandler('campaign', 'campaigns'),
  },
}
