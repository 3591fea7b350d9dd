import { type BioFields, bioPersonal } from '../../events/pages/bio.ts'
import { defined } from '../../lib/defined.ts'
import { fenceHandler, ownedHandlers, ownedTables } from '../owned.ts'
import { type HandledProjection, patch } from '../engine/projection.ts'

/** Columns are named after the events' fields. The highest id of an entry is for the decider only. */
const columns = ({ lastEntry: _, ...fields }: Partial<BioFields>) => ({ ...defined(fields) })
const { created, updated, deleted, restored } = ownedHandlers('bios', columns)

/**
 * One row serves the lists, the details and the public page, which is looked up by its alias in lower case. Clicks
 * record which `revision` of the page had the entry. Its content is cleared when the account is erased.
 */
export const bioPages: HandledProjection = {
  name: 'bios',
  version: 5,
  filter: 'domain',
  tables: ownedTables(
    'bios',
    `name text not null, alias text not null, title text not null, description text not null, avatar text not null,
     links json not null, theme text, color text`,
    'lower(alias)',
  ),
  on: {
    BioCreated: created,
    BioUpdated: updated,
    BioDeleted: deleted,
    BioRestored: restored,
    ClaimFenced: fenceHandler('bio', 'bios'),
    AccountErased: ({ data: { id } }) => [patch('bios', { account: id }, bioPersonal.BioCreated.blank)],
  },
}
