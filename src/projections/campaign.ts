import { ownedHandlers, ownedTables } from './owned.ts'
import type { Projection } from './projection.ts'

export const campaigns: Projection = {
  name: 'campaigns',
  version: 1,
  filter: 'domain',
  // slugs are ASCII, and compared in lower case
  tables: ownedTables('campaigns', 'name text not null, slug text not null, public boolean not null', 'lower(slug)'),
  on: ownedHandlers('Campaign', 'campaigns'),
}
