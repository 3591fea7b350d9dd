import { z } from 'zod'
import type { EventOf } from '../event.ts'
import { openEnum } from '../openenum.ts'
import { ownedSchemas, sealedTexts } from '../owned.ts'

export const OverlayType = z.enum(['message', 'contact', 'poll', 'newsletter', 'image', 'coupon'])
/** A corner of the page: bottom or top, then left or right. */
export const OverlayPosition = z.enum(['bl', 'br', 'tl', 'tr'])

/** A call to action, shown over the destination of a link. */
const fields = {
  type: openEnum(OverlayType),
  name: z.string(),
  message: z.string(),
  /** label of its button, which leads to `link` or submits its form */
  label: z.string(),
  link: z.string(),
  /** URL of an image */
  image: z.string(),
  /** `#rrggbb` */
  color: z.string(),
  position: openEnum(OverlayPosition),
  /** question of a poll; `options` are its answers */
  question: z.string(),
  options: z.array(z.string()),
  /** coupon code shown to visitors */
  coupon: z.string(),
}
export type OverlayFields = z.infer<z.ZodObject<typeof fields>>

const { created, updated, deleted, restored } = ownedSchemas(fields)
export const overlayEvents = {
  OverlayCreated: created,
  OverlayUpdated: updated,
  OverlayDeleted: deleted,
  OverlayRestored: restored,
}
/** The address of its button stays open, like every destination. */
export const overlayTexts = sealedTexts('Overlay', {
  ...{ name: '', message: '', label: '', image: '' },
  ...{ question: '', options: [], coupon: '' },
})
export type OverlayEvent = EventOf<typeof overlayEvents>
