import { z } from 'zod'
import type { EventOf } from '../event.ts'
import { ownedSchemas, sealedTexts } from '../owned.ts'

const fields = {
  name: z.string(),
  /** path of the rotator, as entered; compared in lower case */
  slug: z.string(),
  /** whether visitors can use the rotator and see the list page */
  public: z.boolean(),
}
export type CampaignFields = z.infer<z.ZodObject<typeof fields>>

const { created, updated, deleted, restored } = ownedSchemas(fields)
/** The events of a link, not of a campaign, say which campaign the link is in. */
export const campaignEvents = {
  CampaignCreated: created,
  CampaignUpdated: updated,
  CampaignDeleted: deleted,
  CampaignRestored: restored,
}
export const campaignTexts = sealedTexts('Campaign', { name: '' })
export type CampaignEvent = EventOf<typeof campaignEvents>
