import { bioPersonal } from '../events/bio.ts'
import { ownedHandlers, ownedTables } from './owned.ts'
import { patch, type Projection } from './projection.ts'

const { created, updated, deleted } = ownedHandlers('bios')

/** One row serves the lists, the details and the public page, which is looked up by its alias in lower case. Its content is cleared when the account is erased. */
export const bioPages: Projection = {
  name: 'bios',
  version: 2,
  filter: 'domain',
  tables: ownedTables(
    'bios',
    `name text not null, alias text not null, title text not null, description text not null, avatar text not null,
     links json not null`,
    'lower(alias)',
  ),
  on: {
    BioCreated: created,
    BioUpdated: updated,
    BioDeleted: deleted,
    AccountErased: ({ data: { id } }) => [patch('bios', { account: id }, bioPersonal.BioCreated.blank)],
  },
}
