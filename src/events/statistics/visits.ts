import { z } from 'zod'
import { Click } from './click.ts'
import type { EventOf } from '../event.ts'

/** The rule of a visit that another service has recorded: no revision of ours has sent it anywhere. */
export const importedRule = 'imported'

const ofImport = {
  /** the id of the import */
  import: z.uuid(),
  account: z.int(),
  /** visits before it were not kept one by one when this was recorded; absent while all are */
  since: z.iso.datetime().optional(),
}

/**
 * In the stream of an import. They are read in the order of the clicks, and change statistics only. What they say is
 * what the owner of the account has declared.
 */
export const visitEvents = {
  /**
   * 1 to 500 visits of links of an account that another service has recorded, in the shape of `LinkClicked`: with their
   * own times, classified here, revision 0 and the rule `imported`. `visitor` is empty where the source does not say
   * from which address a visit came: such a visit is a click, and never a unique one. `upTo` is the place in the source
   * up to which its visits are recorded.
   */
  VisitsImported: z.object({
    ...ofImport,
    upTo: z.int(),
    rules: z.int(),
    agents: z.array(z.string()),
    destinations: z.array(z.string()),
    languages: z.array(z.array(z.string())),
    clicks: z.array(Click).min(1).max(500),
    salt: z.string(),
  }),
  /** The visits of this and all later revisions of the stream are taken back: all of the import when `from` is 0. */
  ImportedVisitsWithdrawn: z.object({ ...ofImport, from: z.int() }),
}
export type VisitEvent = EventOf<typeof visitEvents>

const isObject = (value: unknown) => typeof value === 'object' && value !== null
/** An event whose visits are objects: what they contain is not looked at. */
export const visitsOutline = visitEvents.VisitsImported.extend({
  clicks: z.array(z.custom<Click>(isObject)).min(1).max(500),
})
