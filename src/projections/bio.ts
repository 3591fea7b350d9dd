import { ownedHandlers, ownedTables } from './owned.ts'
import type { Projection } from './projection.ts'

const { created, updated, deleted } = ownedHandlers('bios')

/** One row serves the lists, the details and the public page, which is looked up by its alias in lower case. */
export const bioPages: Projection = {
  name: 'bios',
  version: 1,
  filter: 'domain',
  tables: ownedTables(
    'bios',
    `name text not null, alias text not null, title text not null, description text not null, avatar text not null,
     links json not null`,
    'lower(alias)',
  ),
  on: { BioCreated: created, BioUpdated: updated, BioDeleted: deleted },
}
