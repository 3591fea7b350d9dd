import { z } from 'zod'
import type { EventOf } from './event.ts'
import { ownedSchemas } from './owned.ts'

const fields = {
  name: z.string(),
  /** of the rotator's address, as typed; compared in lower case */
  slug: z.string(),
  /** whether the rotator and the list page are there for everyone */
  public: z.boolean(),
}
export type CampaignFields = z.infer<z.ZodObject<typeof fields>>

const { created, updated, deleted } = ownedSchemas(fields)
/** Which campaign a link is in stands in the link's own stream. */
export const campaignEvents = { CampaignCreated: created, CampaignUpdated: updated, CampaignDeleted: deleted }
export type CampaignEvent = EventOf<typeof campaignEvents>
