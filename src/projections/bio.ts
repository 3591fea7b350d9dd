import { type BioEvent, type BioFields, bioPersonal } from '../events/bio.ts'
import type { Recorded } from '../events/event.ts'
import { defined } from '../lib/defined.ts'
import { ownedHandlers, ownedTables } from './owned.ts'
import { type HandledProjection, patch } from './projection.ts'

/** Columns are named after the events' fields. The highest id of an entry is for the decider only. */
const columns = ({ lastEntry: _, ...fields }: Partial<BioFields>) => ({ ...defined(fields) })
const { created, updated, deleted } = ownedHandlers('bios', columns)
/** Clicks record which revision of the page had the entry. */
const revised = ({ data: { id }, revision }: Recorded<BioEvent>) => patch('bios', { id }, { revision })

/** One row serves the lists, the details and the public page, which is looked up by its alias in lower case. Its content is cleared when the account is erased. */
export const bioPages: HandledProjection = {
  name: 'bios',
  version: 4,
  filter: 'domain',
  tables: ownedTables(
    'bios',
    `name text not null, alias text not null, title text not null, description text not null, avatar text not null,
     links json not null, theme text, color text, revision bigint not null`,
    'lower(alias)',
  ),
  on: {
    BioCreated: (event) => [...created(event), revised(event)],
    BioUpdated: (event) => [...updated(event), revised(event)],
    BioDeleted: (event) => [...deleted(event), revised(event)],
    AccountErased: ({ data: { id } }) => [patch('bios', { account: id }, bioPersonal.BioCreated.blank)],
  },
}
