import type { BioFields } from '../../events/pages/bio.ts'
import { defined } from '../../lib/defined.ts'
import { fenceHandler, ownedHandlers, ownedTables } from '../owned.ts'
import type { HandledProjection } from '../engine/projection.ts'

/** Columns are named after the events' fields. The highest id of an entry is for the decider only. */
const columns = ({ lastEntry: _, ...fields }: Partial<BioFields>) => ({ ...defined(fields) })
const { created, updated, deleted, restored, erased } = ownedHandlers('bios', columns)

/**
 * One row serves the lists, the details and the public page, which is looked up by its alias in lower case. Clicks
 * record which `revision` of the page had the entry.
 */
export const bioPages: HandledProjection = {
  name: 'bios',
  version: 6,
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
    AccountErased: erased,
  },
}
